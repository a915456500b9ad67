"""What a summary gathers does not grow with the transcripts, and is what all of them together give."""

import math
import random

import msgspec
import pytest

from rulewright_runtime.files.scratch_database import FirstValues
from rulewright_runtime.report.accumulators import MAX_ENTRIES, RunningSum
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.report.summary import Summary


@pytest.mark.parametrize("seed", range(5))
def test_a_sum_is_exact_in_any_order_and_any_parts(seed: int) -> None:
    chance = random.Random(seed)
    values = [chance.choice((1, -1)) * chance.random() * 10.0 ** chance.randint(-12, 12) for _ in range(2000)]
    whole, one, other = RunningSum(), RunningSum(), RunningSum()
    for value in values:
        whole.add(value)
    for place, value in enumerate(chance.sample(values, len(values))):
        (one if place % 3 else other).add(value)
    one.merge(other)
    assert whole.mean == one.mean == math.fsum(values) / len(values)
    assert len(whole.parts) < 20


def row(number: int) -> dict[str, object]:
    gates = {"safety": {"state": "failed", "reasons": ["A1"], "text": ""}}
    engine = {"outcome": "failed", "because": ["A1"], "unproven": {}, "decided_by": "gates", "gates": gates}
    about = {"transcript_id": f"t{number}", "scenario_id": None, "model": "m", "missing": [{"reason": "cut"}]}
    return {**about, "overall_score": number % 7 / 7, "blindspot_profile": {"harm": number % 3 == 0}, "engine": engine}


def test_a_summary_of_many_transcripts_is_bounded_and_counts_them_all() -> None:
    sizes = []
    for many in (3 * MAX_ENTRIES, 6 * MAX_ENTRIES):
        summary = Summary()
        for number in range(many):
            summary.add(row(number), [])
        found = summary.result()
        sizes.append((len(msgspec.json.encode(summary)) // 1000, len(markdown(found)) // 1000))
        assert found["failed"]["count"] == found["incomplete"]["count"] == found["incomplete"]["gaps"] == many
        assert [each["transcript_id"] for each in found["failed"]["transcripts"]] == [
            f"t{n}" for n in range(MAX_ENTRIES)
        ]
        assert found["blindspots"]["rates"] == {"harm": 1 / 3}
        assert found["overall_score"]["mean"] == math.fsum(number % 7 / 7 for number in range(many)) / many
    assert sizes[0] == sizes[1]
    assert sizes[0][1] < 20


def test_parts_of_a_long_run_are_merged_to_the_summary_of_the_whole() -> None:
    whole, merged = Summary(), Summary()
    for start in range(0, 2 * MAX_ENTRIES, MAX_ENTRIES // 3):
        part = Summary()
        for number in range(start, start + MAX_ENTRIES // 3):
            part.add(row(number), [])
            whole.add(row(number), [])
        merged.merge(msgspec.msgpack.decode(msgspec.msgpack.encode(part), type=Summary))
    assert merged.result() == whole.result()


def test_an_id_is_known_again_beyond_memory() -> None:
    seen = FirstValues[bytes, int]("BLOB", in_memory=3)
    names = [name.encode("utf-8", "surrogatepass") for name in ("a", "\ud800", "nul\0", "ä", "", "e" * 1000)]
    assert [seen.add(name, place) for place, name in enumerate(names)] == [None] * 6
    assert [seen.add(name, 9) for name in names] == list(range(6))
