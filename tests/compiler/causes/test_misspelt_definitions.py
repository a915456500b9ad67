"""A definition under a misspelt name is one finding where it is written."""

from pathlib import Path

from tests.folders import write

from rulewright.linting.lint_run import lint


def found(folder: Path, files: dict[str, str]) -> list[tuple[str, str, int]]:
    write(folder, files)
    return [(each.code, Path(each.span.path).name, each.span.line) for each in lint([folder]).diagnostics]


def test_several_references_to_one_unknown_name_are_a_finding_at_the_definition(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nworkflow: {contracts: contracts.yaml, file: flow.yaml}\n",
        "contracts.yaml": "contracts:\n  note:\n    file_format: markdown\n",
        "flow.yaml": "name: note\ntasks:\n"
        "  write: {agent: dev, outputs: [{path: a.md, contract: note@1}]}\n"
        "  check: {agent: le, dependencies: [write], inputs: [{path: a.md, contract: note@1}]}\n",
    }
    assert found(tmp_path, files) == [("unknown-artifact-type", "contracts.yaml", 2)]


def test_one_reference_to_an_unknown_name_stays_a_finding_at_the_reference(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nworkflow: {contracts: contracts.yaml, file: flow.yaml}\n",
        "contracts.yaml": "contracts:\n  note@1:\n    file_format: markdown\n",
        "flow.yaml": "tasks:\n  write: {agent: dev, outputs: [{path: a.md, contract: notes@1}]}\n",
    }
    assert found(tmp_path, files) == [("unknown-artifact-type", "flow.yaml", 2)]


def test_a_key_of_another_kind_is_not_the_definition_that_references_mean(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nsemantics: seed\n",
        "scorecards/mine.yaml": "scorecard: mine\ndimensions:\n  grief: {rate: {hit: [PASS], miss: [FAIL]}}\n",
        "lexicons/grief.yaml": "patterns: [passed away]\n",
    }
    check = "name: {}\nprimary_bucket: C\nseverity: S2\nscope: universal\nrouting: {{route: lexicon_only, {}}}\n"
    for name in ("one", "two"):
        files[f"checks/{name}.yaml"] = f"id: {name}\n" + check.format(name, "deterministic_precheck: greif")
    unknown = [each for each in found(tmp_path, files) if each[0] == "unknown-lexicon"]
    assert unknown == [("unknown-lexicon", "one.yaml", 6), ("unknown-lexicon", "two.yaml", 6)]
