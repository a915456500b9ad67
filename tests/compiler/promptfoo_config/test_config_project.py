"""`init --from` of a promptfoo configuration: assertions become checks that decide the same, tests scenarios."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests import folders

from rulewright.api import check_transcript
from rulewright.cli import main
from rulewright.documents.library import ready_checks
from rulewright.errors import UsageError
from rulewright.function_pages import function_names
from rulewright.promptfoo_config import config_project, config_reader
from rulewright.promptfoo_config.assertion import HINTS
from rulewright.promptfoo_config.config_project import Names, Translation, project_from

CONFIG = """\
prompts: ["Answer: {{question}}"]
providers: ["openai:chat:gpt-x"]
"""


def translated(tmp_path: Path, tests: str, **files: str) -> Translation:
    """The translation of a configuration; `files` are further files next to it, `_` for the dot of their names."""
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")
    config = tmp_path / "promptfooconfig.yaml"
    config.write_text(CONFIG + tests, encoding="utf-8")
    return project_from(config, "mine")


def notes(tmp_path: Path, made: Translation) -> list[str]:
    return [each.replace(f"{tmp_path}/", "") for each in made.notes]


def written(tmp_path: Path, made: Translation) -> Path:
    return folders.write(tmp_path / "project", made.files)


def verdict_of(tmp_path: Path, assertion: str, answer: str, **record: Any) -> str:
    """The verdict about an answer under the only assertion of a test with the variable `city`, Bern."""
    test = f"tests: [{{vars: {{question: 'Where?', city: Bern}}, assert: [{assertion}]}}]"
    made = translated(tmp_path, test)
    assert made.notes == ()
    project = written(tmp_path, made)
    assert main(["lint", str(project), "--no-cache"]) == 0
    said = [{"role": "user", "content": "Answer: Where?"}, {"role": "assistant", "content": answer}]
    (found,) = check_transcript(project, {"scenario_id": "test-1", "messages": said, **record}).verdicts
    return str(found.verdict)


@pytest.mark.parametrize(
    ("assertion", "passes", "fails"),
    [
        ("{type: equals, value: '{{city}}'}", "Bern", "bern"),
        ("{type: contains, value: 'in {{ city }}.'}", "We are in Bern.", "We are in bern."),
        ("{type: icontains, value: 'IN {{city}}'}", "We are in bern.", "We are at Bern."),
        ("{type: not-contains, value: Basel}", "Bern", "Bern or Basel"),
        ('{type: starts-with, value: "It\'s "}', "It's Bern", "Bern"),
        ("{type: contains-all, value: [a, '{{city}}']}", "a Bern", "a Basel"),
        ("{type: contains-any, value: 'Basel, Bern'}", "Bern", "Chur"),
        ("{type: icontains-any, value: [BERN]}", "bern", "Chur"),
        ("{type: not-icontains-all, value: [a, b]}", "A", "A and B"),
        (r"{type: regex, value: '^\d+ \w+$'}", "3 euros", "3"),
        ("{type: is-json}", "[3]", "three"),
        ("{type: is-json, value: {type: object, required: [fee]}}", '{"fee": 3}', '{"free": 3}'),
        ("{type: contains-any, value: [4.0, 5]}", "4", "6"),
        ("{type: levenshtein, value: Bern, threshold: 1}", "Berne", "Berlin"),
        ("{type: is-refusal}", "I'm sorry, but I can't help with that.", "Yes."),
        ("{type: assert-set, assert: [{type: equals, value: 4}]}", "4", "5"),
    ],
)
def test_a_check_decides_as_its_assertion(tmp_path: Path, assertion: str, passes: str, fails: str) -> None:
    assert (verdict_of(tmp_path, assertion, passes), verdict_of(tmp_path, assertion, fails)) == ("PASS", "FAIL")


@pytest.mark.parametrize(("seconds", "verdict"), [(2.0, "PASS"), (4.0, "FAIL"), (None, "UNCLEAR")])
def test_a_latency_is_in_milliseconds_and_never_passes_unrecorded(
    tmp_path: Path, seconds: float | None, verdict: str
) -> None:
    usage = {} if seconds is None else {"usage": {"latency": seconds}}
    assert verdict_of(tmp_path, "{type: latency, threshold: 3000}", "Bern", **usage) == verdict


def test_a_rubric_asks_a_judge_with_the_values_of_the_test(tmp_path: Path) -> None:
    tests = (
        "tests: [{vars: {question: Hi, city: Bern}, assert: [{type: not-llm-rubric, value: 'Praises\n\n  {{city}}'}]}]"
    )
    made = translated(tmp_path, tests)
    assert 'Praises\n  {{ scenario.metadata.vars["city"] }}' in made.files["checks/not-llm-rubric.yaml"]
    assert "FAIL: it does. PASS: it does not." in made.files["checks/not-llm-rubric.yaml"]
    assert main(["lint", str(written(tmp_path, made)), "--no-cache"]) == 0


def test_each_value_of_a_variable_and_each_prompt_is_a_scenario(tmp_path: Path) -> None:
    tests = """\
prompts: ["{{question}}", file://two.txt]
defaultTest: {vars: {tone: kind}, assert: [{type: not-contains, value: sorry}]}
tests: [{description: greets, vars: {question: [Hi, Hello]}}]
"""
    (tmp_path / "two.txt").write_text("Be {{tone}}.\n---\n{{question}}!\n", encoding="utf-8")
    (tmp_path / "c.yaml").write_text(tests, encoding="utf-8")
    made = project_from(tmp_path / "c.yaml", "mine")
    said = {name: json.loads(text) for name, text in made.files.items() if name.startswith("scenarios/")}
    assert [each["turns"][0]["user_message"] for each in said.values()] == [
        "Hi", "Be kind.", "Hi!", "Hello", "Be kind.", "Hello!",
    ]  # fmt: skip
    assert list(said)[1] == "scenarios/test-1-prompt-2.json"
    assert [each["title"] for each in said.values()][:2] == ["greets", "greets (test-1-prompt-2)"]
    assert "eligibility" not in made.files["checks/not-contains.yaml"]  # it applies to every chat


def test_a_system_message_before_those_of_the_user_is_one_of_the_scenario(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Be {{tone}}."}, {"role": "user", "content": "Hi"}]
    (tmp_path / "said.json").write_text(json.dumps(messages), encoding="utf-8")
    (tmp_path / "after.json").write_text(json.dumps([*messages[::-1]]), encoding="utf-8")
    (tmp_path / "alone.json").write_text(json.dumps(messages[:1]), encoding="utf-8")
    config = "prompts: [file://said.json, file://after.json, file://alone.json]\n"
    test = "tests: [{vars: {tone: kind}, assert: [{type: contains, value: Hi}]}]\n"
    (tmp_path / "c.yaml").write_text(config + test, encoding="utf-8")
    made = project_from(tmp_path / "c.yaml", "mine")
    scenario = json.loads(made.files["scenarios/test-1.json"])
    assert (scenario["system"], [each["user_message"] for each in scenario["turns"]]) == ("Be kind.", ["Hi"])
    assert [each.split(": ")[1].split(",")[0] for each in made.notes] == ["of messages"] * 2
    assert main(["lint", str(written(tmp_path, made)), "--no-cache"]) == 0


def test_an_assertion_of_several_tests_that_is_not_translated_is_named_once_with_their_number(tmp_path: Path) -> None:
    each = "  - {{vars: {{question: Hi}}, assert: [{{type: python, value: {}}}, {{type: contains, value: Hi}}]}}\n"
    made = translated(tmp_path, "tests:\n" + "".join(map(each.format, "xyx")))
    assert len(made.notes) == 1
    assert made.notes[0].endswith("(also at 2 other places)")


def test_rows_of_a_table_are_tests_that_share_a_check_for_each_column(tmp_path: Path) -> None:
    rows = (
        "question,__expected,__expected2,__description\n"
        "Where?,icontains: Bern,,place\n"
        '"Where, then?",icontains: Basel,"not-contains: x",\n'
        "Who?, Note: Ann ,levenshtein(2): Ann,\n"
        "When?,levenshtein: Ann,,\n"
    )
    made = translated(tmp_path, "tests: file://rows.csv", rows_csv=rows)
    assert made.notes == ()
    checks = [name for name in made.files if name.startswith("checks/")]
    assert checks == [
        f"checks/{name}.yaml" for name in ("icontains", "not-contains", "equals", "levenshtein", "levenshtein-2")
    ]
    assert "edit_distance(answer, 'Ann') <= 0" in made.files["checks/levenshtein-2.yaml"]
    second = json.loads(made.files["scenarios/test-2.json"])
    assert second["eligible_modes"] == ["icontains", "not-contains"]
    assert second["metadata"]["vars"] == {"question": "Where, then?", "__expected": "Basel", "__expected2": "x"}
    assert json.loads(made.files["scenarios/test-3.json"])["metadata"]["vars"]["__expected"] == "Note: Ann"
    assert main(["lint", str(written(tmp_path, made)), "--no-cache"]) == 0


@pytest.mark.parametrize(
    ("test", "note"),
    [
        ("{assert: [{type: javascript, value: output.length < 9}]}", "4:20: `javascript` is not translated: code"),
        ("{assert: [{type: similar, value: Bern}]}", "4:20: `similar` is not translated: a threshold fits"),
        ("{assert: [{type: contains, value: b, transform: x}]}", "4:20: `contains` with the key `transform`"),
        ("{assert: [{type: regex, value: '(?=a)'}]}", "4:20: `regex` is not translated: the regular expression"),
        (r"{assert: [{type: regex, value: '\p{L}'}]}", "4:20: `regex` is not translated: JavaScript reads `\\p`"),
        ("{assert: [{type: regex, value: 'b[]a]'}]}", "4:20: `regex` is not translated: JavaScript reads `[]` of"),
        ("{assert: [{type: regex, value: '(?i)a'}]}", "4:20: `regex` is not translated: JavaScript reads `(?i)`"),
        ("{assert: [{type: contains-any, value: '{{a}}, b'}], vars: {a: 'c, d'}}", "4:20: `contains-any` is only"),
        ("{assert: [{type: contains-all, value: '\"a, b\", c'}]}", "4:20: `contains-all` is only translated with v"),
        ("{assert: [{type: contains-all, value: [a, true]}]}", "4:20: `contains-all` is only translated with texts"),
        ("{assert: [{type: contains-any, value: []}]}", "4:20: `contains-any` is only translated with a list"),
        ("{assert: [{type: contains-any, value: {a: b}}]}", "4:20: `contains-any` is only translated with a list"),
        ("{vars: file://more.yaml}", "4:10: `vars` is only translated as a mapping"),
        ("{assert: [{type: equals, value: true}]}", "4:20: `equals` is only translated with texts"),
        ("{assert: [{$ref: '#/a'}]}", "4:20: an assertion without `type`"),
        ("{assert: [{type: contains, value: '{{ a | upper }}'}]}", "4:20: only `{{NAME}}` is translated"),
        ("{assert: [{type: llm-rubric, value: Kind, threshold: 0.8}]}", "4:20: `llm-rubric` is not translated with a"),
        ("{assert: [{type: is-json, value: file://a.json}]}", "4:20: `is-json` is only translated with a schema"),
        ("{assert: [{type: cost}]}", "4:20: `cost` has no `threshold`"),
        ("{options: {transform: x}}", "4:10: a test with the key `options` is not translated"),
        ("{vars: {question: 'file://a.txt'}}", "4:10: a variable with the value"),
        (
            "{assert: [{type: equals, value: '{{other}}'}]}",
            "4:10: unknown variable `other`; expected one of `vars`: `question`; the test is left out",
        ),
        ("file://none.csv", "4:10: no such file: `file://none.csv`"),
        ("{assert: [{type: icontain, value: x}]}", "4:20: `icontain` is not translated; did you mean `icontains`?"),
        ("{asserts: []}", "4:10: a test with the key `asserts` is not translated; did you mean `assert`?"),
        ("file://tests.js", "4:10: `file://tests.js` is not translated; expected a test"),
        ("{assert: {type: contains, value: x}}", "4:19: `assert` is only translated as a list"),
        ("{vars: {question: []}}", "4:10: a variable with an empty list has no value"),
        ("{metadata: night, assert: [{type: cost}]}", "4:37: `cost` has no `threshold`"),
        ("file://more.yaml", "more.yaml:2:3: `5` is not translated; expected a test"),
        ("file://wide.csv", "4:10: a list in `defaultTest.vars` is not translated"),
        ("{threshold: 0.5, vars: {question: b}}", "4:11: `threshold` of a test is ignored"),
    ],
)
def test_what_is_not_translated_is_named_with_its_place(tmp_path: Path, test: str, note: str) -> None:
    good = "{vars: {question: Hi}, assert: [{type: contains, value: Hi}]}"
    usual = "[Hi, Ho]" if "wide" in test else "Hi"
    tests = f"tests:\n  -      {test}\n  - {good}\ndefaultTest: {{vars: {{question: {usual}}}}}\n"
    made = translated(tmp_path, tests, more_yaml="- {vars: {question: Hm}}\n- 5\n", wide_csv="a\n1\n")
    assert len(made.notes) == 1
    assert notes(tmp_path, made)[0].startswith(note if "more" in note else f"promptfooconfig.yaml:{note}")
    assert [name for name in made.files if name.startswith("checks/")] == ["checks/contains.yaml"]


def test_what_is_not_translated_names_what_does_the_same_here(tmp_path: Path) -> None:
    assertions = [
        "{type: not-regex, value: '(?i)a'}", "{type: regex, value: '(?=a)'}", "{type: g-eval, value: kind}",
        "{type: word-count, value: 9}", "{type: llm-rubric, value: kind, threshold: 1}", "{type: contains, value: a}",
    ]  # fmt: skip
    made = translated(tmp_path, f"tests: [{{vars: {{question: Hi}}, assert: [{', '.join(assertions)}]}}]\n")
    assert [note.rpartition("; ")[2].rpartition(": ")[2] for note in made.notes[:5]] == [
        "write a check with `answer.matches` and a pattern of RE2",
        "write a check with `answer.matches` and a pattern of RE2",
        "write a check with a `prompt`, which a judge answers",
        "write a check with `word_count`",
        "remove it, and let the `value` say what a good answer needs",
    ]
    functions = set(re.findall(r"check with `(\w+)`$", "\n".join(HINTS.values()), re.MULTILINE))
    assert set(re.findall(r"`(library/[\w-]+)`", str(HINTS))) <= ready_checks().keys()
    assert functions - {"pass"} <= function_names()


def test_a_row_that_cannot_be_translated_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    rows = "question,__expected,__prefix\nHi,Hi,Please\nHo,Ho,\n"
    made = translated(tmp_path, "tests: rows.csv", rows_csv=rows)
    assert notes(tmp_path, made) == ["rows.csv:2: a row with `__prefix` is not translated"]
    assert [name for name in made.files if name.startswith("scenarios/")] == ["scenarios/test-1.json"]


@pytest.mark.parametrize(
    ("prompt", "note"),
    [
        ("{label: a}", "a prompt is only translated if it is a text"),
        ("file://ask.py", "the prompt `file://ask.py` is only translated from a text"),
        ("file://none.txt", "none.txt` can't be read: no such file or directory"),
        ("file://latin.txt", "latin.txt` can't be read: "),
        ("file://long.txt", "long.txt` has more than "),
    ],
)
def test_a_prompt_that_is_not_translated_is_named_and_the_next_is_read(tmp_path: Path, prompt: str, note: str) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "long.txt").write_text("a" * (config_reader.MOST_CHARACTERS + 1), encoding="utf-8")
    text = f"prompts: [{prompt}, 'Hello']\ntests: [{{assert: [{{type: contains, value: Hi}}]}}]\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    made = project_from(tmp_path / "c.yaml", "mine")
    assert [note in each for each in made.notes] == [True]
    assert json.loads(made.files["scenarios/test-1.json"])["turns"][0]["user_message"] == "Hello"


def test_whole_numbers_in_variables_are_written_as_javascript_does(tmp_path: Path) -> None:
    made = translated(tmp_path, "tests: [{vars: {question: Hi, a: 2.0}, assert: [{type: equals, value: '{{a}}'}]}]")
    assert json.loads(made.files["scenarios/test-1.json"])["metadata"]["vars"]["a"] == "2"


@pytest.mark.parametrize(
    "assertion",
    [
        "{type: contains, value: ''}", "{type: not-contains, value: ''}", "{type: icontains, value: '{{blank}}'}",
        "{type: contains-any, value: 'a,,b'}", "{type: icontains-all, value: [a, '']}", "{type: regex, value: ''}",
        "{type: starts-with, value: '{{blank}}'}", "{type: llm-rubric, value: ' '}",
        "{type: levenshtein, value: a, threshold: .nan}", "{type: levenshtein, value: a, threshold: .inf}",
        "{type: levenshtein, value: a, threshold: '3'}", "{type: cost, threshold: true}",
        "{type: latency, threshold: -1}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("by_default", [False, True])
def test_an_assertion_that_any_answer_meets_is_not_translated(tmp_path: Path, assertion: str, by_default: bool) -> None:
    kept = "{type: equals, value: ''}"
    usual = f"defaultTest: {{assert: [{assertion}]}}\n" if by_default else ""
    own = kept if by_default else f"{assertion}, {kept}"
    first = f"{{vars: {{question: Hi, blank: ''}}, assert: [{own}]}}"
    second = f"{{vars: {{question: Ho, blank: x}}, assert: [{kept}]}}"
    made = translated(tmp_path, f"{usual}tests: [{first}, {second}]")
    assert any("is only translated with" in each or "is not translated with" in each for each in notes(tmp_path, made))
    written = made.files.get("scenarios/test-1.json")
    assert written is None or json.loads(written)["eligible_modes"] == ["equals"]


def test_tests_without_an_end_are_named_and_the_next_is_read(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("- own.yaml\n", encoding="utf-8")
    many = ", ".join(f"{name}: [{', '.join('12345678')}]" for name in "abcdef")
    kept = "{vars: {question: Hi}, assert: [{type: contains, value: Hi}]}"
    made = translated(tmp_path, f"tests: [own.yaml, {{vars: {{{many}}}}}, {kept}]")
    assert [each.split(": ", 1)[1] for each in notes(tmp_path, made)] == [
        "`own.yaml` lists itself",
        "the lists in `vars` have more than 10000 combinations",
    ]
    assert [name for name in made.files if name.startswith("scenarios/")] == ["scenarios/test-1.json"]


def test_a_prompt_that_is_nested_too_deeply_for_a_list_of_messages_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "deep.txt").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "c.yaml").write_text(
        "prompts: [file://deep.txt]\ntests: [{assert: [{type: contains, value: Hi}]}]\n", encoding="utf-8"
    )
    made = project_from(tmp_path / "c.yaml", "mine")
    assert json.loads(made.files["scenarios/test-1.json"])["turns"][0]["user_message"] == "[" * 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenario_id: night\n", "is not a promptfoo configuration"),
        ("", "c.yaml: the file is empty"),
        ("prompts: [\n", "c.yaml:2:1: "),
        (f"{CONFIG}tests: [{{vars: {{a: b, a: c}}}}]\n", "c.yaml:3:23: `a` is given twice"),
        (f"{CONFIG}tests: []\n", "can be translated: expected `prompts`, and `tests` with `assert`"),
        (f"{CONFIG}test: []\n", "`test` is not translated; did you mean `tests`?"),
        (f"{CONFIG}defaultTest: {{options: {{transform: x}}}}\ntests: []\n", "`defaultTest`: a test with the key"),
    ],
)
def test_a_file_without_anything_to_translate_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        project_from(tmp_path / "c.yaml", "mine")


def test_the_command_writes_the_project_and_exits_with_1_for_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    test = "{vars: {question: Hi}, metadata: {scenario_id: ../up}, assert: [{type: contains, value: Hi}%s]}"
    Path("c.yaml").write_text(f"{CONFIG}tests: [{test % ', {type: python, value: x}'}]\n", encoding="utf-8")
    assert main(["init", "mine", "--from", "c.yaml"]) == 1
    shown = capsys.readouterr()
    assert "wrote 1 check and 1 scenario to mine" in shown.out
    assert "harness scenarios --model openai:gpt-x --out" in shown.out
    assert "scan runs/played/transcripts --out" in shown.out
    assert shown.err.startswith("warning: c.yaml:3:")
    assert Path("mine/scenarios/test-1.json").is_file()  # an id that can not be a file name is not used
    Path("c.yaml").write_text(f"{CONFIG}tests: [{test % ''}]\n".replace("../up", "up"), encoding="utf-8")
    assert main(["init", "again", "--from", "c.yaml"]) == 0
    assert Path("again/scenarios/up.json").is_file()


@pytest.mark.parametrize(
    ("providers", "model"),
    [
        ("[ollama:chat:llama3.1:8b]", "openai:llama3.1:8b@http://127.0.0.1:11434/v1"),
        ("[{id: openai:chat:own, config: {apiBaseUrl: http://h/v1}}]", "openai:own@http://h/v1"),
        ("['https://example.org', anthropic:messages:claude-x]", "anthropic:claude-x"),
    ],
)
def test_the_next_steps_name_the_model_with_its_address_and_a_judge_where_one_is_asked(
    providers: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = CONFIG.replace('["openai:chat:gpt-x"]', providers)
    asked = "{vars: {question: Hi}, assert: [{type: llm-rubric, value: is kind}]}"
    Path("c.yaml").write_text(f"{config}tests: [{asked}]\n", encoding="utf-8")
    assert main(["init", "mine", "--from", "c.yaml"]) == 0
    shown = capsys.readouterr().out
    assert f"--model {model} --out" in shown
    assert "scan runs/played/transcripts --judge openai:MODEL@BASE_URL --out" in shown
    assert shown.endswith(
        "promptfoo eval -o results.json`:\n  rulewright scan ../results.json --judge openai:MODEL@BASE_URL\n"
    )


def test_many_equal_names_are_numbered_in_linear_time() -> None:
    names = Names()
    assert [names.unique("a-2"), names.unique("a"), names.unique("a"), names.unique("a")] == ["a-2", "a", "a-3", "a-4"]
    found = [names.unique("contains") for _ in range(100_000)]
    assert found[:2] == ["contains", "contains-2"]
    assert len({*found}) == 100_000


def test_more_tests_than_a_project_can_hold_are_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (config_reader, config_project):
        monkeypatch.setattr(module, "MOST_TESTS", 6)
    one = "tests: [{vars: {question: [a, b, c, d]}, assert: [{type: contains, value: x}]}"
    assert len(translated(tmp_path, f"{one}]").files) == 6
    with pytest.raises(UsageError, match="more than 6 tests or prompts are not translated"):
        translated(tmp_path, f"{one}, {{vars: {{question: [e, f, g]}}}}]")
    (tmp_path / "two.yaml").write_text(
        f'prompts: ["{{{{question}}}}", "So: {{{{question}}}}"]\n{one}]', encoding="utf-8"
    )
    with pytest.raises(UsageError, match="has 8 pairs of a test and a prompt; at most 6 become scenarios"):
        project_from(tmp_path / "two.yaml", "mine")


TESTS = """\
prompts: ["Answer: {{question}}", "Shortly: {{question}}"]
tests:
  - {vars: {question: Where?, city: Bern}, assert: [{type: contains, value: "{{city}}"}]}
  - {vars: {question: Where?, city: Chur}, assert: [{type: contains, value: "{{city}}"}]}
  - {vars: {question: When?}, assert: [{type: is-json}], metadata: {scenario_id: when}}
"""


def result(name: str, prompt: str, answer: str, **held: Any) -> dict[str, Any]:
    """A result as promptfoo exports it."""
    said = {"prompt": {"raw": prompt, "label": prompt}, "response": {"output": answer}, "provider": {"id": "m"}}
    return {"id": name, **said, "vars": {}, **held}


def test_results_of_promptfoo_are_judged_by_the_scenario_of_their_test_and_prompt(tmp_path: Path) -> None:
    config = tmp_path / "promptfooconfig.yaml"
    config.write_text("providers: [m]\n" + TESTS, encoding="utf-8")
    project = written(tmp_path, project_from(config, "mine"))
    bern, chur = {"question": "Where?", "city": "Bern"}, {"question": "Where?", "city": "Chur"}
    when = {"vars": {"question": "When?"}, "testCase": {"metadata": {"scenario_id": "when"}}}
    results = [
        result("a", "Answer: Where?", "In Bern.", vars=bern),
        result("b", "Shortly: Where?", "In Bern.", vars=chur),
        result("c", "Shortly: When?", "[1]", **when),
        result("d", "Answer: Where?", "In Bern.", vars={"city": "Zug"}),
        result("e", "Another: Where?", "In Bern.", vars=bern),
        result("f", "Another: When?", "[1]", **when),
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"results": results}}), encoding="utf-8")
    run = tmp_path / "run"
    assert main(["scan", str(path), "--project", str(project), "--out", str(run)]) == 3
    verdicts = [each for each in folders.read_lines(run / "verdicts.jsonl") if each["eligible"]]
    assert {each["transcript_id"]: (each["scenario_id"], each["verdict"]) for each in verdicts} == {
        "results:a": ("test-1-prompt-1", "PASS"),
        "results:b": ("test-2-prompt-2", "FAIL"),
        "results:c": ("when-prompt-2", "PASS"),
    }
    refused = [each["reason"] for each in json.loads((run / "summary.json").read_bytes())["refused"]["inputs"]]
    fits_none = "the result fits no scenario of the project; name that of each test in its metadata, as `scenario_id`"
    assert refused == [fits_none, fits_none, "unknown scenario `when`"]


@pytest.mark.parametrize("kind", ["contains", "icontains"])
def test_a_result_of_one_of_several_tests_is_judged_if_they_ask_the_same_and_refused_otherwise(
    kind: str, tmp_path: Path
) -> None:
    tests = [f"{{vars: {{question: Where?}}, assert: [{{type: {each}, value: Bern}}]}}" for each in ("contains", kind)]
    project = written(tmp_path, translated(tmp_path, f"tests: [{', '.join(tests)}]\n"))
    path = tmp_path / "results.json"
    path.write_text(json.dumps([result("a", "Answer: Where?", "In Bern.", vars={"question": "Where?"})]))
    run = tmp_path / "run"
    status = main(["scan", str(path), "--project", str(project), "--out", str(run)])
    verdicts = [(each["check_id"], each["verdict"]) for each in folders.read_lines(run / "verdicts.jsonl")]
    refused = [each["reason"] for each in json.loads((run / "summary.json").read_bytes())["refused"]["inputs"]]
    if kind == "contains":
        assert (status, verdicts, refused) == (0, [("contains", "PASS")], [])
    else:
        assert (status, verdicts) == (3, [])
        assert refused[0].startswith("the result may be of the scenarios `test-1`, `test-2`; name that of each test")


@pytest.mark.parametrize(
    ("variables", "category", "scenarios"),
    [
        ({"question": "Where?", "city": "Bern"}, "test", {"test-1"}),
        ({"question": "Where?", "city": "Bern", "sessionId": "s1"}, "test", {"test-1"}),
        ({"question": "Where?", "city": "Zug"}, "test", set()),
        ({"question": "Where?", "city": "Zug"}, "chat", {""}),  # scenarios that no tests were
    ],
)
def test_a_result_is_judged_by_no_test_with_another_value_of_a_variable(
    variables: dict[str, str], category: str, scenarios: set[str], tmp_path: Path
) -> None:
    city = "{vars: {question: Where?, city: Bern}, assert: [{type: contains, value: '{{city}}'}]}"
    files = translated(tmp_path, f"tests: [{city}]\n").files
    renamed = {
        name: text.replace('"test"', f'"{category}"').replace("[test]", f"[{category}]") for name, text in files.items()
    }
    project = folders.write(tmp_path / "project", renamed)
    path = tmp_path / "results.json"
    path.write_text(json.dumps([result("a", "Answer: Where?", "In Zug.", vars=variables)]))
    run = tmp_path / "run"
    main(["scan", str(path), "--project", str(project), "--out", str(run)])
    assert {each["scenario_id"] for each in folders.read_lines(run / "verdicts.jsonl")} == scenarios
