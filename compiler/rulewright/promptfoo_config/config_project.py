"""The files of a project that plays and judges the tests of a promptfoo configuration."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from rulewright.errors import UsageError
from rulewright.promptfoo_config.assertion import Assertion, NotTranslatedError, check_body, filled, require_variables
from rulewright.promptfoo_config.config_reader import (
    MOST_TESTS,
    Configuration,
    ConfiguredPrompt,
    ConfiguredTest,
    Provider,
    read_configuration,
)
from rulewright_runtime.english import plural
from rulewright_runtime.models import SERVERS
from rulewright_runtime.transcripts.completeness import OF_TESTS

PROJECT: Final = """\
# Made from {source}. Every key: rulewright explain project
project: {name}
vocabulary:
  categories: [{category}]
checks: checks
scenarios: scenarios
# The judge of the checks with a `prompt`:
# judge:
#   source: openai:MODEL@http://127.0.0.1:8000/v1
"""
_PLACE: Final = re.compile(r"(.*?):(\d+(?::\d+)?)(?=: )")
_NO_NAME: Final = re.compile(r"[^a-z0-9]+")
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")


class Translation(Struct, frozen=True):
    """The files of the project by name, and the parts of the configuration that are not translated."""

    files: dict[str, str]
    notes: tuple[str, ...]
    model: str
    needs_judge: bool


def project_from(path: Path, name: str) -> Translation:
    """Translate a configuration. Raises UsageError if the file holds none."""
    read = read_configuration(path)
    if (many := len(read.tests) * len(read.prompts)) > MOST_TESTS:
        raise UsageError(f"`{path}` has {many} pairs of a test and a prompt; at most {MOST_TESTS} become scenarios")
    checks = _Checks()
    read.defaults = list(_with_text(read.defaults, {}, read.notes))
    for each in read.defaults:
        checks.add(each)
    files = dict(_scenarios(read, checks))
    read.notes += checks.notes()
    if not checks.files or not files:
        why = read.notes[0] if read.notes else "expected `prompts`, and `tests` with `assert`"
        raise UsageError(f"nothing in `{path}` can be translated: {why}")
    project = PROJECT.format(source=path.name, category=OF_TESTS, name=json.dumps(name, ensure_ascii=False))
    return Translation(
        {"rulewright.yaml": project, **checks.files, **files},
        tuple(sorted(dict.fromkeys(read.notes), key=_place)),
        _model(read.providers),
        any("\nprompt:" in text for text in checks.files.values()),
    )


@dataclass(slots=True)
class Names:
    """Names that are given once each."""

    given: set[str] = field(default_factory=set)
    last: Counter[str] = field(default_factory=Counter)  # the number that a stem was last given with

    def unique(self, stem: str) -> str:
        """The stem, or the stem with the first number from 2 that makes it a new name."""
        name = stem
        while name in self.given:
            self.last[stem] = max(2, self.last[stem] + 1)
            name = f"{stem}-{self.last[stem]}"
        self.given.add(name)
        return name


@dataclass(slots=True)
class _Checks:
    """The checks of the assertions; equal assertions are one check."""

    files: dict[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    ids: dict[Assertion, str | None] = field(default_factory=dict)
    lost: dict[Assertion, str] = field(default_factory=dict)  # the reason
    places: dict[str, dict[str, None]] = field(default_factory=dict)  # of each reason

    def add(self, assertion: Assertion) -> str | None:
        """The id of the assertion's check; None if it is not translated."""
        if assertion not in self.ids:
            self.ids[assertion] = self._written(assertion)
        if assertion in self.lost:
            self.places.setdefault(self.lost[assertion], {})[assertion.where] = None
        return self.ids[assertion]

    def notes(self) -> Iterator[str]:
        """Why assertions are not translated, with the first place of each reason and the number of the others."""
        for reason, (place, *others) in self.places.items():
            yield f"{place}: {reason}" + (f" (also at {plural(len(others), 'other place')})" if others else "")

    def _written(self, assertion: Assertion) -> str | None:
        try:
            body = check_body(assertion)
        except NotTranslatedError as error:
            self.lost[assertion] = str(error)
            return None
        stem = _NO_NAME.sub("-", (assertion.metric or assertion.kind).lower()).strip("-") or assertion.kind
        identity = self.names.unique(stem)
        eligible = f"scope: trigger\neligibility: {{when: \"'{identity}' in scenario.eligible_modes\"}}\n"
        head = f"# {assertion.where}\nid: {identity}\n{'' if assertion.is_default else eligible}"
        self.files[f"checks/{identity}.yaml"] = head + body
        return identity


def _place(note: str) -> tuple[str, list[int]]:
    """The file and the numbers of the place at the beginning of a note."""
    found = _PLACE.match(note)
    return (found[1], [int(each) for each in found[2].split(":")]) if found else (note, [])


def _scenarios(read: Configuration, checks: _Checks) -> Iterator[tuple[str, str]]:
    """A scenario for each test and prompt, by its file."""
    names = Names()
    titles: set[str] = set()
    for number, test in enumerate(read.tests, start=1):
        own = test.scenario_id if _NAME.fullmatch(test.scenario_id or "") else None
        for index, prompt in enumerate(read.prompts, start=1):
            stem = f"{own or f'test-{number}'}{f'-prompt-{index}' if len(read.prompts) > 1 else ''}"
            identity = names.unique(stem)
            try:
                messages = _messages(test, prompt, read.defaults)
            except NotTranslatedError as error:
                read.notes.append(f"{test.where}: {error}; the test is left out")
                continue
            ids = [
                found
                for each in _with_text(test.assertions, test.variables, read.notes)
                if (found := checks.add(each)) is not None
            ]
            title = test.title or identity
            title = f"{title} ({identity})" if title in titles else title
            titles.add(title)
            yield f"scenarios/{identity}.json", _scenario(identity, title, test, messages, ids)


def _with_text(assertions: Iterable[Assertion], variables: Mapping[str, str], notes: list[str]) -> Iterator[Assertion]:
    """The assertions without those that any answer would meet with these variables."""
    for each in assertions:
        if each.lacks_text(variables):
            notes.append(f"{each.where}: {_lacking(each)}")
        else:
            yield each


def _lacking(assertion: Assertion) -> str:
    return f"`{assertion.kind}` is not translated with an empty text"


def _messages(test: ConfiguredTest, prompt: ConfiguredPrompt, defaults: list[Assertion]) -> list[str]:
    """The system message, possibly empty, and what the user says. Raises NotTranslatedError if the prompt or an
    assertion reads an unknown variable."""
    for each in (*defaults, *test.assertions):
        require_variables(each.value, test.variables)
    if (empty := next((each for each in defaults if each.lacks_text(test.variables)), None)) is not None:
        raise NotTranslatedError(f"of `defaultTest`, {_lacking(empty)}")
    return [filled(each, test.variables) for each in (prompt.system, *prompt.turns)]


def _scenario(identity: str, title: str, test: ConfiguredTest, messages: list[str], checks: list[str]) -> str:
    system, *turns = messages
    document = {
        "scenario_id": identity,
        "title": title,
        "category": OF_TESTS,
        **({"system": system} if system else {}),
        "eligible_modes": list(dict.fromkeys(checks)),
        "turns": [{"turn_number": number, "user_message": each} for number, each in enumerate(turns, start=1)],
        "metadata": {"from": test.where, "vars": test.variables},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _model(providers: list[Provider]) -> str:
    """The first known provider as a model of `--model`."""
    for each in providers:
        kind, _, name = each.id.partition(":")
        name = re.sub(r"^(?:chat|completion|messages|responses):", "", name)
        base = each.base_url or SERVERS.get(kind, "")
        if name and (kind in ("openai", "anthropic") or base):
            return f"{'anthropic' if kind == 'anthropic' else 'openai'}:{name}" + (f"@{base}" if base else "")
    return "openai:MODEL"
