"""Totals add up: every input ends as a transcript or a located refusal, every check as a record or suppressed."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.folders import read_lines
from tests.runtime.plans import asked, check, lexicon, plan, reply
from tests.runtime.programs import program
from tests.runtime.transcripts.test_completeness import scripted

from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.verifiers import LexiconVerifier, ScenarioRule
from rulewright_runtime.report.console import scorecard
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.report.summary import TOTALS, equations
from rulewright_runtime.runs.store import run

LEXICONS = {
    "words": lexicon("i promise"),
    "question": lexicon("hello", role="user"),
    "good": lexicon("an ai"),
    "claim": lexicon("human"),
}


def everything() -> Plan:
    """A check for each way in which a record comes about, over two scenarios."""
    checks = (
        check(name="lexicon"),
        check(LexiconVerifier("nowhere"), name="without-lexicon"),
        check(ScenarioRule("question", "good", "claim"), name="rule"),
        asked(name="judge", unclear="fail"),
        check(name="excluded", eligible=program(False)),
        check(name="silenced", suppressed=program(True)),
    )
    scenarios = {"s": scripted("Hello", "Bye"), "t": scripted("Hello")}
    return plan(*checks, lexicons=LEXICONS, scenarios=scenarios)


class Moody:
    """A judge that answers by chance, badly, or not at all."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def ask(self, request: Any) -> str | None:
        """An answer of any quality."""
        verdicts = ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE")
        return self.chance.choice([*(reply(verdict, "Hi") for verdict in verdicts), "what?", "", None])


def lines_of(chance: random.Random, count: int) -> list[bytes]:
    """Lines of a batch, many of them broken in some way."""
    lines = []
    for number in range(count):
        scenario = chance.choice(("s", "s", "t", "nowhere"))
        said: list[str] = ["Hello", chance.choice(("Hi", "I promise", "", "\u200b")), "Bye", "Bye"]
        turns: list[Any] = [
            {"turn": place // 2 + 1, "role": "assistant" if place % 2 else "user", "content": text}
            for place, text in enumerate(said[: 2 if scenario == "t" else 4])
        ]
        changed = chance.choice((None, None, "cut", "content", "number", "error"))
        place = chance.randrange(len(turns))
        turns = turns[:place] if changed == "cut" else turns
        if changed not in (None, "cut"):
            turns[place] = {**turns[place], **{"content": None, "number": 7}} if changed == "content" else turns[place]
            turns[place] = {**turns[place], "turn": 9} if changed == "number" else turns[place]
            turns[place] = {**turns[place], "error": "timeout"} if changed == "error" else turns[place]
        name = f"t{number}" if chance.random() < 0.9 else "again"
        record = {"transcript_id": name, "scenario_id": scenario, "model": "m", "turns": turns}
        line = json.dumps(record).encode()
        lines.append(broken(line, chance) if chance.random() < 0.3 else line)
    return lines


def broken(line: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(1, len(line))
    return chance.choice(
        (line[:at], line[:at] + b"\0" + line[at:], b"[1]", b'"x"', line[:at] + b"\xff" + line[at:], b"{}", b"9" * 4000)
    )


def folder_of(path: Path, chance: random.Random) -> tuple[Path, int]:
    """A folder of batches and conversations, and the number of inputs in it."""
    data = path / "data"
    data.mkdir()
    inputs = 0
    for batch in range(3):
        first = json.dumps({"transcript_id": f"b{batch}", "scenario_id": "t", "model": "m", "turns": [TURN, ANSWER]})
        rest = lines_of(chance, 12)
        (data / f"batch{batch}.jsonl").write_bytes(b"\n".join([first.encode(), *rest, b""]))
        inputs += 1 + len(rest)
    (data / "m__t.jsonl").write_text(json.dumps(TURN) + "\n" + json.dumps(ANSWER))
    (data / "m__s.jsonl").write_text(json.dumps(TURN) + "\n{oh\n" + json.dumps(ANSWER))
    (data / "empty.jsonl").write_text("")
    return data, inputs + 3


TURN = {"turn": 1, "role": "user", "content": "Hello"}
ANSWER = {"turn": 1, "role": "assistant", "content": "Hi"}


@pytest.mark.parametrize("seed", range(12))
def test_totals_add_up_over_broken_batches(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    data, inputs = folder_of(tmp_path, chance)
    summary = run(everything(), [data], tmp_path / "out", judge=Moody(chance), max_line=3000)
    totals = summary["totals"]
    for total, parts in TOTALS.items():
        assert totals[total] == sum(totals[part] for part in parts), total
    assert totals["inputs"] == inputs
    assert totals["records"] == totals["transcripts"] * 6
    assert totals["suppressed"] == totals["not_eligible"] == totals["transcripts"] or totals["transcripts"] == 0
    for refused in summary["refused"]["inputs"]:
        assert Path(refused["path"]).is_file()
        assert refused["line"] > 0
        assert refused["reason"]
    places = [(refused["path"], refused["line"]) for refused in summary["refused"]["inputs"]]
    assert len(set(places)) == len(places)
    _written(tmp_path / "out", summary)


def _written(out: Path, summary: dict[str, Any]) -> None:
    """What the files and the reports of the run say is the same."""
    totals = summary["totals"]
    records = read_lines(out / "verdicts.jsonl")
    rows = read_lines(out / "scores.jsonl")
    assert len(records) == totals["eligible"] + totals["not_eligible"]
    assert (len(rows), sum("missing" in row for row in rows)) == (totals["transcripts"], totals["incomplete"])
    eligible = [record for record in records if record["eligible"]]
    for verdict in ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"):
        assert sum(record["verdict"] == verdict for record in eligible) == totals[verdict]
    causes = [(record["verdict"], record.get("cause")) for record in eligible]
    assert causes.count(("UNCLEAR", "error")) == totals["errors"]
    assert causes.count(("UNCLEAR", "missing")) == totals["missing"]
    for check_totals in summary["checks"].values():
        assert check_totals["eligible"] + check_totals["not_eligible"] == totals["transcripts"]
    console, page = scorecard(summary), markdown(summary)
    for name, line in equations(summary).items():
        assert name == "eligible" or line in console
        assert line.replace("_", "\\_") in page.replace("\\|", "|")


def test_a_resumed_run_has_the_same_totals(tmp_path: Path) -> None:
    chance = random.Random(99)
    data, _ = folder_of(tmp_path, chance)
    whole = run(everything(), [data], tmp_path / "whole", judge=Moody(random.Random(5)), max_line=3000)

    class Killed(Moody):
        asked = 0

        def ask(self, request: Any) -> str | None:
            self.asked += 1
            if self.asked == 12:
                raise KeyboardInterrupt
            return super().ask(request)

    kept = random.Random(5)
    with pytest.raises(KeyboardInterrupt):
        run(everything(), [data], tmp_path / "out", judge=Killed(kept), max_line=3000)
    summary = run(everything(), [data], tmp_path / "out", judge=Moody(kept), max_line=3000, resume=True)
    for name in ("inputs", "transcripts", "incomplete", "records", "suppressed", "missing"):
        assert summary["totals"][name] == whole["totals"][name], name
