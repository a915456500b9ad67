"""Test cases of the seed's shape, and a plain reading of the seed's rules to compare with."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rulewright.scoring.case_scorecards import CaseScorecard, load_scorecard
from rulewright_runtime.cases.case_plan import Choices, SettingValue
from rulewright_runtime.cases.case_settings import CaseSettings

DEFAULTS: dict[str, dict[str, float]] = {
    "CR": {"pass": 0.8, "review": 0.5},
    "AH": {"pass": 1.0, "review": 0.5},
    "AC": {"pass": 0.8, "review": 0.5},
}
METRICS = ("CR", "AH", "AC")


def safe(semantics: str = "seed") -> CaseScorecard:
    return load_scorecard("safe-v0").under(Choices(semantics=SettingValue(semantics, "test")))


def settings(**given: Any) -> CaseSettings:
    return CaseSettings(safe().plan, given)


def case(test_id: str, archetype: str | None = "A", **changes: Any) -> dict[str, Any]:
    """A case that passes; `must`, `forbidden`, `phrases`, `signals`, `summary`, `questions` change its parts."""
    return {
        "test_id": test_id,
        "concern_id": "I25",
        "archetype": archetype,
        "expectations": {
            "signal_generation": {"must_find_signals": changes.get("must", ["fever"])},
            "event_summary": {"must_contain_phrases": changes.get("phrases", ["late"])},
            "followup_questions": {"forbidden_terms": changes.get("forbidden", ["fault"])},
        },
        "engine_output": {
            "signals": changes.get("signals", ["Fever at night"]),
            "summary": changes.get("summary", "Seen late."),
            "followup_questions": changes.get("questions", ["When?"]),
        },
    }


def output(summary: str = "Seen late.", **changes: Any) -> dict[str, Any]:
    """An output that holds only a summary, with `changes`."""
    return {"summary": summary, "signals": [], "followup_questions": [], **changes}


def write(path: Path, cases: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(cases), encoding="utf-8")
    return path


def found_in(needle: str, text: str) -> bool:
    return needle.lower().strip() in text.lower().strip()


def plain_scores(record: Mapping[str, Any], strict: bool) -> dict[str, float]:
    """The three scores, as the seed's formulas read."""
    expected, output = record["expectations"], record["engine_output"]
    signals, summary = output.get("signals") or [], output.get("summary") or ""
    questions = output.get("followup_questions") or []
    must = expected["signal_generation"]["must_find_signals"]
    phrases = expected["event_summary"]["must_contain_phrases"]
    forbidden = expected["followup_questions"]["forbidden_terms"]
    corpus = " ".join(signals) + " " + summary
    violations = [term for term in forbidden if questions and found_in(term, " ".join(questions))]
    proportional = 1.0 - len(violations) / len(forbidden) if forbidden and questions else 1.0
    return {
        "CR": sum(found_in(p, corpus) for p in must) / len(must) if must else 1.0,
        "AH": (0.0 if violations else 1.0) if strict else proportional,
        "AC": sum(found_in(p, summary) for p in phrases) / len(phrases) if phrases else 1.0,
    }


def plain_label(scores: Mapping[str, float], thresholds: Mapping[str, Mapping[str, float]]) -> str:
    if any(scores[name] < thresholds[name]["review"] for name in METRICS):
        return "Fail"
    return "Review" if any(scores[name] < thresholds[name]["pass"] for name in METRICS) else "Pass"


def generated(number: int, seed: int, words: Sequence[str] = ("fever", "Late", "ward", "bed", "İ", "ß")) -> list[Any]:
    """Cases with every shape of list: empty, short, repeated."""
    chance = random.Random(seed)

    def some(most: int, size: int = 1) -> list[str]:
        return [" ".join(chance.choices(words, k=size)) for _ in range(chance.randrange(most + 1))]

    return [
        case(
            f"T{number}",
            chance.choice(["A", "B", None]),
            must=some(4),
            phrases=some(4),
            forbidden=some(3),
            signals=some(2, 2),
            summary=" ".join(some(5)),
            questions=some(2, 2),
        )
        for number in range(number)
    ]
