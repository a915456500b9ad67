"""The documentation can't lie: its files are written to a folder, its commands run there, its links lead somewhere."""

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.model_server import Response, chat, model_server

from rulewright.cli import COMMANDS, main, parser_of
from rulewright.documents.project_file import USUAL_PLACES
from rulewright.documents.validation import validate
from rulewright.documents.vocabulary import Vocabulary, read_vocabulary
from rulewright.load import Mapping, load_text
from rulewright_grammar import schema
from rulewright_runtime.__main__ import main as runtime
from rulewright_runtime.cases import case_plan
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.harness import harness_plan
from rulewright_runtime.judging.judge import JudgeRequest, open_judge
from rulewright_runtime.plan import scan
from rulewright_runtime.report import summary
from rulewright_runtime.runs import folder, log
from rulewright_runtime.workflow import workflow_plan

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", DOCS / "index.md", DOCS / "architecture.md",
    DOCS / "compatibility.md", DOCS / "reference" / "exit-codes.md", DOCS / "reference" / "runs.md",
    DOCS / "reference" / "terms.md",
]  # fmt: skip
PAGES += [*sorted(DOCS.glob("guides/*.md")), *sorted(DOCS.glob("decisions/*.md"))]
GUIDES = [ROOT / "README.md", *(page for page in PAGES if page.parent.name == "guides")]

# What a document is, by its first key; a document that holds the slip is meant to be wrong.
KINDS = {
    "project": "project", "id": "check", "name": "lexicon", "scorecard": "scorecard", "gates-only": "profiles",
    "quality_dimensions": "scoring", "states": "state_machine", "sources": "corpus",
}  # fmt: skip
SLIP = "S22"
ENDPOINT = "http://127.0.0.1:8000/v1"
RUNTIME = ("python", "-m", "rulewright_runtime")
PYTEST_ALONE = {
    **os.environ,
    "COLUMNS": "80",
    "PYTEST_PLUGINS": "rulewright.pytest_plugin",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
STATUS = ("echo", "$?")

_FENCE = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$', re.DOTALL | re.MULTILINE)
_WITH = re.compile(r"^<!-- with: (?P<page>\S+) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page and where it starts."""

    kind: str
    title: str | None
    body: str
    line: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command with the output lines that have to appear, in this order; `...` stands for any lines."""

    words: tuple[str, ...]
    expected: tuple[str, ...]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = [
        Block(match["kind"], match["title"], match["body"], text.count("\n", 0, match.start()) + 1)
        for match in _FENCE.finditer(text)
    ]
    for match in _WITH.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found += [Block(b.kind, b.title, b.body, line) for b in blocks(page.parent / match["page"]) if b.title]
    return sorted(found, key=lambda block: block.line)


def vocabulary_of(page: Path) -> Vocabulary:
    """The words that the page's project file declares, else the default ones."""
    files = [block for block in blocks(page) if block.title == "rulewright.yaml" and "vocabulary:" in block.body]
    root = load_text(files[0].body, "rulewright.yaml").root if files else None
    return read_vocabulary(root.get("vocabulary") if isinstance(root, Mapping) else None, "page")


def commands(block: Block) -> list[Command]:
    found: list[tuple[str, list[str]]] = []
    for line in block.body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [Command(tuple(shlex.split(words, comments=True)), tuple(expected)) for words, expected in found]


def carried_out(words: tuple[str, ...], status: int) -> tuple[int, str]:
    """The exit status and the output of a command; `echo $?` shows the status of the one before."""
    if words == STATUS:
        return status, f"{status}\n"
    if words[0] == "cd":
        os.chdir(words[1])
        return 0, ""
    if words[0] == "make":  # the two commands of the README set up a machine, which continuous integration does
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
        return 0, ""
    if words[0] == "python" and words[:3] != RUNTIME:
        command = [sys.executable, *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, env=PYTEST_ALONE, check=False)
        return done.returncode, done.stdout
    run, arguments = (main, words[1:]) if words[0] == "rulewright" else (runtime, words[3:])
    assert words[0] == "rulewright" or words[:3] == RUNTIME
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = run(arguments)
    return code, output.getvalue()


def shows(output: str, expected: tuple[str, ...]) -> bool:
    """Whether the output is the expected lines, where `...` stands for any lines; without any, nothing is promised."""
    any_lines = r"(?:.*\n)*?"
    lines = (any_lines if line == "..." else re.escape(line.rstrip()) + "\n" for line in expected)
    shown = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
    return not expected or re.fullmatch("".join(lines), shown) is not None


def guided(asked: dict[str, Any], _: int) -> Response:
    """The model of the guides: as a judge it fails whoever says what somebody should do, in two votes of three."""
    said = asked["messages"][-1]["content"]
    quote = re.search(r"You should [^.]*\.", said)
    verdict, evidence = "PASS", []
    if quote is not None and "decision" in said and asked.get("temperature", 0) < 0.5:
        verdict, evidence = "FAIL", [{"role": "assistant", "turn": 1, "quote": quote.group()}]
    reply = {
        "rationale": "it decides" if evidence else "it leaves the decision",
        "evidence": evidence,
        "verdict": verdict,
        "rationale_code": "decided",
    }
    return chat(json.dumps(reply), model=asked["model"])


@pytest.fixture
def endpoint() -> Iterator[Callable[[str], str]]:
    """What replaces the address of a guide's model server by that of one that runs."""
    with model_server(guided) as server:
        yield lambda text: text.replace(ENDPOINT, server.base)


@pytest.mark.parametrize("page", GUIDES, ids=[page.stem for page in GUIDES])
def test_what_a_guide_shows_is_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Callable[[str], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    status = 0
    for block in (replace(block, body=endpoint(block.body)) for block in blocks(page)):
        if block.title:
            target = tmp_path / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, encoding="utf-8")
        elif block.kind == "console":
            session = commands(block)
            for command, after in zip(session, [*session[1:], None], strict=True):
                status, output = carried_out(command.words, status)
                told = after is not None and after.words == STATUS
                assert told or command.words == STATUS or status == 0, f"{page.name}:{block.line} {output}"
                assert shows(output, command.expected), f"{page.name}:{block.line} {command.words}\n{output}"


@pytest.mark.parametrize("page", GUIDES, ids=[page.stem for page in GUIDES])
def test_every_yaml_and_json_block_is_well_formed(page: Path) -> None:
    for block in blocks(page):
        if block.kind in {"yaml", "json"} and not (block.title or "").endswith(".jsonl"):
            assert load_text(block.body, f"{page.name}.{block.kind}").diagnostics == (), f"{page.name}:{block.line}"


@pytest.mark.parametrize("page", GUIDES, ids=[page.stem for page in GUIDES])
def test_every_document_shown_without_a_mistake_fits_its_schema(page: Path) -> None:
    words = vocabulary_of(page)
    for block in blocks(page):
        kind = KINDS.get(block.body.partition(":")[0]) if block.kind == "yaml" else None
        if kind is not None and SLIP not in block.body:
            root = load_text(block.body, page.name).root
            assert root is not None
            assert validate(kind, root, words) == [], f"{page.name}:{block.line}"


def test_the_replies_shown_can_be_replayed(tmp_path: Path) -> None:
    (shown,) = (block for block in blocks(DOCS / "guides" / "judges-and-replay.md") if block.title == "replies.json")
    (tmp_path / "replies.json").write_text(shown.body, encoding="utf-8")
    judge = open_judge(f"replay:{tmp_path / 'replies.json'}")
    first = JudgeRequest("model-a__evening", "asks-about-help", "", 4000, 0.0, repetition=0, attempt=1)
    assert judge.ask(first) == '{"verdict": "PASS", "evidence": []}'
    with pytest.raises(JudgeError, match="connection lost"):
        judge.ask(JudgeRequest("model-a__evening", "asks-about-help", "", 4000, 0.3, repetition=2, attempt=0))


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_to_a_page(page: Path) -> None:
    dead = [link for link in _LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert dead == []


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command and of its actions."""
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--") and option != "--help")
        for below in action.choices.values() if isinstance(action.choices, dict) else ():
            yield from options(below)


def test_every_option_is_explained() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (*PAGES, ROOT / "grammar" / "LANGUAGE.md"))
    named = set(re.findall(r"--[a-z][a-z-]*", text))
    assert {name: sorted(set(options(parser_of(name))) - named) for name in COMMANDS} == {name: [] for name in COMMANDS}


def test_every_key_of_a_project_file_is_explained() -> None:
    text = (DOCS / "guides" / "projects.md").read_text(encoding="utf-8")
    assert [key for key in schema("project")["properties"] if f"| `{key}` |" not in text] == []


def test_every_default_place_of_a_document_is_named() -> None:
    lines = (DOCS / "guides" / "projects.md").read_text(encoding="utf-8").splitlines()
    for kind, places in USUAL_PLACES.items():
        (row,) = (line for line in lines if line.startswith(f"| `{kind}` |"))
        assert row.endswith(" | " + ", ".join(f"`{place}`" for place in places) + " |")


def test_every_key_of_a_profile_is_explained() -> None:
    text = (DOCS / "guides" / "projects.md").read_text(encoding="utf-8")
    keys = set(schema("profile")["properties"]) - {"name", "description"}
    assert sorted(key for key in keys if f"`{key}" not in text) == []


def test_every_route_and_unit_is_explained() -> None:
    text = (DOCS / "reference" / "terms.md").read_text(encoding="utf-8")
    routing = schema("check")["properties"]["routing"]["properties"]
    named = [*schema("check")["$defs"]["route"]["enum"], *routing["unit_of_analysis"]["enum"]]
    assert [each for each in named if f"`{each}`" not in text] == []


def test_every_decision_is_listed() -> None:
    listed = _LINK.findall((DOCS / "decisions" / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.name for page in DOCS.glob("decisions/*.md") if page.name != "index.md")


def test_the_version_of_every_format_is_the_one_that_is_written() -> None:
    text = (DOCS / "compatibility.md").read_text(encoding="utf-8")
    for written in (scan, case_plan, harness_plan, workflow_plan, log, folder):
        assert f"`{written.FORMAT}`, version {written.VERSION} |" in text
    assert f"`version` in the summary, now {summary.VERSION} |" in text
