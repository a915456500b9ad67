"""The work of lint, counted in calls of functions, grows with what is linted and not with its square."""

import gc
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from tests import safe_cases
from tests.folders import write
from tests.growth import growth_of

from rulewright.check.project_check import compile_project
from rulewright.diagnostics import Edit, Fix, error
from rulewright.documents.check import read_check
from rulewright.documents.validation import validate
from rulewright.expression.environment import Environment
from rulewright.fixes import Offsets, edits_of
from rulewright.linting.lint_run import lint
from rulewright.load import Mapping as Node
from rulewright.load import Source, load_text
from rulewright.lower.compared_numbers import compared_numbers
from rulewright.project import load_project
from rulewright.render import human
from rulewright.rules.completeness.unused_lexicon import unused_lexicon


def outputs_in_files(size: int) -> dict[str, str]:
    cases = [safe_cases.case(f"I25-{number:04}") for number in range(size)]
    outputs = {f"outputs/{each['test_id']}.json": json.dumps(each.pop("engine_output")) for each in cases}
    return {"cases/I25/I25_batch_1.json": json.dumps(cases), **outputs}


def brief_checks(size: int) -> dict[str, str]:
    checks = {f"checks/brief_{number}.yaml": f"id: brief_{number}\nfail: size(answer) > 8\n" for number in range(size)}
    return {"rulewright.yaml": "project: many\n", **checks}


def unused_lexicons(size: int) -> dict[str, str]:
    lexicons = {f"lexicons/words_{n}.yaml": f"name: words_{n}\npatterns: [word {n}]\n" for n in range(size)}
    return {**brief_checks(size), **lexicons}


def unknown_keys(size: int) -> dict[str, str]:
    return {"brief.yaml": "id: brief\nfail: size(answer) > 8\n" + "".join(f"some_{n}: 1\n" for n in range(size))}


def labels_of_a_check(size: int) -> dict[str, str]:
    labels = "".join(f"label {number}: brief_0\n" for number in range(size))
    return {**brief_checks(1), "rulewright.yaml": "project: one\nblindspots: labels.yaml\n", "labels.yaml": labels}


def terms_of_a_condition(size: int) -> dict[str, str]:
    terms = " && ".join(f'!answer.contains("word {number}")' for number in range(size))
    return {"brief.yaml": f"id: brief\nfail: >-\n  {terms}\n"}


GROWING = (
    (outputs_in_files, 10),
    (unknown_keys, 110),
    (labels_of_a_check, 60),
    (terms_of_a_condition, 70),
)  # 100 findings of a code may cause others


@pytest.mark.parametrize(("files", "part"), GROWING)
def test_the_work_of_lint_grows_with_what_is_linted(
    tmp_path: Path, files: Callable[[int], Mapping[str, str]], part: int
) -> None:
    def prepared(size: int) -> Callable[[], object]:
        return partial(lint, [write(tmp_path / str(size), files(size))])

    assert growth_of(prepared, part) < 1.01


@pytest.mark.parametrize("refused", ["overlays: {policy_gate: {risk_tier: T9}}", "overlays: {hil: }", "some: 1"])
def test_the_work_for_what_a_schema_refuses_grows_with_its_number(refused: str) -> None:
    def prepared(size: int) -> Callable[[], object]:
        tasks = "".join(f"  t{number}: {{agent: dev, {refused}}}\n" for number in range(size))
        root = load_text(f"tasks:\n{tasks}", "flow.yaml").root
        assert root is not None
        assert len(validate("workflow", root)) >= size
        return partial(validate, "workflow", root)

    assert growth_of(prepared, 20) < 1.01


def test_a_lexicon_that_nothing_uses_is_not_compared_with_every_check(tmp_path: Path) -> None:
    def prepared(size: int) -> Callable[[], object]:
        project = load_project(write(tmp_path / str(size), unused_lexicons(size)))
        return lambda: list(unused_lexicon(project))

    assert growth_of(prepared, 10) < 1.05


def test_the_numbers_of_a_condition_are_read_once_each() -> None:
    def prepared(size: int) -> Callable[[], object]:
        fail = " || ".join(f"size(answer) > {number}" for number in range(2, size + 2))
        root = load_text(f"id: brief\nfail: {fail}\n", "brief.yaml").root
        assert isinstance(root, Node)
        return lambda: list(compared_numbers(read_check(root)))

    assert growth_of(prepared, 30) < 1.05


def test_the_environments_of_more_checks_are_not_kept(tmp_path: Path) -> None:
    """Where a condition reads another verdict, its environment names all other checks."""

    def kept(size: int) -> int:
        readers = {
            f"checks/reads_{n}.yaml": f"id: reads_{n}\nfail: v('brief_0').verdict == FAIL\n" for n in range(size)
        }
        lint([write(tmp_path / str(size), brief_checks(1) | readers)])
        gc.collect()
        return sum(isinstance(each, Environment) for each in gc.get_objects())

    few = kept(80)
    assert kept(160) < few + 80


def test_the_work_of_compiling_grows_with_the_checks(tmp_path: Path) -> None:
    def prepared(size: int) -> Callable[[], object]:
        return partial(compile_project, load_project(write(tmp_path / str(size), brief_checks(size))))

    assert growth_of(prepared, 20) == pytest.approx(1, abs=0.01)


def test_the_work_of_showing_a_finding_with_many_places_grows_with_their_number() -> None:
    def prepared(size: int) -> Callable[[], object]:
        source = Source("a.yaml", "key: 1\n" * size)
        spans = [source.span(at, at + 3) for at in range(0, 7 * size, 7)]
        found = error(spans[0], "too many", code="unknown-key", notes=[(each, "here") for each in spans[1:]])
        return partial(human.render, [found], {"a.yaml": source})

    assert growth_of(prepared, 30) < 1.01


def test_the_work_of_applying_fixes_grows_with_their_number() -> None:
    def prepared(size: int) -> Callable[[], object]:
        source = Source("a.yaml", "kye: 1\n" * size)
        spans = [source.span(at, at + 3) for at in range(0, 7 * size, 7)]
        found = [error(each, "misspelt", fix=Fix("write `key`", (Edit(each, "key"),), safe=True)) for each in spans]
        return partial(edits_of, found, {"a.yaml": source})

    assert growth_of(prepared, 30) < 1.01


def test_the_work_of_finding_a_place_before_the_fixes_does_not_grow_with_their_number() -> None:
    def prepared(size: int) -> Callable[[], object]:
        offsets = Offsets([(at, at + 3, "longer") for at in range(0, 7 * size, 7)])
        return lambda: [offsets.before(at) for at in range(0, 10 * size, 10)]

    assert growth_of(prepared, 30) < 1.01
