"""`inspect-data`, `convert` and `--columns`: what a user sees of files of chats."""

import json
from pathlib import Path

import pytest

from rulewright.cli import main
from rulewright.reporting.data_summary import summary_lines, summary_of
from rulewright_runtime.transcripts.transcript_reader import Reader

CHAT = {"id": "one", "messages": [{"role": "user", "content": "Привет"}, {"role": "assistant", "content": "hello"}]}


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps(CHAT) + "\n")
    return path


def test_inspect_data_counts_for_programs(chats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect-data", str(chats), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["conversations"], found["formats"], found["refused"]) == (1, {"openai": 1}, 0)
    assert found["scripts"] == {"Cyrillic": 1, "Latin": 1}
    assert found["characters"]["user"] == {"min": 6, "median": 6, "max": 6}


def test_the_median_of_two_numbers_is_between_them(chats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = [*CHAT["messages"], {"role": "user", "content": "So?"}]
    chats.write_text(f"{json.dumps(CHAT)}\n{json.dumps({**CHAT, 'id': 'longer', 'messages': more})}\n")
    assert main(["inspect-data", str(chats)]) == 0
    least = len(CHAT["messages"])
    assert f", {least} to {least + 1}, median {least}.5 in a conversation" in capsys.readouterr().out


def test_inspect_data_counts_chats_with_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = ("<p>Rembours&eacute;</p>", "use <b> and a > b", "<3", "if a<b and c>d, <i>")
    chats = [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": each}]} for each in said]
    (tmp_path / "chats.jsonl").write_text("\n".join(map(json.dumps, chats)), encoding="utf-8")
    assert main(["inspect-data", str(tmp_path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["holds"] == {"HTML": 1}


def test_inspect_data_of_nothing_readable_exits_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect-data", str(tmp_path)]) == 3
    shown = capsys.readouterr()
    assert shown.out == "files  1, 0 conversations, 1 refused\n"
    assert shown.err == f"error: {tmp_path}: the folder contains no file of chats, such as `*.jsonl`\n"
    (tmp_path / "a.txt").write_text("Anna: Hallo\nKunde: Hallo\n", encoding="utf-8")
    assert main(["inspect-data", str(tmp_path)]) == 3
    assert "(name yours with `--columns user=NAME,assistant=NAME`)\nnote: 1 file not read" in capsys.readouterr().err


def test_convert_does_not_replace_a_file_unasked(chats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = chats.read_bytes()
    assert main(["convert", str(chats), str(chats)]) == 3
    assert chats.read_bytes() == before
    assert "already exists" in capsys.readouterr().err
    assert main(["convert", str(chats), str(chats.parent), "--overwrite"]) == 3
    assert capsys.readouterr().err == f"error: `{chats.parent}` is a folder; name a file in it\n"
    assert main(["convert", str(chats), "--out", str(chats)]) == 3
    assert "did you mean `rulewright convert IN OUT`?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["out.csv", "out.TSV", "out.csv.gz", "out.eval", "out.zip", "out.xlsx", "out.tar.gz"])
def test_convert_refuses_a_name_under_which_its_lines_would_be_read_as_another_format(
    chats: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(chats), str(chats.parent / name)]) == 3
    assert "`convert` writes JSON lines (`.jsonl`) or Parquet" in capsys.readouterr().err
    assert not (chats.parent / name).exists()


def test_convert_writes_no_turns_without_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"messages": [{"role": "user", "content": "a"}]}\n', encoding="utf-8")
    out = tmp_path / "b.jsonl"
    words = ["convert", str(tmp_path / "a.jsonl"), str(out), "--to", "turns"]
    assert main(words) == 3
    said = capsys.readouterr().err
    assert "turns are of a scenario, and this chat has none; use `--to openai`" in said
    assert f"error: no conversation to write; `{out}` is left as it is" in said
    assert not out.exists()
    out.write_text("mine", encoding="utf-8")
    assert main([*words, "--overwrite"]) == 3
    assert out.read_text(encoding="utf-8") == "mine"


def test_convert_writes_what_can_be_read_and_says_what_cannot(
    chats: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with chats.open("a") as stream:
        stream.write("{broken\n")
    out = tmp_path / "out.jsonl"
    assert main(["convert", str(chats), str(out), "--to", "openai"]) == 3
    assert json.loads(out.read_text("utf-8"))["messages"] == CHAT["messages"]
    assert capsys.readouterr().err.startswith(f"error: {chats}:2: the line is not JSON")


@pytest.mark.parametrize(
    ("mapping", "guess"),
    [
        ("usr=q", "; did you mean `user`?\n"), ("question=user", "; did you mean `user=question`?\n"),
        ("question", "timestamp\n"), ("user=", "timestamp\n"),
    ],
)  # fmt: skip
def test_a_mapping_of_unknown_fields_is_bad_usage(
    chats: Path, capsys: pytest.CaptureFixture[str], mapping: str, guess: str
) -> None:
    assert main(["inspect-data", str(chats), "--columns", mapping]) == 3
    said = capsys.readouterr().err
    assert f"`{mapping}` is not `FIELD=NAME`; the fields are messages, conversation," in said
    assert guess in said


def test_a_scan_reads_a_table_by_its_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "p"]) == 0
    monkeypatch.chdir(tmp_path / "p")
    Path("faq.csv").write_text("q,a\nhi,I am always here for you.\n")
    assert main(["scan", "faq.csv", "--out", "run", "--columns", "user=q,assistant=a"]) == 1
    (row,) = map(json.loads, Path("run/verdicts.jsonl").read_text("utf-8").splitlines())
    assert (row["transcript_id"], row["verdict"]) == ("faq:2", "FAIL")


def test_a_long_fact_is_wrapped_and_not_cut(tmp_path: Path) -> None:
    record = {"messages": [{"role": "user", "content": "Hi"}], **{f"a_long_key_{letter}": 1 for letter in "abcdef"}}
    chats = tmp_path / "chats.jsonl"
    chats.write_text(json.dumps(record), encoding="utf-8")
    lines = summary_lines(summary_of(Reader().read([chats])).result(), 60)
    assert max(map(len, lines)) <= 60
    assert all(f"metadata.a_long_key_{letter} 1" in " ".join(lines) for letter in "abcdef")
