"""What somebody would write by hand: one pass over the cases, the seed's formulas, a JSON report with every result."""

import json
import sys
from collections import Counter
from typing import Any


def share(phrases: list[str], text: str) -> tuple[float, list[str], list[str]]:
    """The share of the phrases that occur, those that do and those that don't."""
    lowered = text.lower()
    found = [phrase for phrase in phrases if phrase.lower().strip() in lowered]
    missing = [phrase for phrase in phrases if phrase.lower().strip() not in lowered]
    return (len(found) / len(phrases) if phrases else 1.0), found, missing


def score(case: dict[str, Any]) -> dict[str, Any]:
    """The result of one case."""
    expected, output = case["expectations"], case["engine_output"]
    signals, summary = output.get("signals") or [], output.get("summary") or ""
    questions = output.get("followup_questions") or []
    recall, found, missing = share(expected["signal_generation"]["must_find_signals"], " ".join([*signals, summary]))
    forbidden = expected["followup_questions"]["forbidden_terms"] if questions else []
    violated, violations, _ = share(forbidden, " ".join(questions))
    harm = 1.0 - violated if forbidden else 1.0
    content, held, lost = share(expected["event_summary"]["must_contain_phrases"], summary)
    scores = {"CR": recall, "AH": harm, "AC": content, "composite": (recall + harm + content) / 3.0}
    if min(recall, harm, content) < 0.5:
        label = "Fail"
    else:
        label = "Review" if harm < 1.0 or recall < 0.8 or content < 0.8 else "Pass"
    return {
        "test_id": case["test_id"],
        "archetype": case["archetype"] or "Unknown",
        "scores": scores,
        "details": {
            "CR": {"found": found, "missing": missing},
            "AH": {"violations": violations},
            "AC": {"found": held, "missing": lost},
        },
        "label": label,
    }


def main(source: str, target: str) -> None:
    """Score every line of `source` and write the report to `target`."""
    results = []
    misses: Counter[str] = Counter()
    with open(source, encoding="utf-8") as file:
        for line in file:
            result = score(json.loads(line))
            misses.update(result["details"]["CR"]["missing"])
            results.append(result)
    labels = Counter(result["label"] for result in results)
    means = {name: sum(r["scores"][name] for r in results) / len(results) for name in results[0]["scores"]}
    worst = sorted(results, key=lambda result: result["scores"]["composite"])[:5]
    report = {
        "summary": labels,
        "mean_scores": means,
        "results": results,
        "worst": worst,
        "misses": misses.most_common(5),
    }
    with open(target, "w", encoding="utf-8") as file:
        json.dump(report, file, ensure_ascii=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
