"""A finished run read by the tools of others: pyarrow, DuckDB, pandas, OpenTelemetry's own messages."""

import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from pyarrow import parquet
from tests.folders import read_lines
from tests.shared_data import ROOT

import rulewright
from rulewright.cli import main
from rulewright_runtime.runs.folder import read_manifest

DESK = ROOT / "benchmark" / "service_desk"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "desk"
    rulewright.scan(str(DESK), DESK / "chats", folder)
    return folder


@pytest.fixture(scope="module")
def tables(desk: Path) -> Path:
    assert main(["export", str(desk)]) == 0
    return desk


def asked(query: str) -> list[tuple[Any, ...]]:
    found = duckdb.sql(query)
    assert found is not None
    return found.fetchall()


def test_the_manifest_names_every_file_with_its_size_hash_and_rows(tables: Path) -> None:
    made = read_manifest(tables)
    assert made is not None
    assert {each.name for each in made.files} == {
        path.name for path in tables.iterdir() if not path.name.startswith((".", "manifest", "events", "every"))
    }
    for each in made.files:
        data = (tables / each.name).read_bytes()
        assert (each.bytes, each.sha256) == (len(data), hashlib.sha256(data).hexdigest())
        if each.name.endswith(".jsonl"):
            assert each.rows == len(data.splitlines())
    count = len(read_lines(tables / "verdicts.jsonl"))
    assert {each.name: each.rows for each in made.files}["verdicts.parquet"] == count
    assert made.plan == rulewright.load_run(tables).plan.hash


def test_the_same_plan_over_the_same_chats_has_the_same_id(desk: Path, tmp_path: Path) -> None:
    rulewright.scan(str(DESK), DESK / "chats", tmp_path / "again")
    ids = [made.run for folder in (desk, tmp_path / "again") if (made := read_manifest(folder))]
    assert ids[0] == ids[1]
    chats = tmp_path / "fewer.jsonl"
    chats.write_text("".join((DESK / "chats" / "recorded.jsonl").read_text("utf-8").splitlines(True)[1:]), "utf-8")
    rulewright.scan(str(DESK), chats, tmp_path / "fewer")
    fewer = read_manifest(tmp_path / "fewer")
    assert fewer is not None
    assert fewer.run not in ids


def test_duckdb_reads_verdicts_without_a_join(tables: Path) -> None:
    found = asked(
        f"select run, model, check_id, count(*) from '{tables / 'verdicts.parquet'}' "
        "where verdict = 'FAIL' group by all order by check_id"
    )
    expected: dict[tuple[str, str, str], int] = {}
    for row in read_lines(tables / "verdicts.jsonl"):
        if row["verdict"] == "FAIL":
            key = ("desk", row["model"], row["check_id"])
            expected[key] = expected.get(key, 0) + 1
    assert {tuple(each[:3]): each[3] for each in found} == expected
    lines = asked(f"select count(*) from '{tables / 'verdicts.jsonl'}' where check_id = 'answer-too-long'")
    assert lines == [(30,)]


def test_a_table_a_frame_and_the_records_hold_the_same(tables: Path) -> None:
    run = rulewright.load_run(tables)
    records = list(run.records())
    assert parquet.read_table(tables / "verdicts.parquet").to_pylist() == records
    assert type(run.verdicts).__name__ == "DataFrame"
    assert run.verdicts["verdict"].tolist() == [record["verdict"] for record in records]
    assert {(row["run"], row["run_id"]) for row in records} == {("desk", read_manifest(tables).run)}  # type: ignore[union-attr]


def test_the_scores_table_has_a_column_for_every_output(tables: Path) -> None:
    table = parquet.read_table(tables / "scores.parquet")
    stored = read_lines(tables / "scores.jsonl")
    assert table["transcript_id"].to_pylist() == [row["transcript_id"] for row in stored]
    assert table["outcome"].to_pylist() == [row["engine"]["outcome"] for row in stored]
    outputs = {name for row in stored for name in row} - {"engine"}
    assert outputs <= {name.partition(".")[0] for name in table.column_names}


def test_a_column_has_the_same_type_whether_or_not_a_transcript_has_a_value(tmp_path: Path) -> None:
    project = tmp_path / "project"
    assert main(["init", str(project)]) == 0
    rulewright.scan(str(project), project / "transcripts", tmp_path / "run", scorecard="two-tier")
    assert main(["export", str(tmp_path / "run")]) == 0
    schema = parquet.read_schema(tmp_path / "run" / "scores.parquet")
    table = parquet.read_table(tmp_path / "run" / "scores.parquet")
    absent, counted = (f"dimension_scores.{name}" for name in ("communication_quality", "boundary_integrity"))
    assert table[absent].null_count == table.num_rows
    assert schema.field(absent).type == schema.field(counted).type == pyarrow.float64()
    assert schema.field("overall_score").type == pyarrow.float64()
    assert schema.field("gates.safety.passed").type == pyarrow.bool_()
    assert table["gates.safety.reasons"].to_pylist() == [[], []]


OUTPUTS_LIKE_COLUMNS = """\
scorecard: card
output: {run: counts.any, path: "'here'", outcome: "'fine'", because: "1"}
counts: {any: "true"}
"""


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_an_output_with_the_name_of_another_column_replaces_nothing(tmp_path: Path, format: str) -> None:
    (tmp_path / "scorecards").mkdir()
    (tmp_path / "scorecards" / "card.yaml").write_text(OUTPUTS_LIKE_COLUMNS)
    run = scanned(tmp_path, "no")
    assert main(["export", str(run), "--format", format]) == 0
    path = run / f"scores.{format}"
    (found,) = table(path) if format == "csv" else parquet.read_table(path).to_pylist()
    assert (found["run"], Path(found["path"]).name, found["outcome"]) == ("run", "chats.jsonl", "passed")
    assert [str(found[f"output.{name}"]) for name in ("run", "path", "outcome", "because")] == [
        "1",
        "here",
        "fine",
        "1",
    ]


def attributes(event: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in event.attributes}


def events(path: Path) -> Iterator[Any]:
    for line in path.read_text(encoding="utf-8").splitlines():
        request = Parse(line, ExportLogsServiceRequest())  # refuses a field that OTLP does not have
        for logs in request.resource_logs:
            for scope in logs.scope_logs:
                yield from scope.log_records


def test_opentelemetry_reads_an_event_for_every_check_that_applied(desk: Path, tmp_path: Path) -> None:
    assert main(["export", str(desk), "--format", "otel", "--out", str(tmp_path / "events.jsonl")]) == 0
    found = [(event.event_name, attributes(event)) for event in events(tmp_path / "events.jsonl")]
    records = [record for record in rulewright.load_run(desk).records() if record["eligible"]]
    assert len(found) == len(records) > 0
    values = {"PASS": 1.0, "FAIL": 0.0}
    for (name, told), record in zip(found, records, strict=True):
        assert name == "gen_ai.evaluation.result"
        assert told["gen_ai.evaluation.name"] == record["check_id"]
        assert told["gen_ai.evaluation.score.label"] == record["verdict"]
        assert told.get("gen_ai.evaluation.score.value") == values.get(record["verdict"])
        assert told["rulewright.plan.hash"] == record["plan"]
        assert all(quote in told["gen_ai.evaluation.explanation"] for quote in record["quotes"])


def test_a_report_of_every_eval_ever_counts_what_was_not_decided(desk: Path, tmp_path: Path) -> None:
    words = ["--dataset", "desk/../chats", "--organization", "A bank", "--relationship", "first_party"]
    assert main(["export", str(desk), "--format", "every-eval-ever", "--out", str(tmp_path / "out"), *words]) == 0
    path, _ = sorted((tmp_path / "out").rglob("*.json"))
    assert path.relative_to(tmp_path / "out").parts[:2] == ("desk_.._chats", "desk-large")
    report = json.loads(path.read_text(encoding="utf-8"))
    assert set(report) == {
        *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "eval_library", "model_info"),
        "evaluation_results",
    }
    assert report["source_metadata"]["evaluator_relationship"] == "first_party"
    assert report["eval_library"]["additional_details"]["plan_hash"] == rulewright.load_run(desk).plan.hash
    by_check: dict[str, list[str]] = {}
    for record in rulewright.load_run(desk).records():
        if record["model"] == "desk-large" and record["eligible"] and record["verdict"] != "NOT_APPLICABLE":
            by_check.setdefault(record["check_id"], []).append(record["verdict"])
    shares = {each["evaluation_name"]: each for each in report["evaluation_results"]}
    for check, verdicts in by_check.items():
        assert shares[check]["score_details"]["score"] == verdicts.count("PASS") / len(verdicts)
        assert shares[check]["score_details"]["uncertainty"]["num_samples"] == len(verdicts)
        assert shares[check]["metric_config"]["lower_is_better"] is False


def test_no_report_replaces_that_of_a_model_with_a_similar_name(tmp_path: Path) -> None:
    chat = json.loads((DESK / "chats" / "recorded.jsonl").read_text("utf-8").splitlines()[0])
    rows = [json.dumps({**chat, "id": name, "model": name}) for name in ("org/m 1", "org/m_1")]
    (tmp_path / "chats.jsonl").write_text("\n".join([*rows, "{broken"]) + "\n", encoding="utf-8")
    rulewright.scan(str(DESK), tmp_path / "chats.jsonl", tmp_path / "run")
    assert main(["export", str(tmp_path / "run"), "--format", "every-eval-ever", "--out", str(tmp_path / "out")]) == 0
    reports = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("*.json")]
    assert sorted(report["model_info"]["id"] for report in reports) == ["org/m 1", "org/m_1"]
    assert {report["eval_library"]["additional_details"]["refused_inputs"] for report in reports} == {"1"}


def test_a_run_that_was_changed_is_not_exported(desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rulewright.scan(str(DESK), DESK / "chats", tmp_path / "run")
    path = tmp_path / "run" / "verdicts.jsonl"
    path.write_text(path.read_text("utf-8").replace('"FAIL"', '"PASS"', 1), "utf-8")
    assert main(["export", str(tmp_path / "run")]) == 3
    assert "is not the file that `manifest.json` names" in capsys.readouterr().err
    assert not (tmp_path / "run" / "verdicts.parquet").exists()


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_spreadsheet_reads_verdicts_and_scores(desk: Path, tmp_path: Path) -> None:
    assert main(["export", str(desk), "--format", "csv", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "verdicts.csv").read_bytes().startswith(b"\xef\xbb\xbfrun,run_id,plan,transcript_id,")
    verdicts, scores = table(tmp_path / "verdicts.csv"), table(tmp_path / "scores.csv")
    stored = read_lines(desk / "verdicts.jsonl")
    assert [each["verdict"] for each in verdicts] == [each["verdict"] for each in stored]
    assert [each["quotes"].split("\n")[0] for each in verdicts if each["quotes"]] == [
        each["evidence"][0]["quote"] for each in stored if each["evidence"]
    ]
    assert {each["eligible"] for each in verdicts} <= {"TRUE", "FALSE"}
    assert len(scores) == len(read_lines(desk / "scores.jsonl"))
    assert {each["outcome"] for each in scores} <= {"passed", "failed", "undecided"}


def scanned(folder: Path, reply: str) -> Path:
    """A run of one check, which fails long replies, over one chat whose id looks like a formula."""
    (folder / "checks").mkdir()
    (folder / "rulewright.yaml").write_text("project: sums\n")
    (folder / "checks" / "sums.yaml").write_text("id: sums\neach: reply\nfail: size(turn.content) > 3\n")
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": reply}]
    (folder / "chats.jsonl").write_text(json.dumps({"id": "@SUM(A1)", "model": "ä", "messages": chat}))
    rulewright.scan(str(folder), folder / "chats.jsonl", folder / "run", overwrite=True)
    return folder / "run"


def test_a_quote_that_looks_like_a_formula_stays_a_text(tmp_path: Path) -> None:
    run = scanned(tmp_path, '=HYPERLINK("http://x")')
    assert main(["export", str(run), "--format", "csv"]) == 0
    (found,) = table(run / "verdicts.csv")
    assert (found["transcript_id"], found["model"], found["verdict"]) == ("'@SUM(A1)", "ä", "FAIL")
    assert found["quotes"].startswith("'=HYPERLINK")


def test_tables_for_spreadsheets_are_in_the_manifest_and_go_with_their_run(tmp_path: Path) -> None:
    run = scanned(tmp_path, "=1")
    assert main(["export", str(run), "--format", "csv"]) == 0
    manifest = read_manifest(run)
    assert manifest is not None
    assert {"verdicts.csv", "scores.csv"} <= {each.name for each in manifest.files}
    rulewright.scan(str(tmp_path), tmp_path / "chats.jsonl", run, overwrite=True)
    assert not (run / "verdicts.csv").exists()


def test_an_exported_verdict_says_who_decided_it(tmp_path: Path) -> None:
    run = scanned(tmp_path, "")
    decide = ["--decide", "@SUM(A1)", "sums", "PASS", "--by", "Ana", "--why", "=looked"]
    assert main(["adjudicate", str(run), *decide]) == 2  # the chat has no reply, so it can't pass
    assert main(["export", str(run / "adjudicated"), "--format", "csv"]) == 0
    (found,) = table(run / "adjudicated" / "verdicts.csv")
    assert (found["decided_by"], found["decided_why"]) == ("Ana", "'=looked")
