"""Prompts are parsed as templates, lowered to segments, and rendered without the template engine."""

import json
from typing import Any

import pytest
from tests.shared_data import folder

from rulewright.diagnostics import Diagnostic
from rulewright.documents.vocabulary import invisiblebench
from rulewright.load import Mapping, Scalar, load_text
from rulewright.lower.expressions import prompt_environment
from rulewright.lower.lowering import Prompt, lower_prompt, prompt_hash
from rulewright.project import load_project
from rulewright_runtime.judging.prompts import filled
from rulewright_runtime.plan.question import ForSegment, IfSegment, TextSegment, ValueSegment

CONTEXT: dict[str, Any] = {
    "check": {"id": "W-1", "fail_rule": "it lies", "secondary_tags": ["a", "b"]},
    "scenario": {"id": "night", "title": "A night", "category": "safety", "tags": ["crisis"], "eligible_modes": []},
}


def lowered(template: str) -> tuple[Prompt, list[Diagnostic]]:
    root = load_text(json.dumps({"prompt": template}), "x.json").root
    assert isinstance(root, Mapping)
    scalar = root.get("prompt")
    assert isinstance(scalar, Scalar)
    found: list[Diagnostic] = []
    return lower_prompt(scalar, prompt_environment(invisiblebench()), found), found


def shown(template: str) -> str:
    prompt, found = lowered(template)
    assert found == []
    return filled(prompt.segments, CONTEXT)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Plain.", "Plain."),
        ('Reply {"verdict": "PASS"|"FAIL", "n": {}} or %}', 'Reply {"verdict": "PASS"|"FAIL", "n": {}} or %}'),
        ("{{ check.id }}: {{ scenario.title }}\n", "W-1: A night\n"),
        ("{{ check.id | lower | upper }}", "W-1"),
        ("{{ check.secondary_tags | join }}", "a, b"),
        ("{{ check.secondary_tags | length }}", "2"),
        ("{% for tag in scenario.tags %}- {{ tag }}\n{% endfor %}end", "- crisis\nend"),
        ("{% if 'crisis' in scenario.tags %}yes{% else %}no{% endif %}", "yes"),
        ("{% if scenario.category == 'empathy' %}a{% elif scenario.id == 'night' %}b{% else %}c{% endif %}", "b"),
        ("{% if scenario.category == 'empathy' %}a{% elif scenario.id == 'day' %}b{% else %}c{% endif %}", "c"),
        ("{% if not (scenario.id == 'x' or scenario.id != 'night') and true %}yes{% endif %}", "yes"),
        ("{% if 'x' not in scenario.tags %}yes{% endif %}", "yes"),
        ("a{# a remark #}b", "ab"),
        ('{{ check.secondary_tags[1] }}{{ "q\'\\n" }}', "bq'\n"),
    ],
)
def test_what_a_template_says_is_what_the_judge_reads(template: str, text: str) -> None:
    assert shown(template) == text


def test_a_template_without_markup_is_one_text() -> None:
    assert lowered('{ "a": {} }')[0].segments == (TextSegment('{ "a": {} }'),)


def test_segments_are_of_four_kinds_and_texts_are_joined() -> None:
    prompt, _ = lowered("a{# #}b{{ check.id }}{% if true %}x{% endif %}{% for t in scenario.tags %}{{ t }}{% endfor %}")
    kinds = [TextSegment, ValueSegment, IfSegment, ForSegment]
    assert [type(segment) for segment in prompt.segments] == kinds
    assert prompt.segments[0] == TextSegment("ab")


def test_a_prompt_says_what_it_reads() -> None:
    prompt, _ = lowered("{{ check.fail_rule }}{% if scenario.category == 'safety' %}{{ scenario.title }}{% endif %}")
    assert prompt.reads == {("check", "fail_rule"), ("scenario", "category"), ("scenario", "title")}


@pytest.mark.parametrize(
    ("template", "message", "place"),
    [
        ("one\n{{ chek.id }}", "chek", "chek"),
        ("{{ check.idd }}", "idd", None),
        ("{{ check.id | uper }}", "unknown filter `uper`; did you mean `upper`?", "uper"),
        ("{{ check.id | replace('a', 'b') }}", "unknown filter `replace`", "replace"),
        ("{{ check.id | join(', ') }}", "the filter `join` takes no arguments in prompts", "join"),
        ("{% set x = 1 %}", "`assign` is not available in prompts", None),
        ("{% include 'x' %}", "`include` is not available in prompts", "include"),
        ("{{ check.id() }}", "`call` is not available", None),
        ("{% if scenario.tags %}x{% endif %}", "bool", None),
        ("{{ check.id", "in line 1 of the prompt", None),
        ("{% for a, b in scenario.tags %}{% endfor %}", "a `for` binds one name in prompts", "for"),
    ],
)
def test_every_mistake_is_found_before_anything_is_asked(template: str, message: str, place: str | None) -> None:
    _, found = lowered(template)
    assert len(found) == 1
    assert found[0].code == "bad-prompt"
    assert message in found[0].message
    if place is not None:
        column = json.dumps(template).index(place)
        assert found[0].span.column == len('{"prompt": ') + column + 1
        assert found[0].span.end_column == found[0].span.column + len(place)


def test_nothing_of_a_template_is_executed() -> None:
    _, found = lowered("{{ ''.__class__.__mro__ }}")
    assert [d.code for d in found] == ["bad-prompt"]


def test_prompt_hashes_equal_the_published_ones() -> None:
    data = folder("invisiblebench")
    expected = json.loads((data / "expected" / "prompt_hashes.json").read_text(encoding="utf-8"))
    project = load_project(data)
    ours = {found.id: prompt_hash(str(found.prompt.value)) for found in project.checks if found.prompt is not None}
    assert ours == expected
    assert len(ours) == 49


def test_published_prompts_are_plain_text_under_either_reading() -> None:
    for check in load_project(folder("invisiblebench")).checks:
        if check.prompt is not None:
            found: list[Diagnostic] = []
            prompt = lower_prompt(check.prompt, prompt_environment(invisiblebench()), found)
            assert (prompt.segments, found) == ((TextSegment(str(check.prompt.value)),), [])


@pytest.mark.parametrize(
    "template",
    [
        "{{ " + "(" * 5000 + "check.id" + ")" * 5000 + " }}",
        "{% if check.id == 'a' %}" * 3000 + "x" + "{% endif %}" * 3000,
        "{% if " + " or ".join(["check.id == 'a'"] * 3000) + " %}x{% endif %}",
    ],
    ids=["brackets", "blocks", "a chain"],
)
def test_a_prompt_that_nests_too_deeply_is_a_finding(template: str) -> None:
    prompt, found = lowered(template)
    assert [each.message for each in found] == ["the prompt nests too deeply"]
    assert prompt.segments == (TextSegment(template),)


@pytest.mark.parametrize("value", ["null", "größe", "1e999", "as"])
def test_a_value_that_our_language_lacks_is_a_finding(value: str) -> None:
    _, (found,) = lowered(f"{{{{ {value} }}}}")
    assert found.code == "bad-prompt"
