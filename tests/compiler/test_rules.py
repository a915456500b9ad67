"""Every rule catches what its `bad` files show, word for word, and leaves its `good` files alone.

A folder of `tests/compiler/rules` is named after a rule. A `.yaml` or `.json` file is a single document; a `.txtar`
file is a whole project, whose files follow each other, each under a line `-- path --`. `bad.out` holds the expected
output for `bad.yaml`. `make expected` (RULEWRIGHT_WRITE_EXPECTED) writes it and the pages of the docs.
"""

import ast
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.expected_files import holds
from tests.folders import files_of, write
from tests.source_code import parsed, walked

from rulewright.categories import MEANINGS, category_line, category_of
from rulewright.cli import main
from rulewright.diagnostics import Severity
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.lint_settings import RuleSelection
from rulewright.load.load_errors import MAX_BYTES
from rulewright.manual import PACKAGE, advice_of, every_rule, explain, pages
from rulewright.render import human
from rulewright.rules import code_of as rule_code
from rulewright.rules.style import subsumed_pattern

FOLDER = Path(__file__).parent / "rules"
DOCS = Path(__file__).parents[2] / "docs" / "rules"
BAD = sorted(path for path in FOLDER.glob("*/bad*") if path.suffix != ".out")
GOOD = sorted(FOLDER.glob("*/good*"))

POLICY: Final = ("prove", "policy.yaml", "--config", "config.yaml")
# The commands for documents that lint does not read: decision tables with their variables, and the settings of a run,
# which may contain comments. These commands, not lint, must accept the good files.
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "bad-setting": ("score", "--config", "settings.json", "--show-config"),
    "bad-table-output": POLICY,
    "malformed-table": POLICY,
    "unreachable-row": POLICY,
}
# Errors of other codes that the same mistake always causes.
ALONGSIDE: Final = {
    "defaults-switched-off": "unknown-agent",
    "detector-without-definition": "unknown-lexicon",
    "malformed-suppression": "unknown-key",
    "misspelt-input-path": "bad-case",
    "misspelt-name": "unknown-value",
    "suppression-without-reason": "unknown-key",
    "unknown-rule": "unknown-key",
    "unsupported-route": "unknown-value",
    "unused-lexicon": "missing-key",
    "words-without-vocabulary": "unknown-value",
}
# The rules that have to run before a comment about them can be unused.
TOGETHER: Final = {"unused-suppression": ("duplicate-pattern",)}
# The codes whose bad files hold something that `--fix` can fix.
REPORTING: Final = ("_refused", "mistake", "report_broken")  # how the loader reports


def is_fixable(path: Path) -> bool:
    """Whether a finding of a bad file has a fix or a guess, which may be one."""
    written = path.with_suffix(".out")
    text = " ".join(written.read_text(encoding="utf-8").split()) if written.exists() else ""
    return "= fix: " in text or "did you mean" in text


def too_large_a_file(folder: Path) -> None:
    """A file of more than 8 MiB, for instance an export left among the rules by mistake."""
    with (folder / "export.yaml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)


def a_link_that_leads_nowhere(folder: Path) -> None:
    """A link `cold.yaml` to a file that was moved, or a file without read permission."""
    (folder / "cold.yaml").symlink_to("moved.yaml")


# Examples that no file in the repository can hold.
BUILT: Final[dict[str, Callable[[Path], None]]] = {
    "file-too-large": too_large_a_file,
    "unreadable-file": a_link_that_leads_nowhere,
}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def code_of(path: Path) -> str:
    """The code that a file of a rule's folder is about."""
    return path.parent.name.replace("_", "-")


def said_by_the_command(path: Path, scratch: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output of the command that reads a file which lint does not read."""
    unpacked(path, scratch)
    main([*COMMANDS[code_of(path)]])
    return capsys.readouterr().err


EVERY_RULE = RuleSelection(("*",))


def findings(path: Path, scratch: Path, selection: RuleSelection = EVERY_RULE) -> Report:
    """What linting the document or project finds."""
    if path.suffix != ".txtar":
        return lint_text(path.read_bytes(), path.name, selection)
    return lint(unpacked(path, scratch), selection)


def unpacked(path: Path, scratch: Path) -> list[str]:
    """Write the document or project to a folder; what to lint there."""
    if path.suffix != ".txtar":
        (scratch / path.name).write_bytes(path.read_bytes())
        return [path.name]
    write(scratch, files_of(path.read_text(encoding="utf-8")))
    return [os.curdir]


@pytest.mark.parametrize("path", BAD, ids=name_of)
def test_a_bad_file_gives_its_findings_word_for_word(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of its folder's rule; and no other rule reports an error in it."""
    monkeypatch.chdir(tmp_path)
    code = code_of(path)
    if code in COMMANDS:
        holds(said_by_the_command(path, tmp_path, capsys), path.with_suffix(".out"))
        return
    report, together = findings(path, tmp_path), (code, *TOGETHER.get(code, ()))
    found = report.diagnostics
    # A consequence of another finding is shown where its rule is selected.
    own = [each for each in found if each.code in together] or findings(
        path, tmp_path, RuleSelection(together)
    ).diagnostics
    holds(human.render(own, report.sources), path.with_suffix(".out"))
    assert {each.code for each in found if each.severity is Severity.ERROR} <= {code, ALONGSIDE.get(code)}
    assert any(each.fix for each in own) <= is_fixable(path)


@pytest.mark.parametrize("path", GOOD, ids=name_of)
def test_a_good_file_is_left_alone(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A copied example gives no finding of any rule, not only of its own."""
    monkeypatch.chdir(tmp_path)
    if code_of(path) in COMMANDS:
        assert said_by_the_command(path, tmp_path, capsys) == ""
    else:
        report = findings(path, tmp_path)
        assert human.render(report.diagnostics, report.sources) == ""


@pytest.mark.parametrize("code", BUILT)
def test_examples_that_no_file_can_hold_are_built(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    BUILT[code](tmp_path)
    report = lint([os.curdir])
    assert {found.code for found in report.diagnostics} == {code}
    holds(human.render(report.diagnostics, report.sources), FOLDER / code.replace("-", "_") / "bad.out")


def test_every_code_has_a_bad_and_a_good_file() -> None:
    bad, good = {code_of(path) for path in BAD}, {code_of(path) for path in GOOD}
    assert bad == good
    assert bad | BUILT.keys() == pages().keys()


def test_reported_codes_and_pages_are_the_same() -> None:
    reported = {word for path in sorted(PACKAGE.rglob("*.py")) for word in codes_reported(path)}
    assert reported | {rule_code(rule) for rule in every_rule()} == pages().keys()


def codes_reported(path: Path) -> Iterator[str]:
    """The codes that calls in a module bring along: as `code=...`, or as an argument where the loader reports."""
    text = path.read_text(encoding="utf-8")
    if not any(word in text for word in ("code=", *REPORTING)):
        return
    for node in walked(parsed(path)):
        if isinstance(node, ast.Call):
            given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given += node.args if name in REPORTING else []
            for each in (each for value in given for each in ast.walk(value)):
                if isinstance(each, ast.Constant) and re.fullmatch("[a-z0-9]+(-[a-z0-9]+)+", str(each.value)):
                    yield str(each.value)


def example(path: Path) -> str:
    """A file of a rule's folder as a block of Markdown."""
    text = path.read_bytes().decode(errors="backslashreplace")
    shown = "".join(char if char in "\n\t" or char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    return f"```{path.suffix.removeprefix('.').replace('txtar', 'text')}\n{shown}```\n"


def manual_page(code: str) -> str:
    """The page of a code for `docs/rules`: the manual, a bad example with its findings, a good example."""
    folder = FOLDER / code.replace("-", "_")
    page = f"# {code}\n\n{explain(code)}\n\n{category_line(code)}\n"
    if code in BUILT:
        found = (folder / "bad.out").read_text(encoding="utf-8")
        return f"{page}\n## Bad\n\n{BUILT[code].__doc__}\n\n```text\n{found}```\n"
    bad = next(path for path in BAD if path.parent == folder)
    good = next(path for path in GOOD if path.parent == folder and path.suffix == bad.suffix)
    found = bad.with_suffix(".out").read_text(encoding="utf-8")
    return f"{page}\n## Bad\n\n{example(bad)}\n```text\n{found}```\n\n## Good\n\n{example(good)}"


def test_every_page_in_the_docs_is_what_the_tests_show() -> None:
    for code in pages():
        holds(manual_page(code), DOCS / f"{code}.md")


def test_every_page_ends_with_what_to_do() -> None:
    for code in pages():
        said = advice_of(code)
        assert said, code
        assert said[0].islower() or said[0] == "`", code
        assert " ".join(str(explain(code)).split()).endswith(f"Instead: {said}."), code


def test_the_list_of_pages_holds_every_code() -> None:
    path = DOCS / "index.md"
    rows = "".join(
        f"| [{code}]({code}.md) | {category_of(code)} | {page.splitlines()[0]} |\n" for code, page in pages().items()
    )
    kinds = "".join(f"- `{category}`: {meaning}.\n" for category, meaning in MEANINGS.items())
    head = """# Rules

The rules of `rulewright lint`. A finding shows the code of its rule in brackets, as in `error[unknown-key]`;
`rulewright explain CODE` prints the page of a rule. Each page has an example with the finding and one without. If an
example has several files, a line such as `-- checks/X-C1.yaml --` begins each of them.

The category of a rule decides whether its findings are shown by default. `--select`, `--extend-select`, `--ignore` and
`--category` choose otherwise, as does [`lint` in the project file](../guides/projects.md#how-verdicts-are-made).

"""
    index = f"{head}{kinds}\n| code | category | what it means |\n|---|---|---|\n{rows}"
    holds(index, path)
    assert {each.stem for each in DOCS.glob("*.md")} == {*pages(), "index"}


def test_a_long_list_of_phrases_is_compared_as_a_short_one() -> None:
    chance = random.Random(7)
    few = ["".join(chance.choices("ab .?é", k=chance.randint(1, 4))).strip() for _ in range(300)]
    texts = list(dict.fromkeys(each for each in few if each))[: subsumed_pattern.FEW + 40]
    assert len(texts) > subsumed_pattern.FEW
    naive = [next((at for at, one in enumerate(texts) if one in each and one != each), None) for each in texts]
    assert list(subsumed_pattern._contained(texts, texts)) == naive
    assert any(at is not None for at in naive)
