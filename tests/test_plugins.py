"""Plug-ins of installed distributions: functions typed and named in the plan, judges, readers, collectors."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.linting.lint_run import lint
from rulewright_runtime.errors import InputError, JudgeError, PlanError
from rulewright_runtime.execution import execute
from rulewright_runtime.functions.table import PLUGIN_FUNCTIONS
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plugins import PlugInError
from rulewright_runtime.processes import user_code
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.readers.plug_in_formats import plug_in_formats
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.workflow.collectors import CollectionError, measure

MODULE = """
from rulewright_runtime.plugins import function
from rulewright_runtime.transcripts.messages import Conversation, Message, Part
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.workflow.collectors import ReportReading

@function("(string, int) -> double")
def politeness(text, most):
    if text == "crash":
        raise ValueError("too rude")
    return "no number" if text == "lie" else text.count("please") / most

def untyped(text):
    return True

class Strict:
    def __init__(self, argument):
        self.argument = argument
    def ask(self, request):
        return '{"verdict": "FAIL", "rationale": "%s", "evidence": []}' % self.argument

def read(records):
    for record in records:
        if record["acme"] == "broken":
            raise KeyError("said")
        said = [Message(role, (Part(text=text),)) for role, text in record["said"]]
        yield Conversation(record["acme"], tuple(said))

FORMAT = Format("acme", lambda record: "acme" in record and "said" in record, read)

def collect(root, path, scope):
    text = (root / path).read_text()
    return ReportReading(3, 4, "acme") if text.startswith("ACME") else None
"""
ENTRY_POINTS = """
[rulewright.functions]
acme.politeness = acme_checks:politeness
[rulewright.judges]
acme = acme_checks:Strict
[rulewright.readers]
acme = acme_checks:FORMAT
[rulewright.collectors]
lint_score.acme = acme_checks:collect
"""
CHECK = "id: polite\neach: reply\npass: acme.politeness(turn.content, 2) >= 0.5\n"


def install(folder: Path, version: str = "1.2", entry_points: str = ENTRY_POINTS, name: str = "acme-checks") -> None:
    """What pip leaves behind of a distribution."""
    (folder / "acme_checks.py").write_text(MODULE, encoding="utf-8")
    stem = name.replace("-", "_")
    for old in folder.glob(f"{stem}-*.dist-info"):
        shutil.rmtree(old)
    info = folder / f"{stem}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed distributions that holds `acme-checks` 1.2."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    install(folder)
    monkeypatch.syspath_prepend(folder)
    plug_in_formats.cache_clear()
    yield folder
    plug_in_formats.cache_clear()
    PLUGIN_FUNCTIONS.clear()
    for module in ("acme_checks", "acme_given"):
        sys.modules.pop(module, None)


def provide(site: Path, project: Path, signature: str, body: str, condition: str) -> Plan:
    """The plan of a project whose only check calls `acme.given`, whose argument in `body` is `value`."""
    install(site, entry_points="[rulewright.functions]\nacme.given = acme_given:given\n")
    declared = f"@function({signature!r})\ndef given(value):\n    {body}\n"
    source = f"import sys\nfrom rulewright_runtime.plugins import function\n\n{declared}"
    (site / "acme_given.py").write_text(source, encoding="utf-8")
    (project / "checks" / "polite.yaml").write_text(f"id: polite\npass: {condition}\n", encoding="utf-8")
    return compile_project(project)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "checks").mkdir(parents=True)
    (folder / "rulewright.yaml").write_text("project: shop\nplugins: [Acme_Checks]\n", encoding="utf-8")
    (folder / "checks" / "polite.yaml").write_text(CHECK, encoding="utf-8")
    return folder


@pytest.mark.usefixtures("site")
def test_explain_shows_the_signature_and_the_origin_of_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "acme.politeness"]) == 0
    shown = capsys.readouterr().out
    assert "    acme.politeness(string, int) -> double\n" in shown
    assert "A plug-in of `acme-checks` 1.2: a project that calls it has `plugins: [acme-checks]`.\n" in shown
    assert main(["explain", "acme.politenes"]) == 3
    assert "did you mean `acme.politeness`?" in capsys.readouterr().err


def verdicts(plan: Plan, *replies: str) -> list[tuple[str, str]]:
    said = [{"role": "user", "content": "Hi"}, *({"role": "assistant", "content": reply} for reply in replies)]
    return [
        (each.verdict, str(each.extra.get("undecided", "")))
        for each in next(execute(plan, [{"messages": said}])).verdicts
    ]


def lint_messages(folder: Path) -> list[str]:
    return [each.message for each in lint([folder]).diagnostics]


def test_a_function_is_typed_named_in_the_plan_and_called(site: Path, project: Path) -> None:
    assert lint_messages(project) == []
    plan = decode(encode(compile_project(project)))
    (named,) = plan.plugins.items()
    assert (named[0], named[1].distribution, named[1].version) == ("acme.politeness", "acme-checks", "1.2")
    assert verdicts(plan, "please") == [("PASS", "")]
    assert verdicts(plan, "no") == [("FAIL", "")]


def test_what_a_function_raises_or_gives_of_another_type_decides_nothing(site: Path, project: Path) -> None:
    plan = compile_project(project)
    raised = "plug_in_failed: `acme.politeness` failed: ValueError: too rude"
    assert verdicts(plan, "crash") == [("UNCLEAR", raised)]
    wrong = "plug_in_failed: `acme.politeness` returned 'no number'; expected double"
    assert verdicts(plan, "please", "lie") == [("UNCLEAR", wrong)]


@pytest.mark.parametrize(
    ("signature", "body", "condition"),
    [
        ("(string) -> list(string)", "return [None]", "acme.given(answer).all(each, each != 'rude')"),
        ("(string) -> list(string)", "return [1, 2]", "size(acme.given(answer)) == 2"),
        ("(string) -> list(string)", "return [object()]", "size(acme.given(answer)) == 1"),
        ("(string) -> list(string)", "a = []; a.append(a); return a", "size(acme.given(answer)) == 1"),
        ("(string) -> list(double)", "return [float('nan')]", "acme.given(answer).all(each, !(each > 0.5))"),
        ("(string) -> list", "return [float('nan')]", "size(acme.given(answer)) == 1"),
        ("(string) -> map(string, double)", "return {'rude': '0'}", "size(acme.given(answer)) == 1"),
        ("(string) -> map(string, list(int))", "return {'rude': [True]}", "size(acme.given(answer)) == 1"),
        ("(string) -> map(string, double)", "return {1: 1.0}", "size(acme.given(answer)) == 1"),
        ("(string) -> int", "return 2**63", "acme.given(answer) > 0"),
        ("(string) -> string", "return '\\ud800'", "acme.given(answer) != 'rude'"),
        ("(string) -> string", "return 'x' * 10_000_001", "acme.given(answer) != 'rude'"),
        ("(string) -> bool", "raise ValueError('\\ud800')", "acme.given(answer)"),
        ("(string) -> bool", "sys.exit(0)", "acme.given(answer)"),
        ("(string) -> bool", "raise GeneratorExit", "acme.given(answer)"),
    ],
)
def test_a_result_that_is_not_of_the_declared_type_in_every_part_decides_nothing(
    site: Path, project: Path, signature: str, body: str, condition: str
) -> None:
    ((verdict, reason),) = verdicts(provide(site, project, signature, body, condition), "please")
    assert verdict == "UNCLEAR"
    assert reason.startswith("plug_in_failed: `acme.given` ")
    assert reason.encode()


@pytest.mark.parametrize(
    ("signature", "body", "condition"),
    [
        ("(string) -> list(double)", "return (1, 2.5)", "acme.given(answer) == [1.0, 2.5]"),
        ("(string) -> map(string, list(string))", "return {'a': ['b']}", "acme.given(answer)['a'] == ['b']"),
        ("(string) -> map(int, string)", "return {1: 'one'}", "acme.given(answer)[1] == 'one'"),
        ("(string) -> list", "return [1, 'a', None, {'b': [True]}]", "size(acme.given(answer)) == 4"),
        ("(string) -> double", "return 1", "acme.given(answer) == 1.0"),
    ],
)
def test_a_result_of_the_declared_type_is_used(
    site: Path, project: Path, signature: str, body: str, condition: str
) -> None:
    assert verdicts(provide(site, project, signature, body, condition), "please") == [("PASS", "")]


def test_a_function_that_changes_its_argument_changes_no_other_check(site: Path, project: Path) -> None:
    (project / "checks" / "there.yaml").write_text("id: there\npass: size(replies) == 1\n", encoding="utf-8")
    clears = "size = len(value); value.clear(); return size"
    plan = provide(site, project, "(list(dyn)) -> int", clears, "acme.given(replies) == 1")
    assert verdicts(plan, "please") == [("PASS", ""), ("PASS", "")]


def test_what_a_plug_in_prints_is_not_part_of_the_result(
    site: Path, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provide(site, project, "(string) -> bool", "print('Hello!'); return True", "acme.given(answer)")
    chat = tmp_path / "chat.json"
    chat.write_text('{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes."}]}')
    words = ["scan", str(chat), "--project", str(project), "-o", str(tmp_path / "run"), "--format", "json"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["version"]
    assert "Hello!" in printed.err


def test_a_wrong_call_is_reported_as_of_any_function(site: Path, project: Path) -> None:
    (project / "checks" / "polite.yaml").write_text(CHECK.replace(", 2)", ")"), encoding="utf-8")
    assert lint_messages(project)[0].startswith("`acme.politeness` does not take (string)")


@pytest.mark.parametrize("version", ["1.3", ""])
def test_a_plan_is_refused_where_its_plug_in_is_not_installed_as_it_says(
    site: Path, project: Path, version: str
) -> None:
    plan = compile_project(project)
    install(site, version or "9")
    if not version:
        shutil.rmtree(site / "acme_checks-9.dist-info")
    reason = f"installed from `acme-checks` {version}; compile" if version else "no installed distribution provides"
    with pytest.raises(PlanError, match=reason):
        verdicts(plan, "please")


def test_another_version_gives_the_check_another_hash(site: Path, project: Path) -> None:
    first = compile_project(project)
    install(site, "1.3")
    assert compile_project(project).checks[0].hash != first.checks[0].hash


def test_what_a_project_can_not_use_is_a_finding(site: Path, project: Path) -> None:
    untyped = "[rulewright.functions]\nacme.politeness = acme_checks:untyped\n"
    install(site, entry_points=untyped)
    assert "it has no signature; expected one such as `(string) -> double`" in "\n".join(lint_messages(project))
    install(site, entry_points="[rulewright.functions]\nsize = acme_checks:politeness\n")
    assert "its name needs a dot" in "\n".join(lint_messages(project))
    install(site, entry_points="[rulewright.functions]\nacme.politeness = acme_gone:politeness\n")
    assert "can't be loaded: ModuleNotFoundError" in "\n".join(lint_messages(project))
    install(site, name="other-checks")
    install(site)
    (project / "rulewright.yaml").write_text("project: shop\nplugins: [acme-checks, other-checks]\n", encoding="utf-8")
    assert "`acme.politeness` is provided by both `other-checks` and `acme-checks`" in lint_messages(project)
    (project / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
    assert "unknown function `acme.politeness`" in "\n".join(lint_messages(project))


def test_the_code_of_a_plug_in_may_change_unseen_so_that_nothing_made_with_it_is_kept(
    site: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Python takes a compiled module for that of a source of the same second and size.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "talk.jsonl").write_text(
        json.dumps({"messages": [{"role": "user", "content": "Hi"}]}), encoding="utf-8"
    )
    scan = ["scan", str(tmp_path / "talk.jsonl"), "--project", str(project), "--out", str(tmp_path / "run")]
    assert main(["lint", str(project)]) == 0
    assert main(scan) != 3
    (site / "acme_checks.py").write_text(MODULE.replace("-> double", "-> string"), encoding="utf-8")
    del sys.modules["acme_checks"]
    assert main(["lint", str(project)]) == 1
    assert main([*scan, "--overwrite"]) == 3


def test_a_judge_answers_what_checks_ask(site: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "checks" / "polite.yaml").write_text("id: polite\nprompt: Is it?\n", encoding="utf-8")
    chat = project / "chats.jsonl"
    chat.write_text('{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n')
    out = str(project / "run")
    main(["scan", str(chat), "--project", str(project), "--judge", "plugin:acme:rude", "--out", out])
    assert "1 UNCLEAR" in capsys.readouterr().out  # a FAIL without a quote
    with pytest.raises(PlugInError, match="no installed distribution provides `other`"):
        open_judge("plugin:other")
    with pytest.raises(JudgeError, match="expected `replay:FILE` or `plugin:NAME`"):
        open_judge("other")


def test_a_reader_reads_what_no_other_understands(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    lines = ['{"acme": "a", "said": [["user", "Hi"], ["assistant", "Hello"]]}', '{"acme": "broken", "said": []}']
    file.write_text("\n".join(lines), encoding="utf-8")
    good, bad = Reader().read([file])
    assert isinstance(good, Transcript)
    assert [turn.content for turn in good.turns] == ["Hi", "Hello"]
    assert "the plug-in failed: KeyError: 'said' (read as acme)" in str(bad)


# The end of a module whose code never returns: the module itself may be slow to import.
SOON = "from rulewright_runtime.processes import user_code\nuser_code.SECONDS = 0.2\n"


@pytest.mark.parametrize(
    "body",
    [
        "yield 'a text'",
        "yield Conversation(5, ())",
        "yield Conversation('a', (Message('user', (Part(text=5),)),))",
        "yield Conversation('a', (Message('user', (Part(text='\\ud800'),)),))",
        "yield Conversation('a', (Message('robot', (Part(text='Hi'),)),))",
        "yield Conversation('a', (Message('user', (Part(text='Hi'),)),), record=5)",
        "yield ShapeError('odd').at(-7)",
        "raise ValueError('\\ud800')",
        "import sys; sys.exit(0); yield",
        "import time; time.sleep(600); yield",
        "while True: yield records[0]",
        "return 5",
    ],
)
def test_a_record_whose_reader_fails_in_any_way_is_refused_with_its_line(
    site: Path, tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_code, "SECONDS", 60.0)
    install(site, entry_points="[rulewright.readers]\nacme = acme_given:FORMAT\n")
    source = (
        "from rulewright_runtime.transcripts.messages import Conversation, Message, Part\n"
        "from rulewright_runtime.transcripts.readers.record_values import ShapeError\n"
        "from rulewright_runtime.transcripts.readers.shapes import Format\n\n"
        f"def read(records):\n    {body}\n\n"
        f"FORMAT = Format('acme', lambda record: 'acme' in record, read)\n{SOON}"
    )
    (site / "acme_given.py").write_text(source, encoding="utf-8")
    chats = tmp_path / "acme.jsonl"
    talk = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes."}]}'
    chats.write_text(f'{{"acme": "a", "said": [{{}}]}}\n{talk}\n', encoding="utf-8")
    refused, read = list(Reader({}).read([chats]))
    assert isinstance(refused, InputError)
    assert (refused.line, "(read as acme)" in refused.reason) == (1, True)
    assert refused.reason.encode()
    assert isinstance(read, Transcript)


def test_a_collector_reads_a_report_that_no_other_knows(site: Path, tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text("ACME 3/4", encoding="utf-8")
    assert measure("lint_score", tmp_path, ["report.txt"]).details == "acme"
    (tmp_path / "report.txt").write_text("{}", encoding="utf-8")
    with pytest.raises(CollectionError, match="not a report of ruff"):
        measure("lint_score", tmp_path, ["report.txt"])


@pytest.mark.parametrize("reading", ["'3', 4, 'acme'", "3, 4, None", "5, 4, 'acme'", "0, 0, 'acme'", "1e999, 1, ''"])
def test_a_collector_with_impossible_counts_gives_no_evidence(site: Path, tmp_path: Path, reading: str) -> None:
    install(site, entry_points="[rulewright.collectors]\nlint_score.acme = acme_given:collect\n")
    source = (
        "from rulewright_runtime.workflow.collectors import ReportReading\n\n"
        f"def collect(root, path, scope):\n    return ReportReading({reading})\n"
    )
    (site / "acme_given.py").write_text(source, encoding="utf-8")
    (tmp_path / "report.txt").write_text("ACME", encoding="utf-8")
    with pytest.raises(CollectionError, match=r"report\.txt"):
        measure("lint_score", tmp_path, ["report.txt"])


@pytest.mark.parametrize("body", ["import sys; sys.exit(0)", "import time; time.sleep(600)", "raise GeneratorExit"])
def test_a_collector_that_ends_the_process_or_never_returns_gives_no_evidence(
    site: Path, tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_code, "SECONDS", 60.0)
    install(site, entry_points="[rulewright.collectors]\nlint_score.acme = acme_given:collect\n")
    (site / "acme_given.py").write_text(f"def collect(root, path, scope):\n    {body}\n{SOON}", encoding="utf-8")
    (tmp_path / "report.txt").write_text("ACME", encoding="utf-8")
    with pytest.raises(CollectionError, match=r"report\.txt.* can't be read: UserCodeError"):
        measure("lint_score", tmp_path, ["report.txt"])


@pytest.mark.parametrize(
    "body", ["raise ValueError(name)", "return ReportReading(3, 4, name)", "raise Report(path, name)"]
)
def test_what_a_collector_says_can_be_stored(site: Path, tmp_path: Path, body: str) -> None:
    install(site, entry_points="[rulewright.collectors]\nlint_score.acme = acme_given:collect\n")
    source = (
        "from rulewright_runtime.workflow.collectors import CollectionError as Report, ReportReading\n\n"
        f"def collect(root, path, scope, name='caf\\udce9'):\n    {body}\n"
    )
    (site / "acme_given.py").write_text(source, encoding="utf-8")
    (tmp_path / "report.txt").write_text("ACME", encoding="utf-8")
    try:
        said = measure("lint_score", tmp_path, ["report.txt"]).details
    except CollectionError as error:
        said = str(error)
    assert said.encode().endswith(rb"caf\udce9")


def test_a_reader_that_is_not_a_format_is_named(site: Path, tmp_path: Path) -> None:
    install(site, entry_points="[rulewright.readers]\nacme = acme_checks:collect\n")
    chats = tmp_path / "acme.jsonl"
    chats.write_text('{"acme": "a", "said": [{}]}\n', encoding="utf-8")
    with pytest.raises(PlugInError, match=r"the reader `acme` of `acme-checks` 1\.2 is not a `Format`"):
        list(Reader({}).read([chats]))


def test_the_hash_of_a_check_covers_the_checks_that_it_reads(tmp_path: Path) -> None:
    def hashes(words: int) -> dict[str, str]:
        folder = tmp_path / str(words)
        (folder / "checks").mkdir(parents=True)
        (folder / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
        for name, condition in {
            "brief": f"word_count(answer) > {words}",
            "kind": 'contains_any(answer, ["no"])',
            "reads": 'v("brief").verdict == FAIL',
            "reads-that": 'v("reads").verdict == FAIL',
            "reads-kind": 'v("kind").verdict == FAIL',
        }.items():
            (folder / "checks" / f"{name}.yaml").write_text(f"id: {name}\nfail: {condition}\n", encoding="utf-8")
        return {each.id: each.hash for each in decode(encode(compile_project(folder))).checks}

    one, two = hashes(5), hashes(6)
    assert {name for name in one if one[name] != two[name]} == {"brief", "reads", "reads-that"}
