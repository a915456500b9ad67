"""A random configuration of promptfoo, decided by promptfoo and by its translation to checks; run by `make peers`.

Exits 1 where one assertion is decided otherwise. Left out is what differs on purpose: answers without a word, which are
UNCLEAR here, regular expressions that only one of JavaScript and RE2 reads, and `is-refusal`, whose phrases are others.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmark.peers.compare import run

from rulewright import load_run

TESTS: Final = 300
SEED: Final = 27
PLAIN: Final = ("equals", "contains", "icontains", "starts-with", "levenshtein")
LISTS: Final = ("contains-all", "contains-any", "icontains-all", "icontains-any")
PATTERNS: Final = (r"refund", r"^Refund", r"card$", r"\d+", r"[A-Z]+", r"re.und", r"\bcard\b", r"x{2}", r"^.$", r"\$5")
SCHEMAS: Final = (None, {"type": "object"}, {"required": ["a"]}, {"properties": {"a": {"type": "number"}}})
WORDS: Final = (
    "refund", "Refund", "REFUND", "card", "İstanbul", "straße", "STRASSE", "don't", "don’t", "42", "4.2", "a,b", "$5",
    "(x)", "é", "e\u0301", "ﬁ", "null", '{"a": 1}', '{"a": "x"}', "[1, 2]", "\\d", "`refund`", "no",
)  # fmt: skip


def assertion(random: Random, answer: str) -> dict[str, Any]:
    """An assertion about the answer or another text."""
    kind = random.choice((*PLAIN, *LISTS, "regex", "is-json"))
    given: dict[str, Any] = {"type": random.choice(("", "", "not-")) + kind}
    if kind in PLAIN:
        given["value"] = part(random, answer)
    elif kind in LISTS:
        parts = [part(random, answer) for _ in range(random.randint(1, 3))]
        given["value"] = random.choice((parts, ",".join(parts)))
    elif kind == "regex":
        given["value"] = random.choice(PATTERNS)
    elif (schema := random.choice(SCHEMAS)) is not None:
        given["value"] = schema
    if kind == "levenshtein":
        given["threshold"] = random.randint(0, 8)
    return given


def part(random: Random, answer: str) -> str:
    """The answer, a piece of it or another word, in its own or another case."""
    start = random.randrange(len(answer))
    text = random.choice((answer, answer[: start + 1], answer[start : start + 8], "{{word}}", random.choice(WORDS)))
    return random.choice((text, text, text.swapcase() if "{{" not in text else text)).strip() or "refund"


def configuration(random: Random) -> dict[str, Any]:
    """Tests whose answers `echo` gives back; the metric of an assertion is its name in both tools."""
    tests = []
    for number in range(TESTS):
        answer = " ".join(random.choice(WORDS) for _ in range(random.randint(1, 5)))
        asserted = [assertion(random, answer) for _ in range(random.randint(1, 5))]
        named = [{**each, "metric": f"t{number}a{at}"} for at, each in enumerate(asserted)]
        tests.append({"description": answer, "vars": {"answer": answer, "word": random.choice(WORDS)}, "assert": named})
    return {"prompts": ["{{answer}}"], "providers": ["echo"], "tests": tests}


def of_promptfoo(folder: Path, peers: Path) -> dict[str, bool]:
    """Whether promptfoo says that an assertion passes, by metric."""
    words = ["eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-table", "--no-progress-bar", "--no-write"]
    run([str(peers / "node_modules" / ".bin" / "promptfoo"), *words, "--no-cache"], folder, (0, 100))
    results = json.loads((folder / "out.json").read_bytes())["results"]["results"]
    graded = (each for result in results for each in _parts(result["gradingResult"] or {}))  # none after an error
    return {each["assertion"]["metric"]: each["pass"] for each in graded}


def _parts(grading: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The results of single assertions, which lists of components may hold."""
    if (grading.get("assertion") or {}).get("metric"):
        yield grading
    for each in grading.get("componentResults") or ():
        yield from _parts(each)


def of_checks(folder: Path) -> dict[str, str]:
    """The verdicts of the translation, by the metric of their assertion."""
    command = str(Path(sys.executable).with_name("rulewright"))
    run([command, "init", "translated", "--from", "promptfooconfig.json"], folder, (0, 1))
    chats = []
    for path in sorted((folder / "translated" / "scenarios").glob("*.json")):
        scenario = json.loads(path.read_bytes())
        asked = scenario["turns"][0]["user_message"]
        said = [{"role": "user", "content": asked}, {"role": "assistant", "content": asked}]
        chats.append(json.dumps({"scenario_id": scenario["scenario_id"], "messages": said}) + "\n")
    (folder / "chats.jsonl").write_text("".join(chats), encoding="utf-8")
    run([command, "scan", "chats.jsonl", "--project", "translated", "--out", "run"], folder, (0, 1, 2))
    records = load_run(folder / "run").records()
    return {each["check_id"]: each["verdict"] for each in records if each["eligible"]}


def main(peers: Path) -> int:
    """Print how many assertions are decided alike, and each that is not."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        config = configuration(Random(SEED))
        (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
        theirs, ours = of_promptfoo(folder, peers), of_checks(folder)
    shared = theirs.keys() & ours.keys()
    other = {name for name in shared if ours[name] != ("PASS" if theirs[name] else "FAIL")}
    for test in config["tests"]:
        for each in test["assert"]:
            if each["metric"] in other:
                print(f"{ours[each['metric']]} here, {theirs[each['metric']]} there: {each} of {test['vars']}")
    print(f"{len(shared) - len(other)} of {len(shared)} translated assertions are decided as promptfoo decides them")
    return 1 if other or len(shared) < TESTS else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
