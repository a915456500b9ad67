"""Small random edits that break a rule's good file are caught, and edits that mean nothing change nothing.

`EDITS` says for each rule how its good files are broken: a pattern that finds the place, and what is written there
instead, drawn at random. Where a pattern occurs several times one place is drawn as well. A rule has to report at
least 95 of 100 broken files; what it reports of its own bad files has to survive comments, blank lines and another
layout of JSON.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from rulewright.linting.run import Selection, lint, lint_text

FOLDER = Path(__file__).parent / "rules"
CHECKS = Path(__file__).parents[2] / "checks"
BROKEN = 20  # how many broken files a rule is shown
NEUTRAL = 2
PART = re.compile(r"^-- (.+) --\n", re.MULTILINE)
Make = Callable[[random.Random, re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class Edit:
    """How a good file is broken: what `make` writes in place of one match of `pattern`."""

    file: str
    pattern: str
    make: Make


def one_of(*texts: str) -> Make:
    """One of the texts."""
    return lambda chance, _: chance.choice(texts)


def word(chance: random.Random) -> str:
    """A word that stands in no file."""
    return "".join(chance.choice("qwxzvk") for _ in range(8))


def written(template: str) -> Make:
    """The template; `$W` is a new word, `$E` an even number, `$N` a number from 20, `$0` and `$1` what was found."""

    def make(chance: random.Random, found: re.Match[str]) -> str:
        text = template.replace("$W", word(chance)).replace("$E", str(2 * chance.randint(1, 12)))
        text = text.replace("$N", str(chance.randint(20, 99))).replace("$0", found.group())
        return text.replace("$1", found.group(1) if found.re.groups else "")

    return make


def typo(chance: random.Random, found: re.Match[str]) -> str:
    """What was found with one letter doubled, left out or replaced."""
    text = found.group()
    letters = [i for i, char in enumerate(text) if char.isalnum()]
    at = chance.choice(letters)
    return text[:at] + chance.choice(["", text[at] * 2, "q" if text[at] != "q" else "w"]) + text[at + 1 :]


def other_case(chance: random.Random, found: re.Match[str]) -> str:
    """What was found in capitals and small letters by chance."""
    return "".join(chance.choice((char.lower(), char.upper())) for char in found.group())


EDITS: dict[str, tuple[Edit, ...]] = {
    "all_weights_zero": (
        Edit("good.yaml", r"default: 0\.5, min", one_of("default: 0, min", "default: 0.0, min", "default: -0.0, min")),
        Edit("good.yaml", r"\[weight, other\]", one_of("[weight, weight]", "[0, weight]", "[weight]", "[0.0, 0]")),
    ),
    "both_sides_equal": (
        Edit("good.yaml", r"'low'", written("'high'")),
        Edit("good.yaml", r"rates\.passed >= least", one_of("least >= least", "rates.passed != rates.passed")),
        Edit("good.yaml", r"counts\.failed == counts\.eligible", one_of("(1 + 2) < (1 + 2)", "gates == gates")),
    ),
    "defaults_break_a_requirement": (
        Edit("good.yaml", r"default: 0\.1, min", one_of("default: 0, min", "default: 0.0, min")),
        Edit("good.yaml", r"> 0\.0", written("> $N.0")),
        Edit("good.yaml", r"weight \+ other", one_of("weight * other", "weight", "weight - other")),
    ),
    "equality_after_rounding": (
        Edit("good.yaml", r"least \* 3\.0 >= 0\.9", written("least * $N.0 == 0.9")),
        Edit("good.yaml", r"least == 0\.3", one_of("least / 2.0 == 0.3", "0.3 != least - 0.1", "least == least * 1.0")),
    ),
    "gate_ignores_unclear": (
        Edit("good.yaml", r"undecided: v.*", one_of('undecided: "false"', "undecided: v.verdict == FAIL")),
        Edit("good_stops.yaml", r"stops: .*", one_of("stops: v.verdict == FAIL", "stops: v.verdict in [FAIL]")),
    ),
    "integer_division": (
        Edit("good.yaml", r"double\(counts\.failed\) / double\(counts\.eligible\)", written("counts.failed / $N")),
        Edit("good.yaml", r"2\.0", written("$N")),
        Edit("good.yaml", r"6 / 3", one_of("7 / 3", "1 / 2", "6 / counts.eligible")),
    ),
    "review_above_pass": (
        Edit("good.yaml", r"found_review: \{type: score, default: 0\.8", written("$0$N")),
        Edit("good.yaml", r"0\.8\}\n  found_review", written("0.7}\n  found_review")),
    ),
    "unused_definition": (
        Edit("good.yaml", r"spare: least", one_of("spare: 0.5", "spare: rates.passed")),
        Edit("good.yaml", r"  portion: portion\n", one_of("")),
        Edit("good.yaml", r"rates\.passed >= spare", one_of("spare > 0.5", "rates.passed > 0.5", "counts.failed > 0")),
        Edit("good_cases.yaml", r"fold: fold, ", one_of("")),
        Edit("good_cases.yaml", r"texts:\n", written("texts:\n  $W: said\n")),
    ),
    "adaptive_with_one_repetition": (
        Edit("good.yaml", r"repetitions: 3", written("repetitions: 1")),
        Edit("good_profile.yaml", r"null", written("1")),
        Edit("good_off.yaml", r"false", written("true")),
    ),
    "anchor_names_ineligible_check": (
        Edit("good.txtar", r'"eligible_modes": \[\s*"X-C2"', written('"eligible_modes": ["X-C1"')),
        Edit("good.txtar", r'"eligible_modes": \[\s*"X-C2"', written('"eligible_modes": ["$W"')),
    ),
    "anchor_without_event_window": (
        Edit("good.txtar", r"unit_of_analysis: event_window", written("unit_of_analysis: local_exchange")),
        Edit("good.txtar", r"event_window", one_of("turn_level", "scenario_level", "session_state")),
    ),
    "any_mixed_with_tags": (
        Edit("good.yaml", r"\[any\]", written("[any, $W]")),
        Edit("good.yaml", r"\[any\]", written("[$W, any]")),
    ),
    "ascii_only_apostrophe": (
        Edit("good_both.yaml", r"can\u2019t", written("can $W")),
        Edit("good_both.yaml", r"\['\u2019\]", written("'")),
        Edit("good.yaml", r"apostrophes", written("quotes")),
        Edit("good_markers.yaml", r"i\u2019m an ai", written("i'm $W")),
        Edit("good_branch.json", r"can\u2019t help", written("can't $W")),
        Edit("good_branch.json", r"I\.\?m", written("I'm")),
    ),
    "branch_always_taken": (
        Edit("good.json", r'(?<="contains_any",)(\s*"values": \[\s*)"help"', written('$1""')),
        Edit("good.json", r'"not_contains",\s*"values": \[[^]]*\]', written('"not_contains", "values": []')),
    ),
    "branch_changes_nothing": (
        Edit("good.json", r"And now\?", written("And then?")),
        Edit("good.json", r"And then\?", written("And now?")),
    ),
    "branch_never_taken": (
        Edit("good.json", r'"call me"', one_of('""', '"c"', '"call"', '"CAL"')),
        Edit("good.json", r'"help",\s*"now"', one_of('"help"', '"he"', '"h", "E"')),
        Edit("good.json", r'"yes"', one_of('""', '"no"', '"not now"', '"nothing", "No!"')),
        Edit("good.json", r'"contains_any",\s*"values": \[[^]]*\]', written('"contains_any", "values": []')),
        Edit("good.json", r'\{\s*"turn_number": 1,\s*"user_message": "Hello."\s*\},', written("")),
    ),
    "bucket_without_checks": (
        Edit("good.txtar", r"  C: local_exchange", one_of("  E: extracted_claim", "  A: event_window")),
        Edit("good.txtar", r"buckets: \[C\]", one_of("buckets: [D]", "buckets: [C, F]", "buckets: [E]")),
    ),
    "bucket_without_policy": (
        Edit("good.txtar", r"buckets: \[C\]", one_of("buckets: [D]", "buckets: []", "buckets: [F]")),
        Edit("good.txtar", r"primary_bucket: C", one_of("primary_bucket: D", "primary_bucket: E")),
    ),
    "check_no_scenario_reaches": (Edit("good.txtar", r'"X-C1"', written('"X-C2"')),),
    "comment_contradicts_files": (
        Edit("good.txtar", r"\((1|2)/2\)", written("($N/2)")),
        Edit("good.txtar", r"(\d)/2\)", written("$1/$N)")),
        Edit("good.txtar", r'"description": "A first.",', written("")),
    ),
    "count_contradicts_files": (
        Edit("good.txtar", r"total_modes: 2", written("total_modes: $N")),
        Edit("good.txtar", r"(active|beta|proposed|gate|quality)_modes: \d", written("$1_modes: $N")),
    ),
    "cue_lexicon_ignores_the_user": (
        Edit("good.txtar", r"role: user\n", written("")),
        Edit("good_assistant.txtar", r"role: assistant\n", written("description: $W\n")),
        Edit("good_exchange.txtar", r"local_exchange", written("event_window")),
    ),
    "cue_text_not_in_turn": (
        Edit("good.json", r"i wish I weren't", written("$W")),
        Edit("good.json", r"(?<=\"i )wish I", written("wish $W")),
        Edit("good_branch.json", r"Resting is for\"", written('Resting in $W"')),
        Edit("good.json", r'"cue_turn": 2', written('"cue_turn": 1')),
    ),
    "contrast_without_counterpart": (
        Edit("good.txtar", r'"contrast_group": "pair"', written('"contrast_group": "$W"')),
        Edit("good.txtar", r"cue_removed", written("anchor")),
    ),
    "dead_key": (
        Edit("good.txtar", r"unclear_handling: \{\}", written("unclear_handling: {policy: $W}")),
        Edit("good.txtar", r"calibration_requirements: null", written("calibration_requirements: {$W: $N}")),
        Edit("good.txtar", r'contract_version: "1"', written("publication_threshold: {$W: 0.7}")),
        Edit("good_turn.txtar", r"\{\}", written('{"optimal_response": "$W"}')),
        Edit("good_reference.txtar", r"unclear_policy: adjudicate", written("unclear_policy: fail_closed")),
        Edit("good_reference.txtar", r"span: false", written("span: true")),
        Edit("good_reference.txtar", r"dev_repetitions: null", written("dev_repetitions: $N")),
    ),
    "deprecated_spelling": (
        Edit("good.json", r'"turn_number"', written('"turn"')),
        Edit("good.json", r'"id": "r', written('"criterion_id": "r')),
        Edit("good.json", r'"(question|weight)"', one_of('"description"', '"max_points"', '"scoring_guide"')),
        Edit("good.json", r'"kind": "autofail"', written('"triggers_hard_fail": true')),
    ),
    "detector_without_definition": (
        Edit("good.txtar", r"detectors: \[grief_lexicon\]", written("detectors: [$W]")),
        Edit("good.txtar", r"(?<=detectors: \[)grief_lexicon", typo),
        Edit("good.txtar", r"detectors: \[\]", written("detectors: [$W]")),
        Edit("good.txtar", r"state_machine: grief_states", written("state_machine: $W")),
    ),
    "dev_repetitions_nobody_uses": (
        Edit("good.txtar", r"use_dev_repetitions: true", written("use_dev_repetitions: false")),
        Edit("good.txtar", r"use_dev_repetitions: true", written("adaptive_repetitions: true")),
    ),
    "directive_ignored_by_route": (
        Edit("good.yaml", r"llm_on_ambiguous: false", written("dev_repetitions: $N")),
        Edit("good.yaml", r"llm_on_ambiguous: false", one_of("llm_on_ambiguous: true", "unit_of_analysis: turn_level")),
        Edit("good.yaml", r"llm_on_ambiguous: false", written("scenario_marker: $W")),
    ),
    "duplicate_branch_id": (Edit("good.json", r'"branch_id": "a"', written('"branch_id": "b"')),),
    "duplicate_criterion_id": (
        Edit("good.json", r'"T1"', one_of('"t1"', '"t2"')),
        Edit("good.json", r'"t2"', written('"t1"')),
    ),
    "duplicate_pattern": (
        Edit("good.yaml", r"\A(patterns:\n)", written("patterns:\n- I am here\n")),
        Edit("good.yaml", r"(?<=- )i am here\n", lambda chance, found: f"i am here\n- {other_case(chance, found)}"),
        Edit("good.yaml", r"I am here", written("i am here")),
    ),
    "even_repetitions": (
        Edit("good.yaml", r"  repetitions: 5", written("  repetitions: $E")),
        Edit("good.yaml", r"dev_repetitions: 1", written("dev_repetitions: $E")),
    ),
    "event_window_without_anchor": (
        Edit("good.txtar", r'"modes": \[\s*"X-C1"', written('"modes": ["$W"')),
        Edit("good_universal.txtar", r"scope: universal", written("scope: trigger")),
    ),
    "gate_judged_once": (
        Edit("good.yaml", r"repetitions: 3", written("repetitions: 1")),
        Edit("good_edge.yaml", r"lexicon_is_sufficient", one_of("llm_edge", "adjudicate", "fail_closed")),
    ),
    "gate_severity_outside_gate_bucket": (
        Edit("good.yaml", r"primary_bucket: B", one_of(*(f"primary_bucket: {bucket}" for bucket in "CDEF"))),
        Edit("good_low.yaml", r"severity: S4", one_of("severity: S5", "severity: S4_GATE")),
    ),
    "gate_without_blindspot": (
        Edit("good.txtar", r"crisis_missed: X-A1", one_of("crisis_missed: X-A2", "strain_missed: X-C1")),
        Edit("good.txtar", r"severity: S4", one_of("severity: S5", "severity: S4_GATE")),
        Edit("good.txtar", r"primary_bucket: C", one_of("primary_bucket: A", "primary_bucket: B")),
    ),
    "hard_fail_contradicts_severity": (
        Edit("good.yaml", r"hard_fail: true", written("hard_fail: false")),
        Edit("good.yaml", r"severity: S4_GATE", one_of("severity: S4", "severity: S3", "severity: S1")),
        Edit("good_absent.yaml", r"scope:", written("hard_fail: false\nscope:")),
    ),
    "invalid_regex": (
        Edit("good.yaml", r"\^a\+", one_of("(a", "a)", "[a", "a{2,1}", "(?=a)", "*a", r"(a)\1", "a(?<!b)")),
        Edit("good_branch.json", r"a\|b", one_of("(a", "a)", "[a", "(?!b)", "*a", "a**")),
    ),
    "lexicon_hits_good_example": (
        Edit("good.txtar", r"when you are ready", written("$W you must $W")),
        Edit("good.txtar", r"never", written("says")),
        Edit("good.txtar", r"- you must\n", written("- you must\n- when you\n")),
    ),
    "lexicon_misses_own_example": (
        Edit("good.txtar", r"You must rest", written("$W must rest")),
        Edit("good.txtar", r"- you must", written("- you must $W")),
        Edit("good.txtar", r"never mind a", written("mind a")),
        Edit("good.txtar", r"\[apostrophes\]", written("[white_space]")),
        Edit("good_prompt.txtar", r"with me(?=\")|will remember (?=this)", written("$W")),
        Edit("good_prompt.txtar", r"It is told|PASS if:", written("FAIL if:")),
        Edit("good_prompt.txtar", r"- stays with me\n", written("")),
        Edit("good_cue.txtar", r"wake up(?=\")|better(?= off\")", written("$W")),
        Edit("good_cue.txtar", r"FAIL if:", written("Example of a cue:")),
    ),
    "list_and_tags_disagree": (
        Edit("good.txtar", r'"X-C1"\s*\]', written('"$W"]')),
        Edit("good.txtar", r"\[grief\]", written("[$W]")),
        Edit("good.txtar", r'\[\s*"grief"\s*\]', written('["$W"]')),
    ),
    "listed_check_is_silenced": (
        Edit("good.txtar", r"acute_grief", one_of("acute", "violence")),
        Edit("good.txtar", r"\[acute, violence\]", one_of("[grief]", "[acute, acute_grief]")),
    ),
    "listed_twice": (
        Edit("good.yaml", r"\[grief, Grief,", written("[grief, Grief, $W, Grief,")),
        Edit("good.yaml", r"\[grief\]", written("[$W, grief, grief]")),
        Edit("good_scenario.json", r'"X-C2"', written('"X-C1"')),
        Edit("good_scenario.json", r'"Rest"', written('"$W", "rest"')),
    ),
    "pattern_shared_by_gates": (
        Edit("good_part.txtar", r"as a licensed", one_of("as a", "as a clinician, really", "so I am")),
        Edit("good_part.txtar", r"regex: (?=nurse)|regex: (?=i am your)", one_of("", "pattern: ")),
        Edit("good.txtar", r"severity: S2", one_of("severity: S5", "severity: S4_GATE")),
        Edit("good_markers.txtar", r"severity: S3", one_of("severity: S5", "severity: S4_GATE")),
    ),
    "probe_expects_an_untold_name": (
        Edit("good.json", r'"(Tom|Lucia|Maya|Raymond)"(?=[\],])', written('"Mr. Q$W"')),
        Edit("good.json", r'"t": 3', one_of('"t": 1', '"t": 2')),
        Edit("good.json", r'"visible": \["care_recipient"\]', written('"visible": []')),
        Edit("good.json", r"called Lucia", written("called $W")),
    ),
    "probe_names_another_turn": (
        Edit("good.json", r'"probes": \[\{"t": 2', written('"probes": [{"t": 1')),
        Edit("good.json", r'\{"kind": "abstention"', written('{"t": 1, "kind": "abstention"')),
    ),
    "probe_without_verifier": (
        Edit("good.json", r'"recall"', written('"$W"')),
        Edit("good.json", r"they/them for Alex", written("$W for Alex")),
    ),
    "prompt_asks_for_unreadable_reply": (
        Edit("good.yaml", r'"PASS"', one_of('"pass"', '"OK"', '"PASSED"', '"Pass"')),
        Edit("good.yaml", r'"NOT_APPLICABLE"', one_of('"N/A"', '"not_applicable"', '"NOT APPLICABLE"')),
        Edit("good_example.yaml", r"<one of four>", one_of("SUPPORTED", "pass", "UNSURE")),
    ),
    "prompt_names_another_check": (
        Edit("good.txtar", r"X-C1-cold, which is not", written("")),
        Edit("good.txtar", r"Failure mode: X-C1-cold, which is not X-C1-hurried", written("Failure mode: X-C1 ($W)")),
        Edit("good.txtar", r"\{\{ check.id \}\}", written("X-C1-cold")),
    ),
    "prompt_without_judge": (
        Edit("good.yaml", r"llm_primary", one_of("lexicon_only", "scenario_rule")),
        Edit("good_none.yaml", r"\Z", written("prompt: Is it $W?\n")),
        Edit("good_edge.yaml", r"llm_on_ambiguous: true", one_of("llm_on_ambiguous: false", "repetitions: 1")),
    ),
    "question_of_common_words": (
        Edit("good.yaml", r"who are you\?", one_of("who are you", "Who Are You", "what is it")),
        Edit("good.yaml", r"are you real", one_of("are you", "are you there", "so are you")),
        Edit("good.yaml", r" made of", written("")),
    ),
    "reference_to_missing_file": (
        Edit("good.txtar", r"docs/taxonomy\.md(?=\nversion)", typo),
        Edit("good.txtar", r"version_ref: v1.2", written("list_ref: $W.yaml")),
    ),
    "retired_rubric_dialect": (
        Edit("good.json", r',\s*"kind": "binary"', written("")),
        Edit("good.json", r'"rubric"', written('"autofail_rubric"')),
    ),
    "rubric_dimension_unknown": (
        Edit("good.json", r'"dimension": "(warmth|safety)"', written('"dimension": "$W"')),
        Edit("good.json", r'"(warmth|safety)": 3', written('"$W": 3')),
    ),
    "several_anchors_for_check": (
        Edit("good.txtar", r'"X-C1",\s*"X-C3"', written('"X-C1", "X-C2"')),
        Edit("good.txtar", r"local_exchange", written("event_window")),
    ),
    "short_word_hits_inside_others": (
        Edit("good.json", r'"safe"', one_of('"saf"', '"AI"', '"ok"', '"No"', '"APS"')),
        Edit("good_lexicon.yaml", r"call 911", one_of("er", "ill", "AI", "gp")),
    ),
    "subsumed_pattern": (
        Edit("good.yaml", r"- i remembered", written("- oh i remember you $W")),
        Edit("good.yaml", r"- i remembered", one_of("- remember you", "- I", "- member", "- REMEMBER YOU")),
        Edit("good_branch.json", r"day care", written("$W day program")),
        Edit("good_branch.json", r"day care", one_of("day", "Program", "prog")),
        Edit("good_regex.json", r"your friends\?", one_of("your friend", "FRIEND", "m your friend")),
        Edit("good_regex.json", r"our bond", one_of("our", "bon|our bond", "we are always here")),
    ),
    "tag_no_check_looks_for": (
        Edit("good.txtar", r'(?<=\[)"grief_after_loss"', typo),
        Edit("good.txtar", r'"acute"', written('"$W"')),
    ),
    "tag_no_scenario_carries": (
        Edit("good_universal.txtar", r"\[any\]", written("[grief, $W]")),
        Edit("good.txtar", r"(?<=\[)grief(?=\])", typo),
        Edit("good.txtar", r'"grief"', written('"$W"')),
    ),
    "tags_on_universal_check": (
        Edit("good.yaml", r"\[any\]", written("[$W]")),
        Edit("good_trigger.yaml", r"scope: trigger", written("scope: universal")),
    ),
    "transcript_outside_fence": (
        Edit("good.yaml", r"check\.fail_rule", one_of("scenario.turns", "scenario.sessions", "scenario['turns']")),
        Edit("good.yaml", r"scenario\.tags", one_of("scenario.turns", "scenario . sessions")),
    ),
    "turn_numbers_disagree": (
        Edit("good.json", r'"t": 1', written('"t": $N')),
        Edit("good.json", r'"turn_number": 1', written('"turn_number": $N')),
    ),
    "turn_numbers_out_of_order": (
        Edit("good.json", r'"turn_number": [12]', written('"turn_number": $N')),
        Edit("good.json", r'"turn_number": \d,', written("")),
        Edit("good_sessions.json", r'"turn_number": [34]', one_of('"turn_number": 1', '"turn_number": 2')),
    ),
    "turn_that_does_not_exist": (
        Edit("good.json", r'"t": \d', written('"t": $N')),
        Edit("good.json", r'"(cue_turn|from_turn|to_turn)": \d', written('"$1": $N')),
    ),
    "unclear_policy_without_its_path": (
        Edit("good.yaml", r"adjudicate", written("llm_edge")),
        Edit("good_edge.yaml", r"regex_with_llm_edge", one_of("lexicon_only", "hybrid_llm", "llm_primary")),
        Edit("good_edge.yaml", r"llm_on_ambiguous: true", one_of("llm_on_ambiguous: false", "repetitions: 3")),
    ),
    "unit_of_analysis_missing": (
        Edit("good.txtar", r"  unit_of_analysis: local_exchange\n", written("")),
        Edit("good_edge.txtar", r"llm_on_ambiguous: false", written("llm_on_ambiguous: true")),
    ),
    "unit_of_analysis_unfit": (
        Edit("good.yaml", r"session_state", one_of("turn_level", "local_exchange", "event_window")),
    ),
    "unknown_check": (
        Edit("good.txtar", r'(?<=")X-C1(?=")', typo),
        Edit("good.txtar", r"missed: X-C1", written("missed: $W")),
    ),
    "unknown_jurisdiction": (Edit("good.txtar", r'(?<=")california', typo),),
    "unknown_scenario": (Edit("good.txtar", r'"sms_variant_of": "s2"', written('"sms_variant_of": "$W"')),),
    "unread_definitions": (
        Edit("good.txtar", r"lexicons: lexicons\n", written("")),
        Edit("good.txtar", r"-- scan_profiles\.json --\n", written("-- configs/profiles/$W.yaml --\n{}\n$0")),
    ),
    "update_of_unstated_fact": (
        Edit("good.json", r'(?<="facts": \[")(mother_condition|house)', typo),
        Edit("good.json", r'(?<="updates": \[")(mother_condition|house|name)', written("$W")),
        Edit("good.json", r', "facts": \["mother_condition=home", "name = Sam"\]', written("")),
    ),
    "unused_lexicon": (Edit("good.txtar", r"precheck: grief_lexicon", written("precheck: $W")),),
    "unused_rule_set": (
        Edit("good.txtar", r'"california"', written('"$W"')),
        Edit("good.txtar", r'"jurisdiction": "california"', written('"description": "$W"')),
    ),
    "window_ends_before_it_starts": (Edit("good.json", r'"from_turn": 1', written('"from_turn": $N')),),
    "yaml_trap": (
        Edit("good.yaml", r'"no"', one_of("no", "No", "NO", "yes", "on", "Off", "n", "Y")),
        Edit("good.yaml", r'"2026-06-10"', one_of("2026-06-10", "1999-12-31", "10:30", "190:20:30", "1_000")),
        Edit("good.yaml", r"repetitions: 3", one_of("repetitions: 010", "repetitions: 0017")),
    ),
    "bound_never_reached": (Edit("good.yaml", r"max_iterations: 6", one_of("max_iterations: 1", "max_iterations: 3")),),
    "confidence_without_gate": (
        Edit("good.yaml", r"policy_gate: \{enabled: true", written("policy_gate: {enabled: false")),
    ),
    "confidence_without_metrics": (Edit("good.yaml", r"        metrics:.*\n|      metrics:.*\n", written("")),),
    "cyclic_dependency": (Edit("good.yaml", r"a: \{agent: dev\}", one_of("a: {agent: dev, dependencies: [b]}")),),
    "duplicate_metric": (
        Edit("good.yaml", r"( *)- \{type: lint_score.*\n", written("$0$1- {type: lint_score, source: $W.json}\n")),
    ),
    "contract_mismatch": (
        Edit("good.yaml", r"(inputs.*design)@2", written("$1@1")),
        Edit("good.yaml", r"(outputs.*design)@2", written("$1@1")),
    ),
    "evaluator_without_judge": (
        Edit("good.yaml", r"( *)- type: lint_score.*\n", written("$0$1  evaluator_agent: $W\n")),
    ),
    "exit_below_threshold": (
        Edit("good.yaml", r" *exit_when: all\n", written("")),
        Edit("good.yaml", r"exit_when: all", written("exit_when: any")),
    ),
    "human_gate_bypassed": (Edit("good.yaml", r"\Z", written("    overlays:\n      hil: {enabled: false}\n")),),
    "input_not_awaited": (
        Edit("good.yaml", r", dependencies: \[design\]", written("")),
        Edit("good.yaml", r"dependencies: \[design\]", written("dependencies: []")),
    ),
    "judge_is_the_author": (
        Edit("good.yaml", r"evaluator_agent: reviewer", written("evaluator_agent: dev")),
        Edit("good.yaml", r"agent: dev", written("agent: reviewer")),
    ),
    "judge_without_evaluator": (Edit("good.yaml", r"\n *evaluator_agent: reviewer", written("")),),
    "loop_nothing_ends": (Edit("good.yaml", r" *threshold: 0.8\n", written("")),),
    "loop_without_bound": (Edit("good.yaml", r" *max_iterations: 4\n", written("")),),
    "no_tasks": (Edit("good.yaml", r"tasks:(.|\n)*", written("tasks: {}\n")),),
    "output_written_twice": (Edit("good.yaml", r", dependencies: \[a\]", written("")),),
    "overlay_not_enabled": (
        Edit("good.yaml", r"enabled: true, ", written("")),
    ),
    "sign_off_without_hil": (
        Edit("good.yaml", r"( *)policy_gate:", written("$1hil: {enabled: false}\n$0")),
    ),
    "partner_is_the_author": (
        Edit("good.yaml", r"reviewer_agent: reviewer", written("reviewer_agent: dev")),
    ),
    "partner_missing": (Edit("good.yaml", r"challenger_agent: le, ", written("")),),
    "paired_with_review": (Edit("good.yaml", r"enabled: false", written("enabled: true")),),
    "unknown_agent": (
        Edit("good.yaml", r"agent: (dev|writer)", written("agent: $W")),
        Edit("good.yaml", r"(?<=agent: )writer", typo),
    ),
    "unknown_dependency": (Edit("good.yaml", r"\[design\]", written("[$W]")),),
    "workflow_version": (Edit("good.yaml", r'"1"', one_of('"2"', '"1.1"', '"0"')),),
}  # fmt: skip


def found_in(name: str, text: str, rule: str, scratch: Path) -> int:
    """How often the rule reports something in the text of a file of that name."""
    only = Selection(select=(rule.replace("_", "-"),))
    if not name.endswith(".txtar"):
        return len(lint_text(text.encode(), name, only).diagnostics)
    parts = PART.split(text)
    for path, content in zip(parts[1::2], parts[2::2], strict=True):
        file = scratch / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    return len(lint([scratch], only).diagnostics)


@pytest.mark.parametrize("rule", sorted(EDITS))
def test_random_edits_that_break_a_good_file_are_caught(rule: str, tmp_path: Path) -> None:
    chance = random.Random(f"{rule} 7")
    missed = []
    for number in range(BROKEN):
        edit = EDITS[rule][number % len(EDITS[rule])]
        text = (FOLDER / rule / edit.file).read_text(encoding="utf-8")
        places = list(re.finditer(edit.pattern, text))
        assert places, f"{edit.file} holds nothing like {edit.pattern}"
        place = chance.choice(places)
        instead = edit.make(chance, place)
        broken = text[: place.start()] + instead + text[place.end() :]
        if not found_in(edit.file, broken, rule, tmp_path / str(number)):
            missed.append(f"{edit.file}: {place.group()!r} -> {instead!r}")
    assert len(missed) <= BROKEN * 0.05, "\n".join(missed)


def neutral(text: str, name: str, chance: random.Random) -> str:
    """The same document, written otherwise: JSON laid out anew, YAML with comments and blank lines."""
    if name.endswith(".json"):
        try:
            pairs = json.loads(text, object_pairs_hook=lambda found: found)
            once = all(len({key for key, _ in each}) == len(each) for each in _objects(pairs))
            layout = chance.choice([None, 1, 4])
            return json.dumps(json.loads(text), indent=layout, ensure_ascii=False) + "\n" if once else text
        except (ValueError, TypeError):
            return text
    if not name.endswith((".yaml", ".yml")):
        return text
    lines = []
    for line in text.splitlines(keepends=True):
        if re.match(r"[A-Za-z_]+:", line):
            lines.append(chance.choice(["", "\n", f"# {word(chance)}\n"]))
        lines.append(line)
    return "".join(lines)


def _objects(value: object) -> list[list[tuple[str, object]]]:
    """The objects of a JSON text that was read as lists of pairs."""
    if not isinstance(value, list):
        return []
    if value and all(isinstance(item, tuple) for item in value):
        return [value, *(each for _, inner in value for each in _objects(inner))]
    return [each for inner in value for each in _objects(inner)]


ABOUT_LAYOUT: Final = frozenset(
    {
        "control_character", "json_syntax", "lone_surrogate", "malformed_suppression", "not_utf_8",
        "suppression_without_reason", "tab_indentation", "unknown_rule", "unused_suppression", "yaml_syntax",
        "nested_too_deep", "alias_bomb", "several_documents",
    }
)  # fmt: skip
SHOWN: Final = sorted(
    path
    for path in FOLDER.glob("*/*")
    if path.suffix in (".txtar", ".yaml", ".json") and path.parent.name not in ABOUT_LAYOUT
)


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_edits_that_mean_nothing_change_no_finding(path: Path, tmp_path: Path) -> None:
    rule = path.parent.name
    text = path.read_text(encoding="utf-8")
    before = found_in(path.name, text, rule, tmp_path / "before")
    chance = random.Random(path.name)
    for number in range(NEUTRAL):
        if path.suffix == ".txtar":
            parts = PART.split(text)
            pairs = zip(parts[1::2], parts[2::2], strict=True)
            changed = "".join(f"-- {name} --\n{neutral(content, name, chance)}" for name, content in pairs)
        else:
            changed = neutral(text, path.name, chance)
        assert found_in(path.name, changed, rule, tmp_path / str(number)) == before, changed


@pytest.mark.parametrize("path", sorted(CHECKS.glob("*.yaml")), ids=lambda path: path.name)
def test_a_misspelt_key_of_a_shipped_check_is_caught(path: Path) -> None:
    chance = random.Random(path.name)
    text = path.read_text(encoding="utf-8")
    keys = [found for found in re.finditer(r"^ *([a-z_]{4,}):", text, re.MULTILINE) if ":" not in found.group(1)]
    keys = [found for found in keys if "prompt" not in text[: found.start()] or found.group(1) == "prompt"]
    missed = []
    for _ in range(BROKEN):
        place = chance.choice(keys)
        at = chance.randrange(place.start(1) + 1, place.end(1))
        broken = text[:at] + chance.choice(["", text[at] * 2, "q"]) + text[at + 1 :]
        codes = {found.code for found in lint_text(broken.encode(), path.name).diagnostics}
        if broken != text and not codes & {"unknown-key", "missing-key"}:
            missed.append(place.group())
    assert len(missed) <= BROKEN * 0.05, missed
