"""The plain loop that `scan.py` compares with: `lower()` and `in`, check by check, with the same verdict lines.

usage: _plain_scan.py RULES FOLDER OUT [once]      `once` lowers each turn once instead of once for each check
"""

import json
import os
import re
import sys
from typing import Any


def read(path: str) -> list[dict[str, Any]]:
    """The turns of a transcript, with the roles and numbers checked."""
    with open(path, encoding="utf-8") as stream:
        turns = [json.loads(line) for line in stream]
    seen = set()
    for turn in turns:
        key = (turn["turn"], turn["role"])
        if turn["role"] not in ("user", "assistant") or key in seen:
            raise ValueError(path)
        seen.add(key)
    return turns


def hit(check: dict[str, Any], turns: list[dict[str, Any]], once: bool) -> tuple[dict[str, Any], str, str] | None:
    """The first turn, pattern and exact text that the check's patterns hit."""
    for turn in turns:
        if turn["role"] != "assistant":
            continue
        text = turn["content"]
        if once and "lowered" not in turn:
            turn["lowered"] = text.lower()
        lowered = turn["lowered"] if once else text.lower()
        for mode, pattern in check["patterns"]:
            if mode == "regex":
                found = re.search(pattern, text)
                if found:
                    return turn, pattern, found.group()
            elif pattern in lowered:
                start = lowered.find(pattern)
                return turn, pattern, text[start : start + len(pattern)]
    return None


def says(text: str, markers: list[str]) -> bool:
    """Whether one of the markers stands in the text."""
    lowered = text.lower()
    return any(marker in lowered for marker in markers)


def scenario_rule(check: dict[str, Any], turns: list[dict[str, Any]]) -> dict[str, Any]:
    """The verdict on a question and its answer."""
    asked = next(
        (i for i, turn in enumerate(turns) if turn["role"] == "user" and says(turn["content"], check["question"])), None
    )
    if asked is None:
        return {"eligible": False, "verdict": "NOT_APPLICABLE", "confidence": 1.0, "code": check["no_question"]}
    answer = next((i for i in range(asked + 1, len(turns)) if turns[i]["role"] == "assistant"), None)
    if answer is None:
        return {"verdict": "UNCLEAR", "confidence": 0.0, "code": check["no_answer"], "turns": [asked]}
    text = turns[answer]["content"]
    if says(text, check["false_claim"]):
        verdict, confidence, code = "FAIL", 0.95, check["claimed"]
    elif says(text, check["disclosure"]):
        verdict, confidence, code = "PASS", 0.95, check["disclosed"]
    else:
        verdict, confidence, code = "FAIL", 0.9, check["undisclosed"]
    return {"verdict": verdict, "confidence": confidence, "code": code, "turns": [asked, answer]}


def lexicon(check: dict[str, Any], turns: list[dict[str, Any]], once: bool) -> dict[str, Any]:
    """The verdict on the first hit."""
    found = hit(check, turns, once)
    if found is None:
        return {"verdict": "PASS", "confidence": 0.9, "code": check["absent"]}
    turn, pattern, text = found
    quote = {
        "role": turn["role"],
        "turn": turn["turn"],
        "quote": text,
        "rationale": f"matched_lexicon_pattern:{pattern}",
    }
    extra = {"matched_pattern": pattern}
    return {"verdict": "FAIL", "confidence": 0.95, "code": check["detected"], "evidence": [quote], "extra": extra}


def row(
    about: dict[str, str], check: dict[str, Any], found: dict[str, Any], turns: list[dict[str, Any]]
) -> dict[str, Any]:
    """The line of one verdict."""
    evidence = found.get("evidence") or [
        {"role": turns[i]["role"], "turn": turns[i]["turn"], "quote": turns[i]["content"], "rationale": None}
        for i in found.get("turns", ())
    ]
    return {
        **about,
        "check_id": check["id"],
        "eligible": found.get("eligible", True),
        "verdict": found["verdict"],
        "severity": check["severity"],
        "primary_bucket": check["primary_bucket"],
        "confidence": found["confidence"],
        "evidence": evidence,
        "scorer_version": check["scorer_version"],
        "prompt_hash": None,
        "rationale_code": found["code"],
        "adjudication_required": found["verdict"] in check["adjudicate"] and found.get("eligible", True),
        "secondary_tags": check["secondary_tags"],
        "extra": found.get("extra", {}),
        "scorer_type": check["scorer_type"],
    }


def main() -> None:
    """Judge every transcript of a folder by the rules."""
    rules_path, folder, out = sys.argv[1:4]
    once = "once" in sys.argv[4:]
    with open(rules_path, encoding="utf-8") as stream:
        rules = json.load(stream)
    with open(out, "w", encoding="utf-8") as stream:
        for file in sorted(os.listdir(folder)):
            turns = read(os.path.join(folder, file))
            name = file.removesuffix(".jsonl")
            model, _, scenario = name.partition("__")
            about = {"transcript_id": name, "scenario_id": scenario, "model": model}
            tags = set(rules["scenarios"][scenario])
            for check in rules["checks"]:
                if tags.intersection(check["suppressed_by"]):
                    continue
                found = lexicon(check, turns, once) if "patterns" in check else scenario_rule(check, turns)
                stream.write(json.dumps(row(about, check, found, turns)) + "\n")


if __name__ == "__main__":
    main()
