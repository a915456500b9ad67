"""Two checks that differ in where they apply are told apart by conversations, or proved to apply to the same ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from rulewright.check.project_check import compile_project
from rulewright.policies.compare import policy_diff
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.runs import store

FAIL = "fail: not contains_any(answer, ['112'])\n"
JUDGED = "prompt: 'Is the user sent to a doctor? PASS: yes. FAIL: no.'\n"
PAIN = "turns.exists(turn, turn.role == 'user' and contains_ci(turn.content, 'pain'))"
LONG = "turns.size() > 2"


def project(folder: Path, applies: str, rest: str) -> Path:
    (folder / "checks").mkdir(parents=True)
    (folder / "rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    path = folder / "checks" / "c.yaml"
    path.write_text(f"id: c\n{applies and f'applies: {applies}'}\n{rest}", encoding="utf-8")
    return path


@pytest.mark.parametrize("rest", [FAIL, JUDGED])
@pytest.mark.parametrize(("one", "two"), [("", PAIN), (PAIN, ""), (PAIN, LONG), (LONG, "turns.size() > 3")])
def test_a_conversation_shows_to_which_only_one_check_applies(one: str, two: str, rest: str, tmp_path: Path) -> None:
    found = policy_diff(project(tmp_path / "one", one, rest), project(tmp_path / "two", two, rest))
    assert (found["verdict"], found["settings"]) == ("different", [])
    region = next(each for each in found["regions"] if each["place"] == "applies" and each["witness"] is not None)
    assert {region["before"], region["after"]} == {"applies", "does not apply"}
    assert region["witness"]["messages"]


@pytest.mark.parametrize("rest", [FAIL, JUDGED])
@pytest.mark.parametrize(
    ("one", "two"), [(f"{PAIN} and {LONG}", f"{LONG} and {PAIN}"), (LONG, f"not (not ({LONG}))"), ("", "'true'")]
)
def test_conditions_that_say_the_same_in_other_words_are_proved_equal(
    one: str, two: str, rest: str, tmp_path: Path
) -> None:
    found = policy_diff(project(tmp_path / "one", one, rest), project(tmp_path / "two", two, rest))
    assert (found["verdict"], found["regions"], found["settings"]) == ("equal", [], [])


def test_a_condition_that_can_be_undecided_is_not_equal_to_none(tmp_path: Path) -> None:
    always = "usage.cost > 1.0 or usage.cost <= 1.0"
    found = policy_diff(project(tmp_path / "one", "", FAIL), project(tmp_path / "two", always, FAIL))
    assert found["verdict"] == "different"
    shown = {region["after"] for region in found["regions"] if region["witness"] is not None}
    assert "can't be decided, which a person must decide" in shown


class Passing:
    """A judge that passes everything."""

    def ask(self, request: Any) -> str:
        return '{"verdict": "PASS"}'


@pytest.mark.parametrize("rest", [FAIL, JUDGED])
def test_the_conversations_of_a_run_to_which_only_one_check_applies_are_listed(rest: str, tmp_path: Path) -> None:
    one, two = (project(tmp_path / name, applies, rest) for name, applies in (("one", ""), ("two", PAIN)))
    (tmp_path / "chats").mkdir()
    for name, said in (("ill", "I have pain."), ("cold", "My foot is cold.")):
        turns = [{"role": "user", "content": said}, {"role": "assistant", "content": "Rest."}]
        chat = json.dumps({"id": name, "messages": turns})
        (tmp_path / "chats" / f"{name}.json").write_text(chat, encoding="utf-8")
    store.run(compile_project(tmp_path / "one"), [tmp_path / "chats"], tmp_path / "run", judge=Passing())
    found = policy_diff(one, two, run=read_run(tmp_path / "run"))
    assert [(flip["transcript_id"], flip["after"]) for flip in found["flips"]] == [("cold", "does not apply")]
