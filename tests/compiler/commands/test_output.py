"""Where the output of a command goes: a file, a folder or, for a dash, standard output."""

import json
from pathlib import Path

import pytest
from tests.compiler.commands.test_commands import BENCHMARK, run

FILES: dict[str, tuple[str, ...]] = {
    "convert": ("convert", f"{BENCHMARK}/transcripts", "-"),
    "diff": ("diff", "run", "run", "--out", "-"),
    "export": ("export", "run", "--format", "otel", "--out", "-"),
    "gold": ("gold", "run", "--out", "-"),
    "leaderboard": ("leaderboard", "run", "--out", "-"),
    "lint": ("lint", str(BENCHMARK), "--format", "json", "--output-file", "-"),
    "questions": ("questions", f"{BENCHMARK}/transcripts", "--project", str(BENCHMARK), "--out", "-"),
    "report": ("report", "run", "--format", "json", "--out", "-"),
}


def test_a_dash_is_standard_output_and_no_file_or_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run(capsys, "demo", "--out", "run")
    for name, words in FILES.items():
        _, out, err = run(capsys, *words)
        assert out, (name, err)
        assert "wrote" not in err, name
        if name not in ("diff", "gold"):
            assert json.loads(out.splitlines()[0] if out.startswith('{"') else out), name
    for words in (
        ("scan", "run", "--out", "-"),
        ("plan", "run", "--out", "-"),
        ("rescore", "run", "--out", "-"),
        ("adjudicate", "run", "--out", "-"),
        ("demo", "--out", "-"),
        ("export", "run", "--format", "csv", "--out", "-"),
    ):
        code, _, err = run(capsys, *words)
        assert (code, "`-` is standard output" in err) == (3, True), words
    for place in ("-", "both.jsonl"):
        code, out, err = run(capsys, *FILES["questions"][:-1], place, "--batch", place, "--model", "m")
        assert (code, out, f"`{place}` can't be both the questions and the batch" in err) == (3, "", True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run"]
