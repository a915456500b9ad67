"""Inputs on which two conditions may differ, made of what the conditions write down.

Texts, patterns and numbers make the conversations: replies that hold some of the texts, of lengths around the numbers,
as many turns, tools of these names with results and arguments, thoughts, usage and metadata. What they compare with is
carried back through functions (`guesses`): a reply may be what a text encodes. The fields that are read make the
scenarios, and the checks that are read make their verdicts. Whoever takes one up tries it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice, product
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct

from rulewright.documents.vocabulary import Vocabulary
from rulewright.lower.expressions import scenario_type
from rulewright.proving.domains import Domains
from rulewright.proving.domains import number as domain_of_numbers
from rulewright.proving.domains import text as domain_of_texts
from rulewright.proving.program_parts import constants_of, path_at
from rulewright.proving.re2_syntax import samples
from rulewright.proving.verdicts import SHARES
from rulewright.witnesses.guesses import InputModel, choices, choices_at, guesses, varied
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.strict_json import JsonObject

MOST_TEXTS: Final = 6  # that are combined
LONGEST: Final = 5_000  # characters of a reply
MOST_WHOLE: Final = 40
MOST_CONTEXTS: Final = 300
MOST_RECORDS: Final = 300  # that another check's verdict may have
SCENARIO: Final = {"scenario_id": "example", "title": "Example", "open": True}
_KEYS: Final = {"id": "scenario_id"}  # how a file writes what expressions see
_USUAL_TEXTS: Final = ("o", "SO", " ")
# Texts in which a function finds something.
_FOUND_BY: Final = {
    "card_numbers": "4111 1111 1111 1111",
    "citations": ["It is so [1].", "It is so [2]."],
    "code_blocks": ["```\nx = 1\n```", "~~~\nx = 1\n~~~"],
    "emails": "ann@example.org",
    "ibans": "DE89 3704 0044 0532 0130 00",
    "is_json": '{"a": 1}',
    "is_refusal": "I can't help with that.",
    "numbers": ["It costs 12 euros.", "It costs 7 euros."],
    "personal_data": "ann@example.org",
    "phone_numbers": "+41 44 668 18 00",
    "urls": ["https://example.org/a", "www.example.org"],
}
_COUNTED: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ALIKE: Final = [" ".join(_COUNTED[:count]) for count in range(1, 11)]  # texts of which parts are equal
Path: TypeAlias = tuple[str, ...]


class OtherVerdict(NamedTuple):
    """What another check says of a conversation; None as its verdict where it has no record of it."""

    verdict: str | None
    confidence: float = 1.0
    code: str | None = None


class ConversationContext(NamedTuple):
    """What a conversation is judged with: a scenario as its file holds it, and the verdicts of other checks."""

    scenario: JsonObject | None
    verdicts: Mapping[str, OtherVerdict]


class Written(Struct, frozen=True):
    """What conditions hold: texts, texts that are said as a whole, whole numbers with their neighbours, all numbers
    with those a little below and above, numbers between 0 and 1, the paths that are read, what each may be where a
    condition turns, and models of the inputs that are looked for."""

    texts: Sequence[str]
    whole: Sequence[str]
    numbers: Sequence[int]
    amounts: Sequence[float]
    shares: Sequence[float]
    paths: frozenset[Path]
    guessed: Mapping[Path, Sequence[Any]]
    models: Sequence[InputModel] = ()

    @property
    def values(self) -> list[Any]:
        """What may be in a place of any type."""
        return [*self.texts, *self.whole, *self.amounts, True, False]

    @property
    def fields(self) -> list[str]:
        """The names of the fields that are read."""
        return sorted({name for path in self.paths for name in path[1:]} | {path[0] for path in self.paths})


def written_in(
    programs: Sequence[Program], parameters: Iterable[object], needs: Sequence[str], models: Sequence[InputModel] = ()
) -> Written:
    """What the programs and the values of parameters hold; `needs` are checks, whose verdicts are not texts."""
    called = {str(node.value) for program in programs for node in program.nodes if node.op == "call"}
    values = [*parameters, *constants_of(programs), *(_FOUND_BY[name] for name in sorted(called & _FOUND_BY.keys()))]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    guessed = guesses(programs, models)
    asked = list(_leaves([each for path, several in guessed.items() if path[0] != "v" for each in several]))
    numbers = [each for each in (*flat, *asked) if isinstance(each, int | float) and not isinstance(each, bool)]
    near = {each + step for each in map(int, numbers) for step in (-1, 0, 1) if 0 < each + step <= LONGEST}
    amounts = {float(each * factor) for each in numbers for factor in (0.9, 1, 1.1) if each >= 0}
    shares = {float(each) for each in numbers if 0 < each < 1}
    names = {*needs, *VERDICTS} if needs else set()
    texts = _texts([each for each in flat if isinstance(each, str) and each not in names])
    few = list(dict.fromkeys(texts))[:MOST_TEXTS]
    whole = dict.fromkeys((*asked, *_whole_texts(texts, few, called, sorted(near)), *_USUAL_TEXTS))
    rest = [each for each in whole if isinstance(each, str) and 0 < len(each) <= LONGEST and each not in few]
    paths = frozenset(_paths(programs))
    return Written(few, rest[:MOST_WHOLE], sorted(near), sorted(amounts), sorted(shares), paths, guessed, models)


def _paths(programs: Sequence[Program]) -> Iterator[Path]:
    """What the programs read."""
    for program in programs:
        yield from (path for at in range(len(program.nodes)) if (path := path_at(program, at)) is not None)
        yield from (("", str(node.value)) for node in program.nodes if node.op in ("select", "opt_select", "has"))


def _texts(written: list[str]) -> list[str]:
    """The texts, each with samples of the regular expression that it may be; first those that are written once, because
    what only one of two checks says is distinguished first."""
    counts = Counter(written)
    plain = sorted(written, key=lambda each: counts[each] > 1)
    return [text for each in plain for text in (each, *samples(each)[:2]) if text.strip()]


def _whole_texts(texts: Sequence[str], few: Sequence[str], called: Set[str], numbers: Sequence[int]) -> Iterator[str]:
    """Whole answers for the functions that are called: JSON, texts of so many words, addresses."""
    if called & {"is_json", "json"}:
        yield from (*(json.dumps({each: 1}) for each in few), "1", "[]")
    if "is_json" in called:
        yield from (json.dumps({"a": "o" * number}) for number in numbers)
    if not called.isdisjoint(SHARES):
        yield from (*_ALIKE, *map(_alike, numbers))
    if "urls" in called:
        yield from (f"https://{each}/" for each in texts if "." in each[1:-1] and " " not in each)


def _alike(number: int) -> str:
    """A text of so many words, of which none is new after the first ten."""
    return " ".join([*_COUNTED, *_COUNTED[:1] * (number - len(_COUNTED))])


def _leaves(value: object) -> Iterator[object]:
    """The texts and numbers in a value."""
    if isinstance(value, list | dict):
        for each in value if isinstance(value, list) else value.values():
            yield from _leaves(each)
    else:
        yield value


def contexts(written: Written, needs: Sequence[str], vocabulary: Vocabulary) -> list[ConversationContext]:
    """Scenarios and verdicts of other checks, the plain ones first."""
    scenarios: Iterable[JsonObject | None] = [None]
    if any(path[0] == "scenario" for path in written.paths):
        scenarios = list(islice(_scenarios(written, vocabulary), MOST_CONTEXTS))
    records = {name: list(islice(_records_of(name, written), MOST_RECORDS)) for name in needs}
    usual = {name: records[0] for name, records in records.items()}
    further = {name: records[1:] for name, records in records.items()}
    verdicts = [usual | some for some in islice(varied(further), MOST_CONTEXTS)]
    return [ConversationContext(*pair) for pair in islice(product(scenarios, verdicts), MOST_CONTEXTS)]


def _records_of(name: str, written: Written) -> Iterator[OtherVerdict]:
    """What a check may say, its verdicts first."""
    domains = (("confidence", domain_of_numbers(0, 1)), ("rationale_code", domain_of_texts()))
    confidences, codes = (
        choices(domain, written.guessed[path]) if (path := ("v", name, key)) in written.guessed else []
        for key, domain in domains
    )
    yield from map(OtherVerdict, VERDICTS)
    yield OtherVerdict(None)
    matters = any(("v", name, key) in written.paths for key in ("verdict", "eligible", "adjudication_required"))
    records = product((None, *codes), (1.0, *confidences), VERDICTS if matters else VERDICTS[:1])
    yield from (OtherVerdict(verdict, confidence, code) for code, confidence, verdict in records)


def _scenarios(written: Written, vocabulary: Vocabulary) -> Iterator[JsonObject]:
    """Scenarios whose fields have the values that conditions may ask for; those that differ in few fields first."""
    domains = Domains({"scenario": scenario_type(vocabulary)})
    paths = sorted(path for path in written.paths if path[0] == "scenario" and len(path) > 1)
    given = {path: choices_at(domains, written.guessed.get(path, ()), path) for path in paths}
    among = {
        (*path[1:-1], _KEYS.get(path[-1], path[-1]) if len(path) == 2 else path[-1]): kept[:MOST_WHOLE]
        for path, values in given.items()
        if (kept := [each for each in values if is_json(each)])
    }
    base = {**SCENARIO, "category": vocabulary.categories[0]}
    for chosen in varied(among):
        persona = {"persona": {"name": "Ann"}} if any(path[0] == "persona" for path in chosen) else {}
        yield placed({**base, **persona}, chosen)


def placed(base: JsonObject, values: Mapping[Path, object]) -> JsonObject:
    """A record with values at some paths below it."""
    made: JsonObject = json.loads(json.dumps(base))
    for path, value in values.items():
        place = made
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place[path[-1]] = value
    return made


def is_json(value: object) -> bool:
    """Whether JSON can hold the value."""
    if isinstance(value, dict | list):
        return all(map(is_json, value.values() if isinstance(value, dict) else value))
    return value is None or isinstance(value, str | int | float)
