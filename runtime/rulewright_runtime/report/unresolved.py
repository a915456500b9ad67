"""What of a run is not resolved: how far its score and its gates may still go, and the answers that decide them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.report.text import number, plural

UNTOUCHED: Final = "whatever the missing answers say"
_SHOWN: Final = 3


class Unresolved(Struct):
    """Gathers rows one by one; `result` is the finished part of a summary as JSON data."""

    transcripts: int = 0
    answers: int = 0
    exact: bool = True
    fixed: list[tuple[float, float]] = field(default_factory=list)  # the ends of scores that are there in any case
    optional: list[tuple[float, float]] = field(default_factory=list)  # of those that may be absent
    gates: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any], headline: str | None = HEADLINE) -> None:
        """Take in one row of `scores.jsonl`; `headline` is the output whose mean is bounded."""
        engine = row[ENGINE]
        bounds = engine.get("bounds")
        for name, gate in engine["gates"].items():
            states = bounds["gates"][name]["states"] if bounds else [gate["state"]]
            decides = bounds["gates"][name]["decided_by"] if bounds else []
            self._add_gate(str(row.get("transcript_id")), name, states, decides)
        if bounds is None:
            self._add_score(row.get(headline or ""))
            return
        self.transcripts += 1
        self.answers += len(bounds["unknown"])
        self.exact = self.exact and bounds["exact"]
        score = bounds["overall_score"]
        if score["low"] is not None:
            (self.optional if score["absent"] else self.fixed).append((score["low"], score["high"]))

    def merge(self, more: Unresolved) -> None:
        """Take in what another one gathered after this one."""
        self.transcripts += more.transcripts
        self.answers += more.answers
        self.exact = self.exact and more.exact
        self.fixed += more.fixed
        self.optional += more.optional
        for name, found in more.gates.items():
            gate = self.gates.setdefault(name, {"failed": False, "open": False, "undecided": False, "answers": []})
            for state in ("failed", "open", "undecided"):
                gate[state] = gate[state] or found[state]
            gate["answers"] += found["answers"]

    def _add_score(self, score: Any) -> None:
        if type(score) in (int, float):
            self.fixed.append((score, score))

    def _add_gate(self, transcript: str, name: str, states: Iterable[str], decides: Iterable[str]) -> None:
        gate = self.gates.setdefault(name, {"failed": False, "open": False, "undecided": False, "answers": []})
        known = set(states)
        gate["failed"] = gate["failed"] or known == {"failed"}
        gate["open"] = gate["open"] or ("failed" in known and len(known) > 1)
        gate["undecided"] = gate["undecided"] or "undecided" in known
        gate["answers"] += [{"transcript_id": transcript, "check_id": check_id} for check_id in decides]

    def result(self, refused: int, headline: str | None = HEADLINE) -> dict[str, Any]:
        """`{headline, transcripts, answers, refused, exact, overall_score, gates}`.

        `overall_score` bounds the mean of the headline. A gate has the `states` that it may have over the whole run (it
        fails where it fails for one transcript) and the `answers` that decide it. What was refused may have had any
        score, and may have failed any gate.
        """
        optional = [*self.optional, *([(0.0, 1.0)] * refused)]
        return {
            "headline": headline,
            "transcripts": self.transcripts,
            "answers": self.answers,
            "refused": refused,
            "exact": self.exact,
            "overall_score": {
                "low": extreme_mean([low for low, _ in self.fixed], [low for low, _ in optional]),
                "high": _highest([high for _, high in self.fixed], [high for _, high in optional]),
            },
            "gates": {name: _gate(gate, refused) for name, gate in sorted(self.gates.items())},
        }


def extreme_mean(fixed: Sequence[float], optional: Iterable[float]) -> float | None:
    """The lowest mean of the `fixed` values and any of the `optional` ones; None where there is none at all."""
    taken = list(fixed)
    for value in sorted(optional):
        if taken and value >= math.fsum(taken) / len(taken):
            break
        taken.append(value)
    return math.fsum(taken) / len(taken) if taken else None


def _highest(fixed: Sequence[float], optional: Sequence[float]) -> float | None:
    lowest = extreme_mean([-value for value in fixed], [-value for value in optional])
    return None if lowest is None else 0.0 - lowest


def _gate(gate: Mapping[str, Any], refused: int) -> dict[str, Any]:
    if gate["failed"]:
        return {"states": ["failed"], "answers": []}
    states = {"failed"} if gate["open"] or refused else set()
    states.add("undecided" if gate["undecided"] else "passed")
    return {"states": sorted(states), "answers": gate["answers"]}


def is_unresolved(unresolved: Mapping[str, Any]) -> bool:
    """Whether some answer or some input is missing."""
    return bool(unresolved["answers"] or unresolved["refused"])


def unresolved_lines(unresolved: Mapping[str, Any]) -> list[str]:
    """What is not resolved, in sentences; none where everything is."""
    if not is_unresolved(unresolved):
        return []
    parts = []
    if unresolved["answers"]:
        where = plural(unresolved["transcripts"], "transcript")
        parts.append(f"{plural(unresolved['answers'], 'answer')} missing in {where}")
    if unresolved["refused"]:
        parts.append(f"{plural(unresolved['refused'], 'input')} refused")
    told = [" and ".join(parts) + _score_bound(unresolved)]
    return told + [gate_line(name, gate) for name, gate in unresolved["gates"].items()]


def _score_bound(unresolved: Mapping[str, Any]) -> str:
    """How far the mean of the headline may still go; nothing where there is no such mean."""
    name, score = unresolved.get("headline", HEADLINE), unresolved["overall_score"]
    if name is None or score["low"] is None:
        return ""
    bound = "" if unresolved["exact"] else " (an outer bound)"
    return f": {'overall' if name == HEADLINE else name} {number(score['low'])} to {number(score['high'])}{bound}"


def gate_line(name: str, gate: Mapping[str, Any]) -> str:
    """What a gate may still become, and by which answers."""
    if len(gate["states"]) == 1:
        return f"gate {name}: {gate['states'][0]} {UNTOUCHED}"
    answers = [f"{each['transcript_id']} x {each['check_id']}" for each in gate["answers"]]
    more = f" and {len(answers) - _SHOWN} more" if len(answers) > _SHOWN else ""
    decide = plural(len(answers), "answer decides it", "answers decide it")
    which = f"; {decide}: {', '.join(answers[:_SHOWN])}{more}" if answers else ""
    return f"gate {name}: {' or '.join(gate['states'])}{which}"
