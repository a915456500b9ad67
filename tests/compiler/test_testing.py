"""What a test of a chat reports where it can't be held against a check."""

import json
from pathlib import Path

import pytest
from tests.folders import json_lines, write

import rulewright
from rulewright.testing import CheckError, load_bench

EXAMPLE = "examples: [{chat: [{assistant: fool}], verdict: FAIL}]\n"
HELLO = {"role": "user", "content": "Hello"}
CHAT = {"messages": [HELLO, {"role": "assistant", "content": "Hi"}]}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    files = {
        "rulewright.yaml": "project: shop\nprofiles: profiles.yaml\nprofile: part\n",
        "profiles.yaml": "part: {description: one, include_all: true, select: 'check.id != \"rude\"'}\n",
        "checks/brief.yaml": "id: brief\nfail: size(answer) > 80\n",
        "checks/rude.yaml": f"id: rude\nfail: answer.contains('fool')\n{EXAMPLE}",
        "two.jsonl": json_lines({**CHAT, "id": name} for name in "ab"),
        "cut.json": "{",
    }
    return write(tmp_path, files)


@pytest.mark.parametrize(
    ("chat", "check", "reason"),
    [
        (CHAT, "rude", "the profile leaves out `rude`"),
        ("two.jsonl", "brief", "two.jsonl: contains 2 conversations; expected one"),
        ("cut.json", "brief", "cut.json"),
        (5, "brief", "expected a record, a list of messages"),
    ],
)
def test_a_chat_that_cannot_be_judged_never_holds(shop: Path, chat: object, check: str, reason: str) -> None:
    given = str(shop / chat) if isinstance(chat, str) else chat
    with pytest.raises(CheckError) as failed:
        load_bench(shop).hold(given, check, "PASS")
    assert reason in str(failed.value)
    assert load_bench(shop).hold(CHAT, "brief", "PASS").verdict == "PASS"


def test_a_folder_outside_of_projects_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"no project at `.*` or above it"):
        load_bench(tmp_path)


def test_a_failed_test_of_a_judged_check_gives_the_reason_of_the_judge(tmp_path: Path) -> None:
    class Stern:
        def ask(self, request: rulewright.JudgeRequest) -> str:
            quote = {"role": "assistant", "turn": 1, "quote": "Hi"}
            return json.dumps({"verdict": "FAIL", "rationale": "the reply is curt", "evidence": [quote]})

    check = "id: kind\nprompt: 'Is it kind? FAIL: no. PASS: yes.'\n"
    shop = write(tmp_path, {"rulewright.yaml": "project: shop\n", "checks/kind.yaml": check})
    with pytest.raises(CheckError, match="= help: the reply is curt; turn 1, assistant: `Hi`"):
        load_bench(shop).hold(CHAT, "kind", "PASS", Stern())
