"""Reading cases and outputs: every shape of file, one clear message for what is wrong, and the rest is scored."""

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.folders import json_lines, write_lines
from tests.safe_cases import case, output, safe, write

from rulewright_runtime.cases import records
from rulewright_runtime.cases.case_reader import Batch, Case, CaseReader, Outputs
from rulewright_runtime.errors import InputError
from rulewright_runtime.files import json_scanner
from rulewright_runtime.files.scratch_database import FirstValues, TopPhrases


def read(path: Path, concern: str | None = "I25", outputs: Path | None = None) -> list[Case | InputError]:
    joined = None if outputs is None else Outputs(str(outputs))
    return list(CaseReader(safe().plan, concern, joined).cases(Batch(path.stem, str(path))))


def outcomes(items: list[Case | InputError]) -> list[str]:
    return [item.reason if isinstance(item, InputError) else item.problem or item.test_id for item in items]


def without_output(test_id: str) -> dict[str, Any]:
    record = case(test_id)
    del record["engine_output"]
    return record


def write_table(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write records as CSV, with a column for each path of keys."""
    flat = [dict(flattened(row)) for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in flat for name in row)))
        writer.writeheader()
        writer.writerows(flat)
    return path


def flattened(value: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, each in value.items():
        if isinstance(each, dict):
            yield from flattened(each, f"{above}{key}.")
        else:
            yield f"{above}{key}", each if isinstance(each, str) else json.dumps(each)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("test_id,expectations\nT1,x\n", 2, "`expectations` must be an object, not a text"),
        ("test_id,a.b,a\n,,\nT1,x,y\n", 3, "the column `a` and another one contain the same key"),
        ("test_id,a\nT1,x,y\n", 2, "the row has 3 fields; the header names 2"),
        ("a,a\n1,2\n", 1, "the header names the column `a` twice"),
        ("test_id\n", 0, "the table has no rows"),
        ("name\nT1\n", 2, "the case has no `test_id`"),
    ],
)
def test_a_row_that_is_not_a_case_is_refused_with_its_line(text: str, line: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text(text, encoding="utf-8")
    last = read(path)[-1]
    assert outcomes([last])[0].startswith(message)
    assert last.line == line


def test_an_empty_cell_is_a_missing_key_and_never_an_empty_list(tmp_path: Path) -> None:
    record = case("T1")
    record["expectations"]["followup_questions"]["forbidden_terms"] = ""
    (item,) = read(write_table(tmp_path / "b.csv", [record]))
    assert isinstance(item, Case)
    assert item.is_refused
    assert "forbidden_terms" in (item.problem or "")


def test_an_array_an_object_lines_and_a_wrapper_are_read_the_same(tmp_path: Path) -> None:
    cases = [case("T1"), case("T2")]
    write(tmp_path / "array.json", cases)
    write(tmp_path / "object.json", {"batch_id": "b", "concern_id": "I25", "test_cases": cases})
    (tmp_path / "lines.jsonl").write_text(json_lines(cases) + "\n")
    write_lines(tmp_path / "lines.json", cases)
    wrapped = [
        {"id": "x", "test_case": without_output(c["test_id"]), "engine_output": c["engine_output"]} for c in cases
    ]
    write(tmp_path / "wrapped.json", wrapped)
    write(tmp_path / "output.json", [without_output(c["test_id"]) | {"output": c["engine_output"]} for c in cases])
    write(tmp_path / "flat.json", [without_output(c["test_id"]) | c["engine_output"] for c in cases])
    write_table(tmp_path / "rows.csv", cases)
    for path in sorted(tmp_path.iterdir()):
        path.with_name(f"bom-{path.name}").write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    for path in sorted(tmp_path.iterdir()):
        items = read(path)
        assert outcomes(items) == ["T1", "T2"], path.name
        assert all(isinstance(item, Case) and item.inputs["summary"] == "Seen late." for item in items)


def test_outputs_are_joined_by_test_id(tmp_path: Path) -> None:
    path = write(tmp_path / "cases" / "b.json", [without_output("T1"), without_output("T2")])
    outputs = {name: {"test_id": name, **output(name)} for name in ("T1", "T2")}
    places = [
        write(tmp_path / "list.json", list(outputs.values())),
        write(tmp_path / "map.json", {name: output(name) for name in outputs}),
        write(tmp_path / "wrapped.json", [{"test_id": name, "engine_output": o} for name, o in outputs.items()]),
        write(tmp_path / "folder" / "T1.json", output("T1")).parent,
    ]
    write(tmp_path / "folder" / "T2.json", output("T2"))
    places.append(write(tmp_path / "wrapped" / "T1.json", {"engine_output": output("T1")}).parent)
    write(tmp_path / "wrapped" / "T2.json", {"engine_output": output("T2")})
    places.append(write_table(tmp_path / "rows.csv", list(outputs.values())))
    for place in places:
        items = read(path, outputs=place)
        assert [item.inputs["summary"] for item in items if isinstance(item, Case)] == ["T1", "T2"], place


def test_the_output_named_like_the_batch_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "b2.json", [without_output("T1")])
    for name in ("b1", "b2"):
        write(tmp_path / "outputs" / f"{name}.json", [{"test_id": "T1", **output(name)}])
    (item,) = read(path, outputs=tmp_path / "outputs")
    assert isinstance(item, Case)
    assert item.inputs["summary"] == "b2"


def test_many_outputs_and_cases_of_one_test_id_are_compared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0
    original = Outputs._bytes

    def counted(self: Outputs, reference: Any) -> bytes:
        nonlocal compared
        compared += 1
        return original(self, reference)

    monkeypatch.setattr(Outputs, "_bytes", counted)
    path = write(tmp_path / "b.json", [without_output("T1")] * 50)
    for name in range(40):
        write(tmp_path / "outputs" / f"{name}.json", [{"test_id": "T1", "summary": f"{name % 20}"}])
    messages = outcomes(read(path, outputs=tmp_path / "outputs"))
    folder = tmp_path / "outputs"
    shown = ", ".join(str(folder / name) for name in ("0.json", "1.json", "10.json"))
    assert messages == [f"20 different outputs have the test id, in {shown} and 37 more"] * len(messages)
    assert len(messages) == 50
    assert compared == 40


def test_an_output_is_also_found_by_the_second_name_of_its_case(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", [{"id": "x", "test_case": without_output("T1")}])
    (item,) = read(path, outputs=write(tmp_path / "out.json", [{"id": "x", **output("Late.")}]))
    assert isinstance(item, Case)
    assert (item.test_id, item.problem, item.inputs["summary"]) == ("T1", None, "Late.")


def test_two_different_outputs_for_a_case_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", [without_output("T1")])
    for name in ("x", "y"):
        write(tmp_path / "outputs" / f"{name}.json", [{"test_id": "T1", "summary": name}])
    (message,) = outcomes(read(path, outputs=tmp_path / "outputs"))
    assert message.startswith("2 different outputs have the test id, in ")
    for name in ("x", "y"):
        write(tmp_path / "same" / f"{name}.json", [{"test_id": "T1", **output("Late.")}])
    write(path, [{**without_output("T1"), "engine_output": output("Late.")}])
    assert outcomes(read(path, outputs=tmp_path / "same")) == ["T1"]
    write(path, [{**without_output("T1"), "engine_output": output("Early.")}])
    (message,) = outcomes(read(path, outputs=tmp_path / "same"))
    assert message.startswith("the case contains another output than ")
    assert message.endswith("; remove one of the two")


BAD: dict[str, tuple[Any, str]] = {
    "a scenario given as a text": ("just words", "$[0]: a case must be an object with `test_id`"),
    "a number": (7, "$[0]: a case must be an object with `test_id`"),
    "no test id": (
        {key: value for key, value in case("T1").items() if key != "test_id"},
        "$[0]: the case has no `test_id`",
    ),
    "neither a test id nor a list": (
        {"expectations": {}},
        "$[0]: the case has no `test_id`: `signal_generation` is missing in `expectations`",
    ),
    "signals that are a text": (
        case("T1", signals="fever"),
        '`engine_output.signals` must be a list, not a text; write it like `["fever", "cough"]`',
    ),
    "a signal that is a number": (
        case("T1", signals=["fever", 7]),
        "`engine_output.signals[1]` must be a text, not a number",
    ),
    "a summary that is a list": (case("T1", summary=["x"]), "`engine_output.summary` must be a text, not a list"),
    "phrases that are null": (
        case("T1", must=[None]),
        "`expectations.signal_generation.must_find_signals[0]` must be a text, not null",
    ),
    "an output that is a text": (case("T1") | {"engine_output": "x"}, "`engine_output` must be an object, not a text"),
    "a wrapped case of a wrong type": (
        {"id": "T1", "test_case": {"test_id": "T1", "expectations": 7}},
        "`test_case.expectations` must be an object, not a number",
    ),
    "a case inside and outside": (
        {"id": "T1", "expectations": case("T1")["expectations"], "test_case": case("T1")},
        "`expectations` is outside of `test_case`, which contains the case",
    ),
    "an engine that failed": (case("T1") | {"error": "time out"}, "the engine failed: time out"),
}


@pytest.mark.parametrize(("record", "message"), BAD.values(), ids=BAD)
def test_a_bad_record_gives_one_message_and_the_rest_is_read(record: Any, message: str, tmp_path: Path) -> None:
    assert outcomes(read(write(tmp_path / "b.json", [record, case("T9")]))) == [message, "T9"]


def test_a_test_id_with_two_contents_is_refused_and_an_exact_repetition_is_not(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", [case("T1"), case("T1", summary="other"), case("T1")])
    assert outcomes(read(path)) == ["T1", "the test id `T1` already exists with different content", "T1"]


def test_a_bad_record_has_a_test_id_like_any_other(tmp_path: Path) -> None:
    bad = case("T1", signals="fever")
    wrapped = {"id": "outer", "test_case": without_output("T2") | {"expectations": 7, "archetype": "B"}}
    path = write(tmp_path / "b.json", [bad, case("T1"), bad, wrapped])
    first, second, third, fourth = read(path)
    assert isinstance(first, Case)
    assert isinstance(third, Case)
    assert (first.test_id, third.test_id) == ("T1", "T1")
    assert outcomes([second]) == ["the test id `T1` already exists with different content"]
    assert isinstance(fourth, Case)
    assert (fourth.test_id, fourth.archetype) == ("T2", "B")
    assert fourth.problem == "`test_case.expectations` must be an object, not a number"


def test_a_bad_record_of_another_concern_is_left_out_as_well(tmp_path: Path) -> None:
    bad = case("T1", signals="fever") | {"concern_id": "X9"}
    path = write(tmp_path / "b.json", [bad, {"id": "T2", "test_case": bad}, case("T3")])
    assert outcomes(read(path)) == ["T3"]
    assert (
        outcomes(read(path, concern=None))[0]
        == '`engine_output.signals` must be a list, not a text; write it like `["fever", "cough"]`'
    )


def test_an_output_that_is_null_is_none_at_all(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", [without_output("T1"), without_output("T2"), without_output("T3")])
    outputs = [{"test_id": "T1", "engine_output": None}, {"test_id": "T2"}, {"test_id": "T3", "output": output()}]
    items = read(path, outputs=write(tmp_path / "o.json", outputs))
    none = "the case has no output of the engine"
    assert outcomes(items) == [none, none, "T3"]


def test_the_order_of_a_folder_does_not_change_which_outputs_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", [without_output(f"T{n}") for n in range(40)])
    for n in range(40):
        write(tmp_path / "o" / str(n % 7) / f"T{n}.json", output(f"{n}"))
    (tmp_path / "o" / "3" / "broken.json").write_text("{")
    (tmp_path / "o" / "1" / "broken.json").write_text("{")
    outputs = Outputs(str(tmp_path / "o"))
    items = list(CaseReader(safe().plan, "I25", outputs).cases(Batch("b", str(path))))
    assert [item.inputs["summary"] for item in items if isinstance(item, Case)] == [str(n) for n in range(40)]
    assert [Path(error.path).parent.name for error in outputs.errors] == ["1", "3"]


def test_a_folder_of_outputs_that_holds_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    with pytest.raises(InputError):
        Outputs(str(tmp_path / "o"))


@pytest.mark.parametrize("recent", [0, 100, 2**20])
def test_many_test_ids_are_remembered_in_little_memory(recent: int, tmp_path: Path) -> None:
    seen = FirstValues[int, int]("INTEGER", in_memory=recent)
    assert all(seen.add(hash(f"T{n}"), n) is None for n in range(5_000))
    assert all(seen.add(hash(f"T{n}"), n + 1) == n for n in range(5_000))
    path = tmp_path / "b.jsonl"
    write_lines(path, (case(f"T{n % 2000}") for n in range(4000)))
    assert all(isinstance(item, Case) for item in read(path))


def test_cases_of_other_concerns_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", [case("T1"), case("T2") | {"concern_id": "X"}])
    reader = CaseReader(safe().plan, "I25")
    assert outcomes(list(reader.cases(Batch("b", str(path))))) == ["T1"]
    assert reader.other_concerns == 1
    whole = write(tmp_path / "x.json", {"concern_id": "X", "cases": [case("T1")]})
    assert list(reader.cases(Batch("x", str(whole)))) == []
    assert reader.other_concerns == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("[", "the file ends inside the array, after 0 elements"),
        ('[{"test_id": "a"}', "the file ends inside the array, after 1 element"),
        ("[] 7", "unexpected text after the end of the array"),
        ('{"cases": [', "the JSON ends too early"),
        ("hello", "malformed JSON at byte 0"),
        ('"x"', "$: must be an array or an object of cases"),
    ],
)
def test_a_broken_file_gives_one_message(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    assert message in outcomes(read(path))


@pytest.mark.parametrize("text", ["[]", '{"cases": []}'])
def test_a_batch_without_a_case_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    (refused,) = read(path)
    assert isinstance(refused, InputError)
    assert (refused.path, refused.reason) == (str(path), "the batch contains no cases")


def test_a_broken_letter_anywhere_is_said_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    text = json.dumps([case("T1"), case("T2"), without_output("T3")]).encode()
    path.write_bytes(text.replace(b"forbidden_terms", b"f\xf6rbidden_terms", 1))
    apart = write(tmp_path / "T3.json", {"test_id": "T3", **output("x", metadata={"by": "u"})})
    apart.write_bytes(apart.read_bytes().replace(b"by", b"b\xfc"))
    first, *rest = outcomes(read(path, outputs=apart))
    assert first.startswith("not UTF-8 at byte ")
    assert rest[0] == "T2"
    assert rest[1].startswith(f"{apart}: not UTF-8 at byte ")


def test_a_broken_line_gives_its_number(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(f'{json.dumps(case("T1"))}\n{{"test_id": \n{json.dumps(case("T3"))}\n')
    one, two, three = read(path)
    assert isinstance(two, InputError)
    assert (two.line, two.reason) == (2, "the JSON ends too early")
    assert outcomes([one, three]) == ["T1", "T3"]


def test_a_file_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    (item,) = read(tmp_path / "no.json")
    assert isinstance(item, InputError)


def anything(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(8 if depth < 4 else 5)
    if kind < 2:
        return "".join(chance.choice('ab"\\[]{},: é') for _ in range(chance.randrange(9)))
    if kind < 5:
        return (chance.randrange(100), None, True)[kind - 2]
    if kind == 5:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {f'{at}"[': anything(chance, depth + 1) for at in range(chance.randrange(4))}


@pytest.mark.parametrize("chunk", [1, 3, 64, 1000])
def test_an_array_is_split_the_same_however_the_file_arrives(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_scanner, "CHUNK", chunk)
    chance = random.Random(chunk)
    path = tmp_path / "a.json"
    for _ in range(60):
        document = [anything(chance) for _ in range(chance.randrange(6))]
        text = json.dumps(document, indent=chance.choice([None, 1]), ensure_ascii=chance.random() < 0.5)
        path.write_text(text, encoding="utf-8")
        found = [item for item in records.records_of(str(path))[1] if isinstance(item, records.Record)]
        assert [json.loads(record.data) for record in found] == document
        whole = path.read_bytes()
        assert all(whole[r.start : r.start + len(r.data)] == r.data for r in found)
        path.write_text(text[: chance.randrange(1, len(text))], encoding="utf-8")
        assert any(isinstance(item, InputError) for item in records.records_of(str(path))[1])


def test_phrases_are_counted_exactly_when_they_do_not_fit_in_memory() -> None:
    chance = random.Random(5)
    small, large = TopPhrases(5, in_memory=7), TopPhrases(5)
    for _ in range(4000):
        phrases = [f"p{int(chance.triangular(0, 40, 3))}" for _ in range(3)]
        small.add(phrases)
        large.add(phrases)
    assert small.most() == large.most()


def test_records_with_names_of_their_own_may_share_a_test_id(tmp_path: Path) -> None:
    one, two = ({"id": name, "test_case": without_output("T1"), "output": output(name)} for name in ("x", "y"))
    items = read(write(tmp_path / "b.json", [one, two]))
    assert [(item.id, item.test_id) for item in items if isinstance(item, Case)] == [("x", "T1"), ("y", "T1")]


PLANS: dict[str, Any] = {
    "objects": {"batch_plan": {"scenario_count": 3, "scenarios": [{"archetype": "P"}, {}, {"archetype": "S"}]}},
    "texts with a tag": {"batch_plan": {"scenarios": ["Generated Case 1: [P] 6yo male [x y]", "no tag", "[S] late"]}},
    "names": {"batch_plan": {"scenarios": ["P", "", "S"]}},
    "a strategy": {"batch_strategy": {"scenarios": [{"archetype": "P"}, {"archetype": None}, {"archetype": "S"}]}},
    "a strategy before a plan": {
        "batch_plan": {"scenarios": ["X", "X", "X"]},
        "batch_strategy": {"scenarios": ["P", 7, "S"]},
    },
}  # fmt: skip


@pytest.mark.parametrize("chunk", [100, 1 << 18])
@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize("about", PLANS.values(), ids=PLANS)
def test_archetypes_of_the_plan_of_a_batch_are_those_of_the_cases_at_the_same_place(
    about: dict[str, Any], behind: bool, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_scanner, "CHUNK", chunk)
    cases = {"test_cases": [case("T1", None), case("T2", None), case("T3", None), case("T4", "own")]}
    path = write(tmp_path / "b.json", {**cases, **about} if behind else {**about, **cases})
    assert [each.archetype for each in read(path) if isinstance(each, Case)] == ["P", None, "S", "own"]


@pytest.mark.parametrize("plan", [None, 7, "x", [], {"scenarios": None}, {"scenarios": {"0": {"archetype": "P"}}}])
def test_a_plan_that_says_nothing_of_archetypes_is_skipped(plan: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", {"batch_plan": plan, "test_cases": [case("T1", None)]})
    (only,) = read(path)
    assert isinstance(only, Case)
    assert (only.archetype, only.problem) == (None, None)


def test_an_object_that_is_too_long_says_what_to_do_and_long_files_of_lines_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (records, json_scanner):
        monkeypatch.setattr(module, "MAX_RECORD", 2000)
    monkeypatch.setattr(json_scanner, "CHUNK", 100)
    long, lines, single = tmp_path / "long.json", tmp_path / "lines.json", tmp_path / "single.jsonl"
    long.write_text(json.dumps({"what": [case(f"T{n}") for n in range(20)]}, indent=1))
    write_lines(lines, (case(f"T{n}") for n in range(20)))
    single.write_text(json.dumps(case("T1")) + "\n" + json.dumps(case("T2", summary="x" * 3000)))
    (refused,) = records.records_of(str(long))[1]
    assert isinstance(refused, InputError)
    assert "neither a list, an object that contains one, nor JSON lines" in refused.reason
    assert len(list(records.records_of(str(lines))[1])) == 20
    first, second = records.records_of(str(single))[1]
    assert isinstance(first, records.Record)
    assert isinstance(second, InputError)
    assert (second.line, second.reason) == (2, "the line is longer than 2000 bytes")


LISTS: dict[str, tuple[str, list[str]]] = {
    "what stands beside the list": (
        '{"a": {"cases": [9]}, "batch_id": 7, "cases": [1, 2], "concern_id": "I25"} ',
        ["1", "2"],
    ),
    "what can be cut in two": ('{"cases": [0.25, "\\u00e9", true, -1e-3]}', ["0.25", '"\\u00e9"', "true", "-1e-3"]),
    "the first of several": ('{"outputs": [1], "test_cases": [2], "cases": [3]}', ["2"]),
    "a list that is none": ('{"test_cases": 1, "cases": [ "]" , [2] ]}', ['"]"', "[2]"]),
    "an empty list": ('{"cases": []}', []),
    "a doubled key": ('{"cases": [1], "cases": [2]}', ["duplicate key `cases`"]),
    "a doubled key beside the list": ('{"a": 1, "cases": [1], "a": 2}', ["duplicate key `a`"]),
    "a second list of cases": (
        '{"casess": [{"test_id": "T1"}], "cases": [2]}',
        ["$.casess: contains cases, but only those in `cases` are read; keep one list in a file", "2"],
    ),
    "a second list that might be read": (
        '{"tests": [1, {"expectations": {}}], "cases": [2]}',
        ["$.tests: contains cases, but only those in `cases` are read; keep one list in a file", "2"],
    ),
    "no list": ('{"a": [1]}', ['{"a": [1]}']),
    "an empty object": (" {} ", [" {} "]),
    "a missing comma": ('{"cases": [1 2]}', ["malformed JSON at byte 13"]),
    "another sign than a comma": ('{"cases": [1, 2]; "a": 3}', ["malformed JSON at byte 16"]),
    "another sign than a colon": ('{"cases" = [1, 2]}', ["malformed JSON at byte 9"]),
    "a missing end": ('{"cases": [1, 2]', ["the JSON ends too early"]),
    "a comma too many": ('{"cases": [1, 2],}', ["malformed JSON at byte 17"]),
    "something that follows": ('{"cases": [1]} x', ["malformed JSON at byte 16"]),
}


@pytest.mark.parametrize("size", [1, 5, 1 << 18])
@pytest.mark.parametrize(("text", "expected"), LISTS.values(), ids=LISTS)
def test_the_list_of_an_object_is_the_same_however_the_file_arrives(
    text: str, expected: list[str], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_scanner, "CHUNK", size)
    path = tmp_path / "b.json"
    path.write_text(text)
    header, found = records.records_of(str(path))
    items = list(found)
    assert [each.reason if isinstance(each, InputError) else each.data.decode() for each in items] == expected
    assert all(text.encode()[r.start :].startswith(r.data) for r in items if isinstance(r, records.Record))
    if '"batch_id"' in text:
        assert header == records.BatchHeader("7", "I25")
        assert [r.path for r in items if isinstance(r, records.Record)] == ["$.cases[0]", "$.cases[1]"]


def test_json_lines_without_a_record_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text("\n\n")
    (refused,) = records.records_of(str(path))[1]
    assert isinstance(refused, InputError)
    assert refused.reason == "the file is empty"


@pytest.mark.parametrize("size", [1, 5, 1 << 18])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[1,{"a":},2]', ["1", '{"a":}', "2"]),
        ("[1,},2]", ["1", "}", "2"]),
        ('[1,{"a" "],"}{"b":1}]', ["1", '{"a" "],"}', "malformed JSON: no comma before `$[2]`", '{"b":1}']),
        ("[1 2]", ["1", "malformed JSON: no comma before `$[1]`", "2"]),
        ("[1,,2]", ["1", "malformed JSON: 2 commas before `$[1]`", "2"]),
        ("[,1]", ["malformed JSON: 1 comma before `$[0]`", "1"]),
        ("[1,]", ["1", "malformed JSON: 1 comma after the last element"]),
        ("[1,", ["1", "the file ends inside the array, after 1 element"]),
        ("[1,tru,2]", ["1", "tru", "2"]),
        ("[1,[{]", ["1", "the file ends inside the array, after 1 element"]),
        ('[1,{"a', ["1", "the file ends inside the array, after 1 element"]),
        ("[1,2", ["1", "2", "the file ends inside the array, after 2 elements"]),
    ],
)
def test_an_element_that_can_not_be_read_ends_where_its_brackets_do(
    text: str, expected: list[str], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_scanner, "CHUNK", size)
    path = tmp_path / "b.json"
    path.write_text(text)
    found = records.records_of(str(path))[1]
    assert [each.reason if isinstance(each, InputError) else each.data.decode() for each in found] == expected
