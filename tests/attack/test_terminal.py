"""What comes from people, models and files, printed by every command: nothing of it is a command to the terminal.

A hostile text stands in ids, file names, quotes, phrases, names, replies, YAML and arguments. Every command is run on
it, once into a pipe and once into a terminal with colours. No output may hold a control character, a mark that turns
the writing direction or an invisible separator, begin a line with the attacker's words, or hold a command to a build
server; colours are as many as with harmless text; and JSON still holds the very text.
"""

import io
import json
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compiler import small_project
from tests.folders import turns_of, write_lines
from tests.rounds import part
from tests.safe_cases import case

from rulewright.cli import main
from rulewright_runtime.__main__ import main as runtime

HARMLESS: Final = "harmless"
FORGED: Final = "FORGED all gates passed"
ATTACKS: Final = {
    "colour": "\x1b[32mPASS\x1b[0m\x1b[8mhidden",
    "clear": "\x1b[2J\x1b[H\x1bc",
    "link": "\x1b]8;;https://evil.example\x1b\\ok\x1b]8;;\x07",
    "title": "\x1b]0;title\x07",
    "clipboard": "\x1b]52;c;ZWNobyBwd25lZA==\x07",
    "c1": "\x9b31m\x9d0;t\x9c\x85",
    "back": "FAIL\b\b\b\bPASS\x7f",
    "return": f"x\r{FORGED}\rY",
    "lines": f"x\n{FORGED}\r\n{FORGED}\u2028{FORGED}\x0b{FORGED}\x0c{FORGED}",
    "override": "user\u202etxt.exe\u202c \u2066x\u2069 \u200f\u061c",
    "invisible": "W\u200b-\ufeff1\u00ad\u2060\u180e",
    "tags": "ok\U000e0049\U000e0047\U000e004e\U000e007f",
    "github": f"x\n::error file=a::{FORGED}\n  ::set-output name=a::b\n::stop-commands::x",
    "azure": "##vso[task.setvariable variable=a]b ##[error]x ##teamcity[publishArtifacts 'x']",
    "device": "\x90q\x1bP1$r\x1b\\ \x1b[6n \x1b[c \x0e\x0f",
    "mouse": "\x1b[?1000h\x1b[?2004l\x1b7\x1b8\x1b[3J",
}
TURNING: Final = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN")
KEPT: Final = "\u200c\u200d"  # words of Persian and Hindi, and emoji, need the joiners
OURS: Final = re.compile(r"\x1b\[(?:0|1|3[1-3]|1;3[1346])m")
PROGRESS: Final = re.compile(r"\r\d+ (?:transcript|case|scenario)s?|\r\x1b\[K")
COMMAND: Final = re.compile(r"^\s*::|##(?:\[|vso\[|teamcity\[)", re.MULTILINE)


def hidden(char: str) -> bool:
    if char in "\n\t" or char in KEPT:
        return False
    category, turns = unicodedata.category(char), unicodedata.bidirectional(char)
    return category in ("Cc", "Cs", "Zl", "Zp") or (category == "Cf" and turns in (*TURNING, "R", "L", "AL"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def project(folder: Path, evil: str) -> None:
    """A project whose texts are the attacker's as far as it can be compiled."""
    small_project.write(
        folder,
        {
            "checks/W-1.yaml": small_project.check(route="lexicon_only", routing="deterministic_precheck: words"),
            "lexicons/words.yaml": f"fold: none\npatterns: [{quoted(evil)}]\n",
            "scenarios/night.json": small_project.SCENARIO.replace('"A night"', json.dumps(evil)),
        },
    )
    turns = turns_of("Hi", f"always {evil}")
    rows: list[dict[str, Any]] = [
        {"transcript_id": evil, "scenario_id": "night", "model": evil, "turns": turns},
        {"transcript_id": "two", "scenario_id": evil, "model": evil, "turns": turns},
        {"a": evil},
    ]
    write_lines(folder / "talks" / "talks.jsonl", rows)


def quoted(text: str) -> str:
    """A text as a YAML scalar."""
    return '"' + "".join(f"\\U{ord(char):08x}" for char in text) + '"'


def file_name(evil: str) -> str:
    return evil.replace("/", "_").replace("\x00", "")[:60]


Make = Callable[[Path, str], list[list[str]]]


def linting(folder: Path, evil: str) -> list[list[str]]:
    """Findings that quote keys, values and a file's name."""
    text = quoted(evil)
    broken = f"id: {text}\n{text}: 1\nname: {text}\nseverity: {text}\nrouting: {{route: {text}}}\n"
    path = folder / f"{file_name(evil)}.yaml"
    path.write_text(broken, encoding="utf-8")
    (folder / "raw.yaml").write_text(f"id: x\nname: 'a {evil} b'\nseverty: S1\n", encoding="utf-8")
    formats = ("human", "json", "github", "sarif", "junit", "checkstyle")
    return [["lint", str(folder), "--no-cache", "--format", name] for name in formats] + [
        ["lint", str(folder), "--no-cache", "--diff"],
        ["lint", str(folder), "--no-cache", "--statistics"],
    ]


def scanning(folder: Path, evil: str) -> list[list[str]]:
    """Verdicts, refusals, the story of a verdict, the page and the ranking."""
    project(folder, evil)
    run, plan = str(folder / "run"), str(folder / "plan.json")
    chosen = ["--project", str(folder), "--profile", "smoke"]
    return [
        ["scan", str(folder / "talks"), *chosen, "--out", run],
        ["scan", str(folder / "talks"), *chosen, "--out", run + "2", "--format", "json"],
        ["why", run, evil, "W-1"],
        ["why", run, evil, "W-1", "--format", "json"],
        ["why", run, f"{evil} no", f"W-1 {evil}"],
        ["report", run, "--out", "-"],
        ["report", run, "--format", "json"],
        ["leaderboard", run, "--harness", "unrecorded"],
        ["leaderboard", run, "--harness", evil],
        ["adjudicate", run],
        ["adjudicate", run, "--format", "jsonl"],
        ["adjudicate", run, "--decide", evil, "W-1", "PASS", "--by", evil, "--why", evil],
        ["plan", str(folder / "talks"), *chosen, "--out", str(folder)],
        ["plan", str(folder / "talks"), *chosen, "--out", str(folder), "--price-of", evil],
        ["compile", *chosen],
        ["compile", *chosen, "-o", plan],
        ["compile", "--project", str(folder), "--profile", evil],
        ["run", plan, str(folder / "talks"), "--out", run + "3"],
        ["runtime", "run", plan, str(folder / "talks"), "--out", run + "4"],
        ["runtime", "run", plan, str(folder / "talks"), f"--{evil}"],
    ]


def scoring(folder: Path, evil: str) -> list[list[str]]:
    """Cases with the attacker's ids, archetypes, phrases and mistakes."""
    cases = [
        case(evil, evil, phrases=[evil], must=[evil], forbidden=[evil], summary=evil, questions=[evil]),
        case("T2", phrases=[f"other {evil}"], summary=f"x {evil}"),
        {"test_id": f"{evil}2", "concern_id": "I25", evil: 1},
    ]
    (folder / "cases").mkdir()
    (folder / "cases" / "b.json").write_text(json.dumps(cases), encoding="utf-8")
    words = [
        "score", "--concern", "I25", "--batch", "b", "--cases", str(folder / "cases"), "--verbose", "--allow-errors",
    ]  # fmt: skip
    formats = ("console", "json", "markdown", "html", "junit")
    return [[*words, "--output", "-", "--format", name] for name in formats] + [
        ["score", "--concern", evil, "--batch", "b", "--cases", str(folder / "cases")],
        [*words, "--set", f"{evil}=1"],
        [*words, "--scorecard", evil],
    ]


def working(folder: Path, evil: str) -> list[list[str]]:
    """A workflow whose agent says, writes and fails as the attacker likes, up to the person's queue."""
    gate = "{enabled: true, risk_tier: T2, evidence: {acceptance: a.xml, lint: l.json, readiness: r.md}}"
    (folder / "rulewright.yaml").write_text(
        "project: p\nworkflow: {file: w.yaml, adapters: {default: {type: mock, script: s.json}},\n"
        "  hil: {enabled: true}, engine: {max_retries: 0, retry_backoff_seconds: 0}}\n"
    )
    build = f"agent: dev, description: {quoted(evil)}, outputs: [o.md], overlays: {{policy_gate: {gate}}}"
    (folder / "w.yaml").write_text(f"tasks:\n  build: {{{build}}}\n  other: {{agent: ghost, outputs: [p.md]}}\n")
    script = {"dev": [{"summary": evil, "files": {"o.md": f"a\n{evil}\n", "r.md": evil}}], "ghost": [{"raise": evil}]}
    (folder / "s.json").write_text(json.dumps(script))
    flow = str(folder / "w.yaml")
    return [
        ["workflow", "check", flow],
        ["workflow", "graph", flow],
        ["workflow", "run", flow],
        ["workflow", "trace", "--file", flow],
        ["workflow", "watch", "--file", flow],
        ["workflow", "graph", flow, "--run", "latest"],
        ["workflow", "trace", "--file", flow, "--format", "json"],
        ["hil", "list", "--all", "--file", flow],
        ["hil", "show", "run-1-build-1", "--file", flow],
        ["hil", "show", evil, "--file", flow],
        ["hil", "resolve", "run-1-build-1", "--file", flow, "--by", evil, "--why", evil],
        ["workflow", "run", flow, "--task", evil],
    ]


def asking(folder: Path, evil: str) -> list[list[str]]:
    """Arguments, expressions and their contexts, proofs, pages."""
    (folder / "c.json").write_text(json.dumps({"a": evil, evil: 1}))
    (folder / "policy.yaml").write_text(f"name: {quoted(evil)}\nrule: {{match: [{{output: {quoted(evil)}}}]}}\n")
    return [
        ["eval", "a", "--context", str(folder / "c.json")],
        ["eval", "a", "--context", str(folder / "c.json"), "--format", "json"],
        ["eval", f"a == '{evil}'"],
        ["eval", evil],
        ["eval", "a", "--context", evil.replace("\x00", "")],
        ["explain", evil],
        ["prove", str(folder / "policy.yaml")],
        ["prove", evil],
        [evil],
        ["scan", evil, f"--{evil}"],
        ["lint", evil.replace("\x00", ""), "--no-cache"],
        ["init", str(folder / file_name(evil))],
        ["harness", "--scenarios", evil, "--model", evil, "--out", str(folder / "h")],
    ]


GROUPS: Final[tuple[Make, ...]] = (linting, scanning, scoring, working, asking)
CASES: Final = [(make, name) for name in ATTACKS for make in GROUPS]


def outputs(
    make: Make, evil: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> list[tuple[list[str], str, str]]:
    """What each command of the group prints on the standard output and the standard error."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    found = []
    for words in make(folder, evil):
        out, err = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
        monkeypatch.setattr("sys.stdout", out)
        monkeypatch.setattr("sys.stderr", err)
        runtime(words[1:]) if words[0] == "runtime" else main(words)
        found.append((words, out.getvalue(), err.getvalue()))
    return found


def wrong(words: list[str], text: str) -> list[str]:
    """What an output holds that it must not."""
    text = PROGRESS.sub("", OURS.sub("", text))
    found = sorted({f"U+{ord(char):04X}" for char in text.replace("\r\n", "\n") if hidden(char)})
    if not text.startswith("<!doctype html>"):  # in a page a line has no meaning
        found += [line for line in text.splitlines() if line.startswith(FORGED)]
    allowed = words[0] == "lint" and "github" in words
    lines = [line for line in text.splitlines() if not (allowed and re.match("::(error|warning|notice) ", line))]
    return found + COMMAND.findall("\n".join(lines))


@pytest.mark.parametrize(("make", "name"), part(CASES, 6), ids=lambda value: getattr(value, "__name__", value))
@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_nothing_that_comes_from_outside_is_a_command_to_the_terminal(
    make: Make, name: str, terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = ATTACKS[name]
    for words, out, err in outputs(make, evil, tmp_path / "x", monkeypatch, terminal=terminal):
        assert not wrong(words, out), (words, out)
        assert not wrong(words, err), (words, err)
        assert "this is a bug in Rulewright" not in err, err


@pytest.mark.parametrize("make", GROUPS, ids=lambda make: str(make.__name__))
def test_colours_come_only_from_rulewright(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attacker's text adds none: a green PASS that nobody gave."""
    plain, evil = (
        outputs(make, text, tmp_path / "x", monkeypatch, terminal=True) for text in (HARMLESS, "\x1b[32mPASS\x1b[0m")
    )
    for (words, out, err), (_, evil_out, evil_err) in zip(plain, evil, strict=True):
        if "lint" not in words:  # of an invalid value lint has more to say
            assert len(OURS.findall(evil_out)) == len(OURS.findall(out)), words
            assert len(OURS.findall(evil_err)) == len(OURS.findall(err)), words
        assert not re.search("\x1b\\[32mPASS", evil_out + evil_err), words


@pytest.mark.parametrize("name", part(sorted(ATTACKS), 3))
def test_json_still_holds_the_very_text(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = ATTACKS[name]
    shown: dict[str, Any] = {}
    for make in (scanning, scoring, asking):
        for words, out, _ in outputs(make, evil, tmp_path / "x", monkeypatch, terminal=False):
            if out.startswith("{"):
                shown.setdefault(words[0], json.loads(out))
    assert shown["eval"]["value"] == evil
    assert shown["score"]["results"][0]["test_id"] == evil
    assert shown["why"]["scores"]["transcript_id"] == evil
    assert shown["compile"]["lexicons"]["words"]["patterns"][0]["pattern"] == evil
