"""Attacks on cases: a record that is misspelt, cut, doubled or nested wrongly must not get a better label or status.

Every attack changes one thing in a batch of two cases, one that passes and one that does not. What it may come to is a
refusal, or the label and the status that were there before.
"""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import part
from tests.safe_cases import case, safe, settings

from rulewright_runtime.cases.case_reader import Batch, CaseReader, Outputs
from rulewright_runtime.cases.case_run import score_batches
from rulewright_runtime.cases.case_settings import CaseSettings

Steps = tuple[str, ...]
GRAVITY = {"Fail": 0, "Review": 1, "Pass": 2}
SETTINGS = settings()
STATUS = {1: 0, 3: 0, 2: 1, 0: 2}  # by how good it is

TARGETS: dict[str, dict[str, Any]] = {
    "fails AH": case("T2", forbidden=["fault", "blame"], questions=["Whose fault?", "Who is to blame?"]),
    "fails CR": case("T2", must=["fever", "rash"], signals=["a cough"]),
    "fails AC": case("T2", phrases=["late", "ward"], summary="Seen."),
    "reviews AH": case("T2", forbidden=["fault", "blame"], questions=["Whose fault?"]),
    "reviews CR": case("T2", must=["fever", "rash"], signals=["fever"]),
    "reviews AC": case("T2", phrases=["late", "ward"], summary="Seen late."),
}
GOOD: dict[str, Any] = {
    "must_find_signals": [],
    "must_contain_phrases": [],
    "forbidden_terms": [],
    "signals": ["fever", "rash"],
    "summary": "late ward",
    "followup_questions": [],
}


class Doubled(dict[str, Any]):
    """An object that writes some of its keys twice."""

    def __init__(self, value: dict[str, Any], more: list[tuple[str, Any]], *, first: bool) -> None:
        """`more` are written before or behind the others."""
        super().__init__(value)
        self.pairs = [*more, *value.items()] if first else [*value.items(), *more]


def written(value: Any) -> str:
    """JSON, with keys twice where `Doubled` says so."""
    if isinstance(value, dict):
        pairs = value.pairs if isinstance(value, Doubled) else value.items()
        return "{" + ", ".join(f"{json.dumps(key)}: {written(each)}" for key, each in pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def at(record: Any, path: Steps) -> Any:
    for key in path:
        record = record[key]
    return record


def objects(record: Any, above: Steps = ()) -> Iterator[Steps]:
    """The paths of all objects in a record."""
    yield above
    for key, value in record.items():
        if isinstance(value, dict):
            yield from objects(value, (*above, key))


def misspelt(key: str) -> Iterator[str]:
    words = key.split("_")
    yield key[:-1]
    yield key[1:]
    yield key[: len(key) // 2] + key[len(key) // 2 + 1 :]
    yield key[:2] + key[1] + key[2:]
    yield key[1] + key[0] + key[2:]
    yield key + "s"
    yield words[0] + "".join(map(str.title, words[1:]))
    yield "-".join(words)
    yield " ".join(words)
    yield key.upper()
    yield key.title()
    yield f" {key}"
    yield key.replace("e", "\u0435") + "\u200b"


def wrong(value: Any) -> Iterator[Any]:
    yield from (None, 0, True, {}, [None], [7], [[]], {"items": value}, {"0": value}, [value], json.dumps(value))
    if isinstance(value, dict):
        yield from ([], "", list(value.items()), [value])
    elif isinstance(value, list):
        yield from ("", "; ".join(map(str, value)), {str(n): each for n, each in enumerate(value)}, [*value, None])
    else:
        yield from ([], {"text": value})


def better(value: Any, key: str) -> Any:
    """The value with which a case passes: empty expectations, an output that has everything."""
    if isinstance(value, dict):
        return {name: better(each, name) for name, each in value.items()}
    return GOOD.get(key, value)


@dataclass(frozen=True)
class Attack:
    """What was done, in which shape of file, and the record that came of it."""

    name: str
    target: str
    shape: str
    record: Any


def changes(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every change of one key of a record, with what it was."""
    for above in objects(record):
        for key, value in at(record, above).items():
            place = ".".join((*above, key))
            if key in ("concern_id", "test_id", "archetype", "id"):
                continue
            for name in dict.fromkeys(each for each in misspelt(key) if each != key):
                yield f"{place} misspelt as {name!r}", renamed(record, above, key, name)
                yield f"{place} beside a better {name!r}", extended(record, above, name, better(value, key))
            yield f"{place} missing", without(record, above, key)
            for other in wrong(value):
                yield f"{place} = {json.dumps(other)[:30]}", replaced(record, above, key, other)
            for first in (True, False):
                yield f"{place} doubled, first={first}", doubled(record, above, key, better(value, key), first=first)
                yield f"{place} doubled with null, first={first}", doubled(record, above, key, None, first=first)
            for below in objects(record):
                if below != above and below[: len(above) + 1] != (*above, key):
                    yield f"{place} moved to {'.'.join(below) or 'the top'}", moved(record, above, key, below)


def renamed(record: Any, above: Steps, key: str, name: str) -> Any:
    made = copy.deepcopy(record)
    holder = at(made, above)
    pairs = [(name if each == key else each, value) for each, value in holder.items()]
    holder.clear()
    holder.update(pairs)
    return made


def extended(record: Any, above: Steps, name: str, value: Any) -> Any:
    made = copy.deepcopy(record)
    at(made, above)[name] = value
    return made


def without(record: Any, above: Steps, key: str) -> Any:
    made = copy.deepcopy(record)
    del at(made, above)[key]
    return made


def replaced(record: Any, above: Steps, key: str, value: Any) -> Any:
    made = copy.deepcopy(record)
    at(made, above)[key] = value
    return made


def doubled(record: Any, above: Steps, key: str, value: Any, *, first: bool) -> Any:
    made = copy.deepcopy(record)
    twice = Doubled(at(made, above), [(key, value)], first=first)
    if not above:
        return twice
    at(made, above[:-1])[above[-1]] = twice
    return made


def moved(record: Any, above: Steps, key: str, below: Steps) -> Any:
    made = copy.deepcopy(record)
    value = at(made, above).pop(key)
    at(made, below).setdefault(key, value)
    return made


def shaped(record: dict[str, Any], shape: str) -> dict[str, Any]:
    """A record with its output where a shape of file has it."""
    inner = {key: value for key, value in record.items() if key != "engine_output"}
    output = record["engine_output"]
    match shape:
        case "wrapped":
            return {"id": f"id-{record['test_id']}", "test_case": inner, "engine_output": output}
        case "wrapped whole":
            return {"id": f"id-{record['test_id']}", "test_case": record}
        case "beside":
            return {**inner, **output}
        case "output":
            return {**inner, "output": output}
        case _:
            return record


SHAPES = ("array", "object", "lines", "wrapped", "wrapped whole", "beside", "output", "apart", "apart wrapped")


def attacks(shape: str) -> list[Attack]:
    made = []
    for target, record in TARGETS.items():
        start = shaped(record, shape)
        if shape == "apart":
            start = {"test_id": "T2", **record["engine_output"]}
        elif shape == "apart wrapped":
            start = {"test_id": "T2", "engine_output": record["engine_output"]}
        made += [Attack(name, target, shape, changed) for name, changed in changes(start)]
    return made


def outcome(
    record: Any, target: str, shape: str, place: Path, using: CaseSettings = SETTINGS
) -> tuple[dict[str, str], int, list[str]]:
    """The labels, the exit status and what was said of a batch whose second record is `record`."""
    first = shaped(case("T1"), shape)
    outputs = None
    if shape.startswith("apart"):
        inner = [
            {key: value for key, value in each.items() if key != "engine_output"} for each in (first, TARGETS[target])
        ]
        (place / "outputs.json").write_text(written([{"test_id": "T1", "output": case("T1")["engine_output"]}, record]))
        outputs = Outputs(str(place / "outputs.json"))
        records = inner
    else:
        records = [first, record]
    path = place / ("b.jsonl" if shape == "lines" else "b.json")
    if shape == "lines":
        path.write_text("".join(written(each) + "\n" for each in records))
    else:
        path.write_text(written({"batch_id": "b", "test_cases": records} if shape == "object" else records))
    run = score_batches(using, CaseReader(using.plan, "I25", outputs), [Batch("b", str(path))])
    labels = {result["test_id"]: result["label"] for result in run.spool.results()}
    status = 3 if outputs is not None and outputs.errors else run.status()
    return labels, status, [entry["message"] for entry in (*run.errors, *run.warnings)]


def successes(chosen: list[Attack], place: Path, using: CaseSettings = SETTINGS) -> list[Any]:
    """The attacks after which the case has a better label, or the batch a better status."""
    won = []
    for attack in chosen:
        label = attack.target.split()[0].removesuffix("s").title()
        labels, status, said = outcome(attack.record, attack.target, attack.shape, place, using)
        got = labels.get("T2")
        if STATUS[status] > GRAVITY[label] or (got is not None and GRAVITY[got] > GRAVITY[label]):
            won.append((attack.name, attack.target, labels, status, said))
    return won


@pytest.mark.parametrize("shape", SHAPES)
def test_no_change_of_a_record_makes_it_better(shape: str, tmp_path: Path) -> None:
    found = attacks(shape)
    assert len(found) >= 100
    assert successes(part(found, 20), tmp_path) == []


def test_the_attacks_have_teeth(tmp_path: Path) -> None:
    """Where what is missing counts as empty, as under the reference semantics, many of them succeed."""
    loose = CaseSettings(safe("reference").plan)
    assert len(successes(part(attacks("array"), 200), tmp_path, loose)) >= 10
