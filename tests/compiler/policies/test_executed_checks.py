"""Checks that differ otherwise than in conditions are shown by conversations and by votes, which both are given."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from rulewright.api import check_transcript
from rulewright.cli import main
from rulewright.policies.checks import LOOKED_AT
from rulewright.policies.compare import policy_diff
from rulewright_runtime.judging.judge import JudgeRequest

CHECK = """\
id: E-1
name: asked
primary_bucket: C
severity: S2
scope: universal
{more}routing:
  {{route: llm_primary, unit_of_analysis: {window}, repetitions: {votes}, adaptive_repetitions: {adaptive}}}
scorer: {{unclear_policy: {unclear}}}
prompt: Is it so?
"""
USUAL = {"window": "local_exchange", "votes": "5", "unclear": "adjudicate", "adaptive": "false", "more": ""}


def check(folder: Path, changed: Mapping[str, str]) -> Path:
    path = folder / "checks" / "E-1.yaml"
    path.parent.mkdir(parents=True)
    (folder / "rulewright.yaml").write_text("project: p\n")
    path.write_text(CHECK.format(**{**USUAL, **changed}))
    return path


class Voting:
    """A judge that gives votes as an example writes them."""

    def __init__(self, votes: str, messages: list[dict[str, str]], confirmed: str = "") -> None:
        self.messages, self.votes, self.confirmed = messages, list[str](), confirmed
        for vote in votes.split(", "):
            match = re.fullmatch(r"(.*?)(?: \((\d+) times\))?", vote)
            assert match is not None
            self.votes += [match[1]] * int(match[2] or 1)

    def ask(self, request: JudgeRequest) -> str | None:
        votes = [self.confirmed] if self.confirmed and request.purpose == "confirm" else self.votes
        if votes != self.votes and request.attempt % 2:
            votes = [f"PASS with {self.confirmed.partition(' with ')[2]}"]
        vote, _, fields = votes[min(request.repetition, len(votes) - 1)].partition(" with ")
        verdict, _, turn = vote.partition(" quoting message ")
        said = self.messages[int(turn or 1) - 1]
        quotes = [{"turn": (int(turn) + 1) // 2, "role": said["role"], "quote": said["content"]}] if turn else []
        reply = {"verdict": verdict, "evidence": quotes, **json.loads(fields or "{}")}
        return None if verdict.startswith("no ") else json.dumps(reply)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ({}, {"votes": "3"}, ("FAIL", "PASS")),
        ({}, {"votes": "3"}, ("PASS", "FAIL")),
        ({"adaptive": "true"}, {}, ("PASS", "FAIL")),
        ({"votes": "1"}, {"votes": "2"}, ("FAIL", "UNCLEAR")),
        ({}, {"unclear": "fail_closed"}, ("UNCLEAR", "FAIL")),
    ],
)
def test_the_votes_of_an_example_are_counted_as_it_says(
    tmp_path: Path, one: dict[str, str], two: dict[str, str], expected: tuple[str, str]
) -> None:
    paths = [check(tmp_path / name, changed) for name, changed in (("one", one), ("two", two))]
    found = policy_diff(*paths)
    assert found["verdict"] == "different"
    assert expected in [(each["before"], each["after"]) for each in found["regions"]]
    for region in found["regions"]:
        judge = Voting(region["witness"]["votes"], region["witness"]["messages"])
        for path, said in zip(paths, (region["before"], region["after"]), strict=True):
            record = {"messages": region["witness"]["messages"]}
            (verdict,) = check_transcript(path.parent.parent, record, judge=judge).verdicts
            assert verdict.verdict == said.removesuffix(LOOKED_AT)
            assert not said.endswith(LOOKED_AT) or verdict.adjudication_required


def test_votes_are_shown_with_the_conversation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [check(tmp_path / votes, {"votes": votes}) for votes in ("5", "3")]
    assert main(["policy-diff", *map(str, paths)]) == 1
    said = capsys.readouterr().out
    assert (
        "verdict: FAIL -> PASS\n  where a judge gives the votes below\n  for instance\n    votes: PASS (2 times),"
        in said
    )
    assert "setting check.verifier.judging.repetitions: 5 -> 3" in said


def test_a_check_that_does_not_compile_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [check(tmp_path / name, {"more": more}) for name, more in (("one", ""), ("two", "unclex_policy: x\n"))]
    for words in (["policy-diff", *map(str, paths)], ["prove", str(paths[1])]):
        assert main(words) == 3
        assert "unknown key `unclex_policy`" in capsys.readouterr().err
    (paths[1].parents[1] / "rulewright.yaml").write_text("project: p\nsemantics: reference\n")
    assert main(["prove", str(paths[1])]) != 3


def test_two_prompts_are_distinguished_by_a_judge_that_goes_by_their_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [check(tmp_path / name, {}) for name in ("one", "two")]
    paths[1].write_text(paths[1].read_text().replace("Is it so?", "Is it not so?"))
    found = policy_diff(*paths)
    (region,) = found["regions"]
    witness = region["witness"]
    judge = Reading(re.findall(r'"([^"]*)"', witness["votes"]), witness["messages"])
    for path, said in zip(paths, (region["before"], region["after"]), strict=True):
        (verdict,) = check_transcript(path.parent.parent, {"messages": witness["messages"]}, judge=judge).verdicts
        assert verdict.verdict == said
    assert (found["verdict"], region["before"], region["after"]) == ("different", "FAIL", "PASS")
    assert main(["policy-diff", *map(str, paths)]) == 1
    assert "they ask a judge differently, so only its replies can differ" in capsys.readouterr().out


def test_prompts_that_are_rendered_the_same_are_not_distinguished(tmp_path: Path) -> None:
    paths = [check(tmp_path / name, {}) for name in ("one", "two")]
    paths[1].write_text(paths[1].read_text().replace("Is it so?", '"Is it so?{% if false %} No.{% endif %}"'))
    assert policy_diff(*paths)["regions"] == []


@pytest.mark.parametrize(("key", "one", "two"), [("severity", "S2", "S3"), ("hard_fail", False, True)])
def test_a_field_of_every_verdict_differs_for_every_conversation(
    tmp_path: Path, key: str, one: object, two: object
) -> None:
    paths = [check(tmp_path / name, {}) for name in ("one", "two")]
    text = paths[1].read_text()
    paths[1].write_text(
        text.replace("severity: S2", "severity: S3" if key == "severity" else "severity: S2\nhard_fail: true")
    )
    found = policy_diff(*paths)
    assert (found["verdict"], found["settings"]) == ("different", [])
    (region,) = found["regions"]
    assert (region["place"], region["before"], region["after"]) == (f"check.{key}", json.dumps(one), json.dumps(two))


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("cue: asks, expected_reply: names, within_replies: 2", "cue: asks, expected_reply: names, within_replies: 4",
         ("FAIL", "PASS")),
        ("cue: asks, expected_reply: names", "cue: asks, forbidden_reply: names", ("PASS", "FAIL")),
        ("cue: asks, expected_reply: names", "cue: asks, expected_reply: other", ("PASS", "FAIL")),
    ],
)  # fmt: skip
def test_an_answer_to_a_cue_is_shown_by_a_conversation(
    tmp_path: Path, one: str, two: str, expected: tuple[str, str]
) -> None:
    routes = [f"{{route: cue_response, {keys}}}" for keys in (one, two)]
    paths = [check(tmp_path / name, {}) for name in ("one", "two")]
    for path, route in zip(paths, routes, strict=True):
        path.write_text(CHECK.split("routing")[0].format(more="") + f"routing: {route}\n")
        (path.parent / "lexicons").mkdir()
        for name, role, phrase in (("asks", "user", "where to"), ("names", "assistant", "the ward"),
                                   ("other", "assistant", "look it up")):  # fmt: skip
            lexicon = f"name: {name}\nrole: {role}\npatterns: [{phrase}]\n"
            (path.parent / "lexicons" / f"{name}.yaml").write_text(lexicon)
    found = policy_diff(*paths)
    assert expected in [(each["before"], each["after"]) for each in found["regions"]]
    for region in found["regions"]:
        for path, said in zip(paths, (region["before"], region["after"]), strict=True):
            (verdict,) = check_transcript(path.parent.parent, {"messages": region["witness"]["messages"]}).verdicts
            assert verdict.verdict == said


def test_a_judge_that_is_shown_less_may_say_otherwise(tmp_path: Path) -> None:
    paths = [
        check(tmp_path / name, {"window": window})
        for name, window in (("one", "scenario_level"), ("two", "local_exchange"))
    ]
    found = policy_diff(*paths)
    assert found["verdict"] == "different"
    assert any(str(each["witness"].get("votes")).startswith("FAIL where it is shown") for each in found["regions"])


ROUTE = CHECK.split("routing")[0].format(more="")
PROBED = ROUTE + "routing: {{route: memory_probe, probes: {probes}, likeness: {likeness}, recalled_share: {share}}}\n"
PHASED = (
    ROUTE
    + """\
routing: {{route: three_phase, deterministic_precheck: asks, repetitions: 3}}
phases:
  violations: [asks where to go]
  exceptions: [quotes somebody]
  confirm:
    fields: {{asks: boolean, how: [plainly, quoted]}}
    violates: {violates}
    prompt: Does it?
  sweep: {{prompt: Does it anywhere?}}
"""
)
COUNTED = PHASED.replace("asks: boolean, how: [plainly, quoted]", "times: integer, note: string")
ANCHORED = ROUTE + "routing: {{route: llm_primary, unit_of_analysis: {window}}}\nprompt: Is it so?\n"


@pytest.mark.parametrize(
    ("text", "one", "two", "expected"),
    [
        (PROBED, {"likeness": "0.9"}, {"likeness": "0.8"}, ("FAIL", "PASS")),
        (PROBED, {"share": "0.5"}, {"share": "0.66"}, ("PASS", "FAIL")),
        (PROBED, {}, {"probes": "[time]"}, ("FAIL", "NOT_APPLICABLE")),
        (PROBED, {}, {"probes": "[recall, pronoun_continuity]"}, ("NOT_APPLICABLE", "FAIL")),
        (PHASED, {}, {"violates": "reply.asks || reply.how == 'plainly'"}, ("PASS", "FAIL")),
        (PHASED, {}, {"violates": "reply.asks && reply.how != 'plainly'"}, ("FAIL", "PASS")),
        (
            PHASED,
            {"violates": "reply.asks == false"},
            {"violates": "reply.asks == false && reply.how == 'quoted'"},
            ("FAIL", "PASS"),
        ),
        (COUNTED, {"violates": "reply.times > 0"}, {"violates": "reply.times > 1"}, ("FAIL", "PASS")),
        (COUNTED, {"violates": "reply.times > 1"}, {"violates": "reply.times > 2"}, ("FAIL", "PASS")),
        (COUNTED, {"violates": "reply.times < 1"}, {"violates": "reply.times < 0"}, ("FAIL", "PASS")),
        (COUNTED, {"violates": "reply.note == ''"}, {"violates": "reply.note != ''"}, ("PASS", "FAIL")),
        (COUNTED, {"violates": "reply.note == ''"}, {"violates": "reply.note == 'none'"}, ("FAIL", "PASS")),
        (ANCHORED, {"window": "scenario_level"}, {"window": "event_window"}, ("FAIL", "PASS")),
    ],
)
def test_a_scenario_and_the_fields_of_a_reply_show_what_they_are_said_to_show(
    tmp_path: Path, text: str, one: dict[str, str], two: dict[str, str], expected: tuple[str, str]
) -> None:
    usual = {
        "probes": "[recall]",
        "likeness": "0.85",
        "share": "1.0",
        "violates": "reply.asks && reply.how == 'plainly'",
    }
    paths = [check(tmp_path / name, {}) for name in ("one", "two")]
    for path, changed in zip(paths, (one, two), strict=True):
        path.write_text(text.format(**{**usual, **changed}))
        (path.parent / "lexicons").mkdir()
        (path.parent / "lexicons" / "asks.yaml").write_text("name: asks\nrole: assistant\npatterns: [where to]\n")
    found = policy_diff(*paths)
    assert expected in [(each["before"], each["after"]) for each in found["regions"]]
    for number, region in enumerate(found["regions"]):
        witness = region["witness"]
        record = {"id": f"chat-{number}", "messages": witness["messages"]}
        judge: Voting | Reading | None = None
        if (given := str(witness.get("votes", ""))).startswith("FAIL where"):
            judge = Reading(re.findall(r'"([^"]*)"', given), witness["messages"])
        elif given:
            confirmed, _, swept = given.rpartition(" on each candidate, or PASS if its fields contradict that, else ")
            judge = Voting(swept, witness["messages"], *([confirmed] if confirmed else []))
        for path, said in zip(paths, (region["before"], region["after"]), strict=True):
            if "scenario" in witness:
                scenarios = path.parents[1] / "scenarios"
                scenarios.mkdir(exist_ok=True)
                (scenarios / "example.yaml").write_text(json.dumps(witness["scenario"]))
                record["scenario_id"] = witness["scenario"]["scenario_id"]
            (verdict,) = check_transcript(path.parent.parent, record, judge=judge).verdicts
            assert verdict.verdict == said.partition(",")[0]


class Reading:
    """A judge that fails what holds some texts, as an example writes it."""

    def __init__(self, said: list[str], messages: list[dict[str, str]]) -> None:
        self.said, self.messages = said, messages

    def ask(self, request: JudgeRequest) -> str | None:
        if not all(each in request.prompt for each in self.said):
            return json.dumps({"verdict": "PASS", "evidence": []})
        turn = [each["content"] for each in self.messages].index(self.said[0])
        quote = {"turn": turn // 2 + 1, "role": self.messages[turn]["role"], "quote": self.said[0]}
        return json.dumps({"verdict": "FAIL", "evidence": [quote]})


def test_checks_of_projects_with_other_words_are_compared_for_the_words_of_both(tmp_path: Path) -> None:
    paths = []
    for name, words, condition in (("one", "a, b", "== 'b'"), ("two", "a, b, c", "!= 'a'")):
        path = check(tmp_path / name, {})
        project = f"project: p\nvocabulary: {{categories: [{words}]}}\n"
        (tmp_path / name / "rulewright.yaml").write_text(project, encoding="utf-8")
        path.write_text(f"id: E-1\neligibility: {{when: scenario.category {condition}}}\nfail: answer == ''\n")
        paths.append(path)
    for pair in (paths, paths[::-1]):
        found = policy_diff(*pair)
        assert (found["verdict"], [each["place"] for each in found["regions"]]) == ("different", ["eligibility"])
