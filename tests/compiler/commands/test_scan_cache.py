"""A second scan of an unchanged project takes the kept plan; whatever is not what we kept is compiled again."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests import folders
from tests.compiler.dependencies_of import noted_and_opened

from rulewright import result_cache
from rulewright.cli import main
from rulewright.dependencies import digest
from rulewright_runtime.plan.envelope import content_hash, encode
from rulewright_runtime.plan.file import decode, seal
from rulewright_runtime.plan.scan import Plan

COMPILING = {"jinja2", "jsonschema", "lark", "rulewright.check.project_check", "rulewright.project", "yaml"}
SLOW = {"dataclasses", "pathlib"}  # and what these import
RUN_FILES = ("inputs.jsonl", "plan.json", "scores.jsonl", "summary.json", "summary.md", "verdicts.jsonl")
FILES = {
    "rulewright.yaml": "project: p\nchecks: ${CHECKS:-checks}\n",
    "checks/W-1.yaml": "id: W-1\nname: w\nprimary_bucket: C\nseverity: S2\nscope: universal\n"
    "routing: {route: lexicon_only, deterministic_precheck: words}\n",
    "lexicons/words.yaml": "patterns: [you must]\n",
    "configs/profiles.yaml": "publish: {include_all: true}\nother: {include_all: true}\n",
    "talk.jsonl": '{"id": "t", "messages": [{"role": "user", "content": "no?"},'
    ' {"role": "assistant", "content": "You must go."}]}\n',
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(result_cache, "programs", lambda: "these programs")
    monkeypatch.delenv("CHECKS", raising=False)
    folders.write(tmp_path / "p", FILES)
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def scan(*words: str) -> dict[str, bytes]:
    """The files of a run, with its exit code under ``."""
    status = main(["scan", "talk.jsonl", "--out", "run", "--overwrite", *words])
    return {"": bytes([status]), **{name: Path("run", name).read_bytes() for name in RUN_FILES}}


def without_compiling(*words: str) -> dict[str, bytes] | None:
    """The same from a kept plan; None where a project has to be read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rulewright.commands.chosen_project.load_project", None)
        Path("run", "plan.json").unlink(missing_ok=True)
        status = main(["scan", "talk.jsonl", "--out", "run", "--overwrite", *words])
        return None if not Path("run", "plan.json").exists() else {"": bytes([status]), **scan(*words)}


def entry() -> Path:
    (found,) = Path(os.environ["XDG_CACHE_HOME"], "rulewright", "plans").iterdir()
    return found


def rewritten(change: Callable[[bytes, bytes], bytes]) -> None:
    """Change the head and the content of the only entry, with a checksum that fits."""
    head, _, content = entry().read_bytes().partition(b"\n")[2].partition(b"\n")
    body = change(head, content)
    entry().write_bytes(digest(body).encode() + b"\n" + body)


def test_an_unchanged_project_gives_the_same_bytes_without_being_read(project: Path) -> None:
    first = scan()
    assert without_compiling() == first
    assert scan("--no-cache") == first
    assert without_compiling("--no-cache") is None
    assert without_compiling("--profile", "other") is None


def write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: folders.write(folder, {name: text})


CHANGES: dict[str, Callable[[Path], object]] = {
    "another pattern": write("lexicons/words.yaml", "patterns: [you may not]\n"),
    "as many bytes": write("lexicons/words.yaml", "patterns: [you mist]\n"),
    "a check more": write("checks/W-2.yaml", FILES["checks/W-1.yaml"].replace("W-1", "W-2")),
    "a check less": lambda folder: (folder / "checks/W-1.yaml").unlink(),
    "a place where one looks": write("configs/blindspots.yaml", "W-1: x\n"),
    "a scorecard": write("configs/scorecards/one.yaml", "scorecard: one\n"),
    "a mistake": write("checks/W-1.yaml", "id: W-1\nseverity: S9\n"),
    "no project file": lambda folder: (folder / "rulewright.yaml").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_compiled(change: Callable[[Path], object], project: Path) -> None:
    scan()
    change(project)
    assert without_compiling() is None


def test_a_variable_of_the_project_file_is_noticed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan()
    monkeypatch.setenv("CHECKS", "checks")
    assert without_compiling() is None
    monkeypatch.delenv("CHECKS")
    assert without_compiling() is not None


def test_a_project_with_mistakes_leaves_nothing(project: Path, own_cache_folder: Path) -> None:
    write("checks/W-1.yaml", "id: W-1\nseverity: S9\n")(project)
    assert main(["scan", "talk.jsonl", "--out", "run"]) == 3
    assert not (own_cache_folder.parent / "plans").exists()


def test_what_another_version_wrote_is_not_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan()
    monkeypatch.setattr(result_cache, "programs", lambda: "another version")
    assert without_compiling() is None


def resealed(change: Callable[[Plan], Plan]) -> Callable[[bytes, bytes], bytes]:
    return lambda head, content: head + b"\n" + encode(change(decode(content)))


def unchecked(plan: Plan) -> Plan:
    """Without its checks, and with the hash of that."""
    return seal(msgspec.structs.replace(plan, checks=()))


def of_a_later_version(plan: Plan) -> Plan:
    later = msgspec.structs.replace(plan, version=plan.version + 1)
    return msgspec.structs.replace(later, hash=content_hash(later))


HOSTILE: dict[str, Callable[[bytes, bytes], bytes]] = {
    "no plan": lambda head, content: head + b"\n",
    "half a plan": lambda head, content: head + b"\n" + content[: len(content) // 2],
    "another word in the plan": lambda head, content: head + b"\n" + content.replace(b"you must", b"you mist"),
    "an unknown key": lambda head, content: head + b"\n" + content[:-1] + b',"more":1}',
    "a later version": resealed(of_a_later_version),
    "a judge that is a number": lambda head, content: head.replace(b'"about": null', b'"about": 1') + b"\n" + content,
    "another key": lambda head, content: head.replace(b'"key": "', b'"key": "0') + b"\n" + content,
    "a part more": lambda head, content: head[:-1] + b', "x": 1}\n' + content,
    "a form that is none": lambda head, content: b"[]\n" + content,
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_an_entry_that_is_not_as_we_write_it_is_compiled_again(
    change: Callable[[bytes, bytes], bytes], project: Path
) -> None:
    first = scan()
    whole = entry().read_bytes()
    rewritten(lambda head, content: head + b"\n" + content)
    assert entry().read_bytes() == whole
    rewritten(change)
    assert entry().read_bytes() != whole
    assert without_compiling() is None
    assert scan() == first


def test_a_changed_byte_is_noticed_wherever_it_is(project: Path) -> None:
    first = scan()
    whole = entry().read_bytes()
    for place in range(0, len(whole), len(whole) // 16):
        entry().write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert without_compiling() is None, place
    assert scan() == first


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="who may write to a folder is told by its mode")
def test_a_plan_in_a_folder_that_others_may_write_to_is_not_believed(project: Path) -> None:
    first = scan()
    rewritten(resealed(unchecked))
    entry().parent.chmod(0o777)
    assert without_compiling() is None
    assert scan() == first


def test_every_file_that_compiling_looks_at_is_a_dependency(project: Path) -> None:
    write("configs/rules/base.yaml", "a: 1\n")(project)
    write("configs/scoring.yaml", "weights: {}\n")(project)
    noted, opened = noted_and_opened("compile", "-o", "plan.json")
    assert {path for path in opened if "plan.json" not in path} - {"."} <= noted
    assert {"rulewright.yaml", "lexicons/words.yaml", "configs/scoring.yaml"} <= opened


def test_a_model_as_judge_has_the_project_read_for_its_prices_and_limits(project: Path) -> None:
    scan()
    assert without_compiling() is not None
    assert without_compiling("--judge", "python:nothing:here") is None


def test_recorded_replies_of_the_project_are_found_without_reading_it(project: Path) -> None:
    write("rulewright.yaml", FILES["rulewright.yaml"] + "judge: {source: 'replay:replies.json'}\n")(project)
    write("replies.json", '{"t": {"W-2": [["{}"]]}}')(project)
    write("checks/W-2.yaml", "id: W-2\nname: v\nprimary_bucket: C\nseverity: S2\nscope: universal\nprompt: Well?\n")(
        project
    )
    first = scan()
    assert json.loads(first["summary.json"])["judge"]["provider"] == "replay"
    assert without_compiling() == first


def test_a_second_scan_loads_nothing_that_reads_a_project(project: Path) -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom rulewright.cli import main\n"
        "main(['scan', 'talk.jsonl', '--out', 'run', '--overwrite'])\n"
        f"print(sorted({COMPILING | SLOW!r} & (set(sys.modules) - before)))"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True).stdout
        for _ in range(2)
    ]
    first, second = (output.rstrip().rpartition("\n") for output in outputs)
    assert first[0] == second[0]
    assert "yaml" in first[2]
    assert second[2] == "[]"
