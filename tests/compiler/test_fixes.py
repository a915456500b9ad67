"""A fix removes its finding and changes nothing else in the document."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace
from tests.compiler.linting.breaking import Breaker, words_of
from tests.compiler.linting.fixing import fix_files
from tests.compiler.test_rules import BAD, FOLDER, is_fixable, name_of, unpacked
from tests.folders import write
from tests.rounds import every, rounds

from rulewright.diagnostics import Diagnostic, Guess
from rulewright.documents.kinds import kind_of
from rulewright.fixes import fixed_texts
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.lint_settings import RuleSelection
from rulewright.load import load_text, plain

MUTANTS = rounds(1, 10)  # of each good file


def changes(before: Any, after: Any) -> int:
    """In how many places two values differ; an entry under another key, or at another place of a list, is one."""
    if isinstance(before, dict) and isinstance(after, dict):
        gone = [before[key] for key in before if key not in after]
        new = [after[key] for key in after if key not in before]
        kept = sum(changes(before[key], after[key]) for key in before if key in after)
        return kept + max(len(gone), len(new))
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return sum(map(changes, before, after))
    return 0 if before == after and type(before) is type(after) else 1


def meaning(text: str, path: str) -> Any:
    """Return the content of a text, or None if it can't be read."""
    loaded = load_text(text, path)
    return None if loaded.root is None else plain(loaded.root)


def fixable(report: Report) -> Iterator[Diagnostic]:
    yield from (found for found in report.diagnostics if found.fix is not None)


def counted(diagnostics: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    """Count each finding, regardless of its place."""
    return Counter((found.code, found.message) for found in diagnostics)


def check_fixes(report: Report) -> None:
    """Each fix of a report alone changes no more places than it has edits."""
    for found in fixable(report):
        assert found.fix is not None
        texts, _ = fixed_texts([found], report.sources, unsafe=True)
        assert sum(
            changes(meaning(report.sources[path].text, path), meaning(text, path)) for path, text in texts.items()
        ) <= len(found.fix.edits), (found, texts)


@pytest.mark.parametrize("path", [path for path in BAD if is_fixable(path)], ids=name_of)
def test_a_fix_changes_nothing_else(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_fixes(lint(unpacked(path, tmp_path)))


@pytest.mark.parametrize(("name", "quote"), [("X1.json", '"'), ("X1.yaml", '"'), ("X1.yaml", "'")])
def test_a_respelt_word_keeps_its_quotes(name: str, quote: str) -> None:
    text = '{"id": "X1", "nmae": "x", "routing": {"route": "llm_primry"}}'.replace('"', quote)
    report = lint_text(text, name)
    (fixed,) = fixed_texts(fixable(report), report.sources, unsafe=True)[0].values()
    assert fixed == text.replace("nmae", "name").replace("primry", "primary")


CHECK = """\
id: X1
name: says_x
primary_bucket: C
severity: S2
scope: universal
hard_fail: yes
scorer: {type: hybrid, repetitions: 1, unclear_policy: llm_edge}
routing: {route: hybrid_llm, repetitions: 1}
prompt: "Is it polite? Answer with JSON: {\\"verdict\\": \\"PASS or FAIL\\"}"
"""


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("scenario.categori == 'empathy'", "scenario.category == 'empathy'"),
        ("scenario.category == 'empthy'", "scenario.category == 'empathy'"),
        ("\"scenario.category == 'empthy'\"", "\"scenario.category == 'empathy'\""),
        ("scenrio.category == 'empathy'", "scenario.category == 'empathy'"),
        (r'"scenario.category == \"empthy\""', None),  # whose quotes are escaped
        (">-\n    scenario.category == 'empthy'", ">-\n    scenario.category == 'empathy'"),
    ],
)
def test_the_guess_at_a_misspelt_word_of_an_expression_is_an_unsafe_fix(written: str, fixed: str | None) -> None:
    text = f"id: X1\nscope: trigger\neligibility:\n  when: {written}\nfail: size(answer) > 80\n"
    report = lint_text(text, "X1.yaml")
    (found,) = (each for each in report.diagnostics if each.code == "bad-expression")
    assert isinstance(found.help, Guess)
    assert fixed_texts([found], report.sources)[0] == {}
    texts, _ = fixed_texts([found], report.sources, unsafe=True)
    assert texts == ({} if fixed is None else {"X1.yaml": text.replace(written, fixed)})


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("{type: integer, minItems: 1}", "{type: integer, minimum: 1}"),
        ("{type: integer, minimum: 1, minItems: 1}", None),
        ("{type: integer, minLength: 2, minItems: 1}", "{type: integer, minimum: 2, minItems: 1}"),
    ],
)
def test_no_fix_gives_two_keys_of_a_mapping_the_same_name(written: str, fixed: str | None) -> None:
    text = f"""id: booking
each: tool_call
params:
  booking: {{type: object, properties: {{persons: {written}}}}}
pass: valid_against(tool_call.arguments, params.booking)
"""
    report = lint_text(text, "booking.yaml")
    texts, _ = fixed_texts(report.diagnostics, report.sources, unsafe=True)
    assert texts == ({} if fixed is None else {"booking.yaml": text.replace(written, fixed)})


@pytest.mark.parametrize(
    ("written", "fixed"),
    [("nulll", '"null"'), ("s1000", '"1000"'), ("'s1000'", "'1000'"), ("miner", "minor"), ("|-\n  nulll", '"null"')],
)
def test_a_word_that_is_no_text_without_quotes_gets_them(written: str, fixed: str, tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    words = 'buckets: [service], severities: ["1000", "null", minor]'
    (tmp_path / "rulewright.yaml").write_text(f"project: desk\nvocabulary: {{{words}}}\n")
    check = tmp_path / "checks" / "long.yaml"
    text = f"id: long\nprimary_bucket: service\nseverity: {written}\nfail: size(answer) > 80\n"
    check.write_text(text)
    left = fix_files([tmp_path], unsafe=True)
    assert check.read_text() == text.replace(written, fixed)
    assert not left.diagnostics


@pytest.mark.parametrize(
    "written", ['!!float "2.0"', "!!int '3'", "!!float 2.0", "!!int &a 3", "&a !!int 3", "!!int\n  3"]
)
def test_a_number_by_its_tag_is_not_quoted(written: str) -> None:
    """In quotes it would have the same tag, and two pairs of quotes can't be read."""
    report = lint_text(f"id: brief\nprimary_bucket: A\nseverity: S3\nprompt: {written}\n", "brief.yaml")
    assert [each.code for each in report.diagnostics] == ["wrong-type"]
    assert not any(fixable(report))


@pytest.mark.parametrize("tags", ["[a !, 3]", '["a !", 3]', "[\n  a !, 3]", "\n- a !\n- 3"])
def test_a_number_after_an_exclamation_mark_is_quoted(tags: str) -> None:
    text = f"id: brief\nprimary_bucket: A\nseverity: S3\nprompt: Is it?\nsecondary_tags: {tags}\n"
    report = lint_text(text, "brief.yaml")
    texts, _ = fixed_texts(fixable(report), report.sources, unsafe=True)
    assert texts == {"brief.yaml": text.replace(" 3", ' "3"')}


@pytest.mark.parametrize(("name", "is_fixed"), [("desk", True), ("'desk'", True), ("|-  # ours\n  desk", False)])
def test_words_are_declared_below_a_project_name_of_one_line(name: str, is_fixed: bool, tmp_path: Path) -> None:
    write(tmp_path, {"rulewright.yaml": f"project: {name}\n"})
    for check in ("one", "two"):
        text = f"id: {check}\nprimary_bucket: desk\nseverity: {check}\nfail: size(answer) > 80\n"
        write(tmp_path, {f"checks/{check}.yaml": text})
    fix_files([tmp_path], RuleSelection(("words-without-vocabulary",)), unsafe=True)
    declared = "vocabulary:\n  buckets: [desk]\n  severities: [one, two]\n" if is_fixed else ""
    assert (tmp_path / "rulewright.yaml").read_text() == f"project: {name}\n{declared}"


def test_a_word_next_to_a_misspelt_key_below_another_is_marked_and_fixed_where_it_is(tmp_path: Path) -> None:
    text = "id: X1\nscope: trigger\nruouting:\n  rourte: llm_priary\nprompt: Is it kind?\n"
    report = lint_text(text, "X1.yaml")
    (found,) = (each for each in report.diagnostics if each.code == "unknown-value")
    assert report.sources["X1.yaml"].between(found.span) == "llm_priary"
    (tmp_path / "X1.yaml").write_text(text)
    fix_files([tmp_path / "X1.yaml"], unsafe=True)
    assert "routing:\n  route: llm_primary\n" in (tmp_path / "X1.yaml").read_text()


def test_two_misspelt_names_are_not_exchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    unpacked(FOLDER / "tag_no_check_looks_for" / "bad.txtar", tmp_path)
    scenario = tmp_path / "scenarios" / "s1.json"
    scenario.write_text(scenario.read_text().replace("grief_after_los", "grief_aftr_los"))
    left = fix_files([tmp_path], RuleSelection(("tag-no-scenario-has", "tag-no-check-looks-for")), unsafe=True)
    assert not [found for found in left.diagnostics if isinstance(found.help, Guess)]
    assert "[grief_aftr_los]" in (tmp_path / "checks" / "X-C1.yaml").read_text()


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "shared"),
    [
        ("hard_fail: yes", "note: &word yes\nhard_fail: *word", ["note", "hard_fail"]),
        ("routing: {", "note: &all\n  nmae: 1\nphases: *all\nrouting: {", ["note", "phases"]),
        ("unclear_policy: llm_edge", "unclear_policy: &edge llm_edge, note: *edge", ["scorer"]),
    ],
)
def test_a_fix_never_reaches_another_key_through_an_alias(old: str, new: str, shared: list[str], unsafe: bool) -> None:
    text = CHECK.replace(old, new)
    report = lint_text(text, "X1.yaml")
    before = meaning(text, "X1.yaml")
    fixed = fixed_texts(report.diagnostics, report.sources, unsafe=unsafe)[0]
    after = meaning(fixed.get("X1.yaml", text), "X1.yaml")
    assert [after[key] for key in shared] == [before[key] for key in shared]


def test_a_replaced_block_keeps_its_comment_and_the_line_below() -> None:
    text = CHECK.replace("severity: S2", "severity: |-  # as the panel has it\n  s3\n\n# below")
    report = lint_text(text, "X1.yaml")
    (found,) = (each for each in report.diagnostics if each.code == "unknown-value")
    (fixed,) = fixed_texts([found], report.sources, unsafe=True)[0].values()
    assert fixed == text.replace("|-  # as the panel has it\n  s3\n", "S3  # as the panel has it\n")


def test_the_end_of_a_block_is_the_end_of_its_text() -> None:
    for header in ("|", "|-", "|+", ">", "|2"):
        text = CHECK.replace("severity: S2", f"severity: {header}\n  S9\n\n")
        (found,) = (each for each in lint_text(text, "X1.yaml").diagnostics if each.code == "unknown-value")
        assert (found.span.line, found.span.end_line, found.span.end_column) == (4, 5, 5)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_inserted_lines_end_as_the_lines_of_the_file(end: str) -> None:
    path = FOLDER / "loop_without_bound" / "bad.yaml"
    text = path.read_text(encoding="utf-8").replace("\n", end)
    report = lint_text(text, path.name)
    fixed = fixed_texts(report.diagnostics, report.sources, unsafe=True)[0][path.name]
    assert fixed != text
    assert fixed.replace(end, "").isprintable()


@pytest.mark.parametrize(
    ("written", "meant"), [("yes", "true"), ("Off", "false"), ('"true"', "true"), ("'n'", "false"), ("maybe", None)]
)
def test_a_word_for_a_boolean_is_fixed_to_the_boolean_once(written: str, meant: str | None) -> None:
    text = CHECK.replace("hard_fail: yes", f"hard_fail: {written}")
    report = lint_text(text, "X1.yaml")
    (found,) = (each for each in report.diagnostics if each.span.line == 6)
    assert found.code == "wrong-type"
    fixed = fixed_texts([found], report.sources)[0]
    assert fixed == ({"X1.yaml": CHECK.replace("yes", meant)} if meant else {})


def test_of_two_fixes_of_one_place_the_first_is_applied() -> None:
    report = lint_text(CHECK.replace("hard_fail: yes", "hard_fail: on"), "X1.yaml")
    (found,) = (each for each in report.diagnostics if each.span.line == 6)
    assert found.fix is not None
    other = replace(found, fix=replace(found.fix, edits=tuple(replace(each, text="x") for each in found.fix.edits)))
    assert fixed_texts([found, other], report.sources) == fixed_texts([found], report.sources)
    assert fixed_texts([other, found], report.sources)[1] == 1


LONE = sorted(path for path in FOLDER.glob("*/good*") if path.suffix in (".json", ".yaml"))
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the one in C takes an eighth of the time


@pytest.mark.parametrize("path", every(8, LONE), ids=name_of)
def test_fixing_mutants_changes_only_the_mistakes_and_is_idempotent(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(name_of(path))
    good = path.read_text(encoding="utf-8")
    root = load_text(good, path.name).root
    breaker = Breaker(chance, words_of((good,)))
    for _ in range(MUTANTS if root else 0):
        broken = breaker.broken(None if root is None else plain(root), kind_of(root))
        text = json.dumps(broken) if path.suffix == ".json" else yaml.dump(broken, Dumper=DUMPER, sort_keys=False)
        Path(path.name).write_text(text, encoding="utf-8")
        before = lint_text(text, path.name)
        check_fixes(before)
        unsafe = chance.random() < 0.5
        after = fix_files([path.name], unsafe=unsafe)
        mended = counted(found for found in fixable(before) if unsafe or (found.fix and found.fix.safe))
        # What was corrected may have hidden other mistakes: the wrong value of a key that was misspelt.
        assert not mended & (counted(after.diagnostics) - (counted(before.diagnostics) - mended))
        once = Path(path.name).read_bytes()
        if once == text.encode():
            continue  # nothing was fixed, and nothing would be again
        assert fix_files([path.name], unsafe=unsafe).diagnostics == after.diagnostics
        assert Path(path.name).read_bytes() == once
