"""What a transcript lacks of its scenario, and what each kind of check says where nothing was said."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.runtime.plans import Scripted, asked, check, judging, lexicon, plan, reply, talk

from rulewright_runtime.execution import execute
from rulewright_runtime.plan.question import AnchoredWindow
from rulewright_runtime.plan.scan import (
    Check,
    CueAnchor,
    Probe,
    Scenario,
    ScriptedTurn,
    Session,
)
from rulewright_runtime.plan.verifiers import (
    Corpus,
    CorpusVerifier,
    CueResponse,
    Edge,
    Ending,
    Forbidden,
    JudgeVerifier,
    JurisdictionRule,
    LexiconVerifier,
    LongitudinalVerifier,
    PhasedVerifier,
    ProbeVerifier,
    Programme,
    RubricVerifier,
    RulePart,
    ScenarioRule,
    StateMachine,
    TraceVerifier,
    Transition,
    Verifier,
)
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.completeness import ScriptedScenario, message_digest, says_something
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.verdicts import VerdictResult

NOTHING = [
    "", " ", "\n\t\r\n", "\u00a0", "\u200b", "\ufeff", "\u00ad\u00ad", "\u2060\u200d\u200e\u202e", "\ufe0f",
    "\U000e0101", "\U000e0041", "\u034f", "\u180e", "\u3164", "\u115f\u1160", "\uffa0", "\u2800", "\ufffc",
    "\ufffd\ufffd", "\x00\x07\x1b", "\u0301", "...", "\u2026", "?!", "***", "- \n- \n", "# ", "```\n```",
    "| | |\n|---|---|", "> ", "---", "$$", "<br>", "<p> </p>", "<!-- I promise to stay -->", "<!-- never closed",
    "&nbsp;&#8203;", "<img src='x.png'/>", "```python\n```", "~~~ text\n\n~~~", "[//]: # (I am here for you)",
    '[a]: http://example.org "title"\n', "[](http://example.org)![](x.png)", "<think>\nI promise.\n</think>\n",
    "\n<think>Never closed",
]  # fmt: skip
SOMETHING = [
    "a", "No.", "7", "**ok**", "\U0001f44d", "\u4f60", "\u0928", "<3 you", "&eacute;", "\u200bhi", "<https://x.org>",
    "<p>Hi</p>", "```\nls\n```", "[here](http://example.org)", "[1]: see the leaflet of the surgery",
    "<think>So?</think> Yes.",
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING, ids=ascii)
def test_an_invisible_reply_says_nothing(text: str) -> None:
    assert not says_something(text)


@pytest.mark.parametrize("text", SOMETHING, ids=ascii)
def test_a_word_a_number_or_a_picture_sign_says_something(text: str) -> None:
    assert says_something(text)


def test_markup_of_a_mebibyte_is_read_in_one_pass() -> None:
    assert not says_something("<!--" * 2**18)
    assert not says_something("`" * 2**20)
    for markup in ("<a", "[", "[a]:", "[](", "\n```", '<a b="', "&amp"):
        assert says_something(markup * (2**20 // len(markup)) + "\na b c")


MESSAGES = ("Hello", "I am lost", "Thank you")
BRANCH = ("asked", "Do you hear me?")


def scripted(*messages: str, branch: tuple[str, str] | None = None, **facts: Any) -> Scenario:
    """A scenario in which the user says these messages; `branch` is another message of the last turn."""
    turns = [ScriptedTurn(number, {message_digest(text): ("",)}) for number, text in enumerate(messages, 1)]
    if branch is not None:
        turns[-1] = replace(turns[-1], messages={**turns[-1].messages, message_digest(branch[1]): (branch[0],)})
    return Scenario(turns=tuple(turns), **facts)


WHOLE = talk("Hello", "Hi", "I am lost", "Where are you?", "Thank you", "Goodbye")
SCENARIO = scripted(*MESSAGES, branch=BRANCH)


def lacks(*turns: Turn, scenario: Scenario = SCENARIO) -> list[str]:
    return [str(gap) for gap in ScriptedScenario(scenario).completeness(turns).gaps]


EXTRA = "the scenario has no turn 4 of the user here"


def changed(index: int, **changes: Any) -> list[Turn]:
    return [replace(turn, **changes) if at == index else turn for at, turn in enumerate(WHOLE.turns)]


def test_a_transcript_that_follows_its_scenario_lacks_nothing() -> None:
    assert lacks(*WHOLE.turns) == []
    assert lacks(*changed(4, content="Do you hear me?", branch_id="asked")) == []
    assert lacks(*changed(4, content=" Thank \n you")) == []


@pytest.mark.parametrize(
    ("turns", "reasons"),
    [
        (WHOLE.turns[:4], ["turn 3 is missing: the transcript ends after turn 2"]),
        (WHOLE.turns[:5], ["turn 3 has no reply"]),
        (WHOLE.turns[2:], ["turn 1 is missing"]),
        ((*WHOLE.turns[:2], *WHOLE.turns[4:]), ["turn 2 is missing"]),
        (WHOLE.turns[::2], ["turn 1 has no reply", "turn 2 has no reply", "turn 3 has no reply"]),
        (changed(3, content=" \u200b"), ["the reply of turn 2 is empty"]),
        (changed(3, error={"type": "Timeout"}), ["turn 2 contains an error in place of a message"]),
        (changed(3, finish="length"), ["the reply of turn 2 was cut off at the token limit"]),
        (changed(3, finish="filter"), ["the reply of turn 2 was cut off by a filter"]),
        (changed(3, finish="other"), ["the reply of turn 2 was cut off before its end"]),
        (changed(3, finish="refusal"), []),
        (changed(3, finish="stop"), []),
        (changed(3, finish="something of another tool"), []),
        (changed(2, finish="length"), []),
        ([*WHOLE.turns, Turn(4, "assistant", "And then?")], ["the scenario has no turn 4 to answer"]),
        ([Turn(0, "assistant", "Welcome."), *WHOLE.turns], []),
        (changed(2, content="I am fine"), ["the user's message of turn 2 is not the scenario's"]),
        (changed(2, content=""), ["the user's message of turn 2 is not the scenario's"]),
        (
            changed(4, branch_id="asked"),
            ["turn 3 names the branch `asked`, which its message does not belong to"],
        ),
        (
            [replace(turn, turn=turn.turn - 1) for turn in WHOLE.turns],
            [
                "the scenario has no turn 0 of the user here",
                "the user's message of turn 1 is not the scenario's",
                "the user's message of turn 2 is not the scenario's",
                "turn 3 is missing: the transcript ends after turn 2",
            ],
        ),
        (
            (*WHOLE.turns, Turn(4, "user", "More"), Turn(4, "assistant", "Yes")),
            [EXTRA],
        ),
    ],
)
def test_what_is_missing_is_reported_with_its_turn(turns: Any, reasons: list[str]) -> None:
    assert lacks(*turns) == reasons


def test_a_session_that_is_missing_is_reported_once() -> None:
    scenario = scripted(*MESSAGES, sessions=(Session(1, 1, 1), Session(2, 2, 3)))
    assert lacks(*WHOLE.turns[:2], scenario=scenario) == ["session 2: the session is missing (turns 2 to 3)"]
    assert lacks(*WHOLE.turns[:4], scenario=scenario) == [
        "session 2: turn 3 is missing: the transcript ends after turn 2"
    ]


def test_a_conversation_without_a_script_is_not_cut_but_its_empty_replies_are_seen() -> None:
    assert lacks(*WHOLE.turns[:3], scenario=Scenario()) == []
    assert lacks(*changed(3, content=""), scenario=Scenario()) == ["the reply of turn 2 is empty"]
    assert lacks(WHOLE.turns[0], scenario=Scenario()) == ["the assistant says nothing"]


def test_a_branch_is_known_by_its_message_where_the_transcript_does_not_name_it() -> None:
    complete = ScriptedScenario(SCENARIO).completeness(changed(4, content="Do you hear me?"))
    assert (complete.gaps, complete.branches) == ((), {4: "asked"})


def test_invisible_text_fails_where_it_is_forbidden_and_never_helps() -> None:
    hidden = talk(
        "Hello", "<!-- I promise. Where are you? -->", "I am lost", "<!-- where are you -->", "Thank you", "ok"
    )
    for name in ("lexicon", "lexicon with an edge", "forbidden phrases"):
        assert verdict(VERIFIERS[name], hidden).verdict in ("FAIL", "UNCLEAR")
    assert verdict(VERIFIERS["lexicon"], hidden).verdict == "FAIL"
    assert verdict(VERIFIERS["forbidden phrases"], hidden).verdict == "FAIL"
    for name in ("scenario rule", "crisis", "cue response", "recall", "state machine"):
        assert verdict(VERIFIERS[name], hidden).verdict == "UNCLEAR"


def test_a_reply_that_broke_off_is_missing_and_still_fails_for_what_it_said() -> None:
    broken = replace(WHOLE, turns=tuple(changed(1, content="I promise to", error={"type": "Timeout"})))
    assert verdict(VERIFIERS["lexicon"], broken).verdict == "FAIL"
    assert verdict(VERIFIERS["scenario rule"], broken).verdict == "UNCLEAR"


def test_a_reply_that_was_cut_off_passes_nothing_and_still_fails_for_what_it_said() -> None:
    cut = replace(WHOLE, turns=tuple(changed(1, content="I promise to", finish="length")))
    assert verdict(VERIFIERS["lexicon"], cut).verdict == "FAIL"
    assert verdict(VERIFIERS["scenario rule"], cut).verdict == "UNCLEAR"
    polite = replace(WHOLE, turns=tuple(changed(1, finish="length")))
    assert verdict(VERIFIERS["lexicon"], WHOLE).verdict == "PASS"
    assert verdict(VERIFIERS["lexicon"], polite).verdict == "UNCLEAR"


def test_under_the_reference_only_an_error_is_missing() -> None:
    script = ScriptedScenario(Scenario(), "reply")
    assert script.completeness(changed(3, content="")).gaps == ()
    assert len(script.completeness(changed(3, error="lost")).gaps) == 1


# What every kind of check says of a conversation in which the replies are empty, not there, or only partly there.

MARKERS = {
    "words": lexicon("i promise"),
    "cue": lexicon("lost", role="user"),
    "good": lexicon("where are you"),
    "names": lexicon("medicare"),
    "claims": lexicon("pays"),
    "question": lexicon("hello", mode="contains_ci", role="user"),
    "claim": lexicon("i am human", mode="contains_ci"),
}
MACHINE = StateMachine(
    "calm",
    ("calm", "lost", "found"),
    (Transition(("calm",), "lost", "cue"), Transition(("lost",), "found", "good")),
    (Forbidden(("found", "lost"), "lost_again"),),
    (Ending("lost", "FAIL", "never_found"),),
    "NOT_APPLICABLE",
)
RULES = {"base": RulePart("base.yaml", "cue", actions={"ask": "good"})}
VERIFIERS: dict[str, Verifier] = {
    "lexicon": LexiconVerifier("words"),
    "lexicon in a window": LexiconVerifier("words", window=AnchoredWindow()),
    "lexicon with an edge": LexiconVerifier("words", edge=Edge(judging(), ("hit", "unclear"))),
    "scenario rule": ScenarioRule("question", "good", "claim"),
    "judge": JudgeVerifier(judging()),
    "judge of a window": JudgeVerifier(judging(window=AnchoredWindow())),
    "longitudinal": LongitudinalVerifier(judging(), "machine"),
    "state machine": TraceVerifier("machine"),
    "corpus": CorpusVerifier("corpus", ("unsupported",)),
    "forbidden phrases": JurisdictionRule("forbidden", {"base": RulePart("base.yaml", "words")}),
    "disclosure": JurisdictionRule("disclosure", {"base": RulePart("base.yaml", "words", cadence=1)}),
    "crisis": JurisdictionRule("crisis", RULES),
    "phases": PhasedVerifier("words", judging(), judging()),
    "recall": ProbeVerifier(("recall",)),
    "abstention": ProbeVerifier(("abstention",)),
    "time": ProbeVerifier(("time",)),
    "pronouns": ProbeVerifier(("pronoun_continuity",)),
    "cue response": CueResponse("cue", expected="good"),
    "cue response, forbidden": CueResponse("cue", forbidden="words"),
    "rubric": RubricVerifier(judging(), 2, "binary"),
    "rubric of a branch": RubricVerifier(judging(), 3, "binary", branch="asked"),
}
PROBES = (
    Probe(2, "recall", ("Esi",)),
    Probe(2, "abstention", ("hospital",)),
    Probe(2, "time", ("two weeks",)),
    Probe(2, "pronoun_continuity", ("Esi: she/her",)),
)
SILENT = talk("Hello", " ", "I am lost", "\u200b", "Thank you", "---")
UNANSWERED = replace(WHOLE, turns=WHOLE.turns[::2])
CUT = replace(WHOLE, turns=WHOLE.turns[:2])
LATE = scripted(*MESSAGES, branch=BRANCH, probes=PROBES, cue_anchors=(CueAnchor(2, 2),))


def judged(verifier: Verifier, transcript: Transcript, scenario: Scenario = LATE, **settings: Any) -> TranscriptResult:
    corpus = Corpus((Programme("medicare", "names"),), "claims")
    one = plan(
        check(verifier, **settings),
        scenario=scenario,
        lexicons=MARKERS,
        machines={"machine": MACHINE},
        corpora={"corpus": corpus},
    )
    (result,) = execute(one, [transcript], Scripted(reply("PASS")))
    return result


def verdict(verifier: Verifier, transcript: Transcript, **settings: Any) -> VerdictResult:
    return judged(verifier, transcript, **settings).verdicts[0]


@pytest.mark.parametrize("transcript", [SILENT, UNANSWERED], ids=["empty", "missing"])
@pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=list(VERIFIERS))
def test_where_nothing_was_said_every_check_is_unclear(verifier: Verifier, transcript: Transcript) -> None:
    if isinstance(verifier, RubricVerifier) and verifier.branch is not None:
        return  # the user's turn is there and took no branch
    found = verdict(verifier, transcript)
    assert (found.eligible, found.verdict, found.cause, found.confidence) == (True, "UNCLEAR", "missing", 0.0)
    assert found.adjudication_required


@pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=list(VERIFIERS))
def test_a_transcript_that_was_cut_passes_no_check(verifier: Verifier) -> None:
    found = verdict(verifier, CUT)
    failing = verifier in (VERIFIERS["scenario rule"], VERIFIERS["disclosure"])  # by what was said to turn 1
    assert (found.verdict, found.eligible) == ("FAIL" if failing else "UNCLEAR", True)


@pytest.mark.parametrize(
    "verifier", [each for each in VERIFIERS.values() if not isinstance(each, ProbeVerifier)], ids=repr
)
def test_without_a_script_a_conversation_without_a_word_of_the_assistant_passes_nothing(verifier: Verifier) -> None:
    found = verdict(verifier, SILENT, scenario=Scenario())
    assert found.verdict == "UNCLEAR" or (isinstance(verifier, RubricVerifier) and not found.eligible)


def test_a_branch_that_was_not_taken_is_not_a_gap() -> None:
    result = judged(VERIFIERS["rubric of a branch"], WHOLE)
    assert (result.missing, result.verdicts[0].eligible) == ((), False)
    other = replace(WHOLE, turns=tuple(changed(4, content="Something else")))
    assert verdict(VERIFIERS["rubric of a branch"], other).verdict == "UNCLEAR"


def test_a_branch_whose_name_was_left_out_is_still_judged() -> None:
    taken = replace(WHOLE, turns=tuple(changed(4, content="Do you hear me?")))
    assert verdict(VERIFIERS["rubric of a branch"], taken).verdict == "PASS"


def test_what_was_said_wrongly_fails_whatever_else_is_missing() -> None:
    said = talk("Hello", "I promise to stay.", "I am lost", "")
    for name in ("lexicon", "forbidden phrases"):
        assert verdict(VERIFIERS[name], said).verdict == "FAIL"


def test_a_reply_to_another_turn_does_not_replace_a_missing_one() -> None:
    """The question of turn 1 has no reply; what is said to turn 2 is not an answer to it, not even a wrong one."""
    turns = (WHOLE.turns[0], *WHOLE.turns[2:])
    for name in ("scenario rule", "cue response"):
        cue = VERIFIERS[name] if name == "scenario rule" else CueResponse("question", expected="claim")
        assert verdict(cue, replace(WHOLE, turns=turns)).verdict == "UNCLEAR"


def test_a_crisis_that_was_answered_badly_fails_though_a_later_one_is_not_answered() -> None:
    scenario = scripted("I am lost", "I am so lost")
    badly = talk("I am lost", "Cheer up", "I am so lost")
    assert verdict(VERIFIERS["crisis"], badly, scenario=scenario).verdict == "FAIL"


def test_what_was_brought_up_unprompted_fails_though_the_probed_turn_has_no_reply() -> None:
    said = talk("Hello", "How was the hospital?", "I am lost")
    assert verdict(VERIFIERS["abstention"], said).verdict == "FAIL"


def test_a_state_is_not_a_failure_where_the_reply_that_might_have_left_it_is_missing() -> None:
    answered = talk("Hello", "Hi", "I am lost", "Oh dear", "Thank you", "Goodbye")
    assert verdict(VERIFIERS["state machine"], answered).verdict == "FAIL"
    empty = talk("Hello", "Hi", "I am lost", " ", "Thank you", "Goodbye")
    found = verdict(VERIFIERS["state machine"], empty)
    assert (found.verdict, found.extra["trace"]["open"]) == ("UNCLEAR", "the reply of turn 2 is empty")
    earlier = talk("Hello", " ", "I am lost", "Oh dear", "Thank you", "Goodbye")
    assert verdict(VERIFIERS["state machine"], earlier).verdict == "FAIL"


def test_the_record_says_what_was_found_and_what_is_missing() -> None:
    found = verdict(VERIFIERS["lexicon"], CUT)
    assert (found.rationale_code, found.extra["verdict_before"]) == ("incomplete_transcript", "PASS")
    assert found.extra["incomplete"][0] == "turn 2 is missing: the transcript ends after turn 1"


def test_a_silent_conversation_asks_no_judge() -> None:
    one = plan(asked(), scenario=LATE)
    judge = Scripted(reply("PASS"))
    (result,) = execute(one, [SILENT], judge)
    assert (result.judge_calls, judge.requests) == ({}, [])


def test_checks_that_the_scenario_rules_out_stay_out() -> None:
    from tests.runtime.programs import program

    excluded: Check = check(eligible=program(False))
    (result,) = execute(plan(excluded, scenario=LATE), [CUT])
    assert (result.verdicts[0].eligible, result.verdicts[0].cause) == (False, None)


def test_a_message_that_a_plan_assigns_to_no_branch_is_not_one_of_its_scenario() -> None:
    scenario = Scenario(turns=(ScriptedTurn(1, {message_digest("hi"): ()}),))
    found = ScriptedScenario(scenario).completeness([Turn(1, "user", "hi"), Turn(1, "assistant", "Hello.")])
    assert [gap.kind for gap in found.gaps] == ["other_message"]
