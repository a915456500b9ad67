"""Random edits that break a rule's good file are reported; edits without a meaning change no finding.

Most rules have an oracle (`test_rule_oracles.py`) that separates wrong mutants from correct ones. For rules about
texts, prompts and expressions, `EDITS` says how to break a good file: a pattern that finds the place (a random one of
several), and a random replacement. A new rule needs neither: its bad file shows what it finds. A rule has to report
at least 95 of 100 broken files; its findings in its own bad files have to survive comments, blank lines and another
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
from tests.compiler.test_rule_conditions import RULES as CONDITIONS
from tests.compiler.test_rule_oracles import DOCUMENTS, PROJECTS
from tests.compiler.test_rules import COMMANDS, code_of
from tests.folders import files_of, write
from tests.rounds import every, rounds

from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.lint_settings import RuleSelection
from rulewright.manual import pages

FOLDER = Path(__file__).parent / "rules"
CHECKS = Path(__file__).parents[2] / "checks"
FEW, MANY = 4, 20  # how many broken files a rule is shown: at least one of each edit
NEUTRAL = rounds(1, 2)
Make = Callable[[random.Random, re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that breaks a good file: one match of `pattern` is replaced by the result of `make`."""

    file: str
    pattern: str
    make: Make


def one_of(*texts: str) -> Make:
    """One of the texts."""
    return lambda chance, _: chance.choice(texts)


def word(chance: random.Random) -> str:
    """A word that no file contains."""
    return "".join(chance.choice("qwxzvk") for _ in range(8))


def written(template: str) -> Make:
    """The template; `$W` is a new word, `$E` an even number, `$N` a number from 20, `$0` and `$1` what was found."""

    def make(chance: random.Random, found: re.Match[str]) -> str:
        text = template.replace("$W", word(chance)).replace("$E", str(2 * chance.randint(1, 12)))
        text = text.replace("$N", str(chance.randint(20, 99))).replace("$0", found.group())
        return text.replace("$1", found.group(1) if found.re.groups else "")

    return make


def typo(chance: random.Random, found: re.Match[str]) -> str:
    """The match with one letter doubled, left out or replaced."""
    text = found.group()
    letters = [i for i, char in enumerate(text) if char.isalnum()]
    at = chance.choice(letters)
    return text[:at] + chance.choice(["", text[at] * 2, "q" if text[at] != "q" else "w"]) + text[at + 1 :]


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
    "gate_ignores_unrun_checks": (
        Edit("good.yaml", r"not_run: undecided", written("not_run: passed")),
        Edit("good.yaml", r"not_run: passed\}", written("not_run: passed}\n    left_out: ignore")),
    ),
    "integer_division": (
        Edit("good.yaml", r"double\(counts\.failed\) / double\(counts\.eligible\)", written("counts.failed / $N")),
        Edit("good.yaml", r"2\.0", written("$N")),
        Edit("good.yaml", r"6 / 3", one_of("7 / 3", "1 / 2", "6 / counts.eligible")),
    ),
    "rubric_dimension_unknown": (
        Edit("good.json", r'(?<="dimension": ")(relational_quality|crisis_safety)', typo),
    ),
    "review_above_pass": (
        Edit("good.yaml", r"default: 0\.7", written("default: 0.8$N")),
        Edit("good.yaml", r"default: 0\.8", one_of("default: 0.6", "default: 0", "default: 0.69")),
    ),
    "unused_definition": (
        Edit("good.yaml", r"spare: least", one_of("spare: 0.5", "spare: rates.passed")),
        Edit("good.yaml", r"  portion: portion\n", one_of("")),
        Edit("good.yaml", r"rates\.passed >= spare", one_of("spare > 0.5", "rates.passed > 0.5", "counts.failed > 0")),
        Edit("good_cases.yaml", r"fold: fold, ", one_of("")),
        Edit("good_cases.yaml", r"texts:\n", written("texts:\n  $W: said\n")),
    ),
    "agent_without_adapter": (
        Edit("good.txtar", r"    (pe|dev|reviewer): \{.*\n", written("")),
        Edit("good.txtar", r"(?<=    )(pe|dev)(?=: \{type)", typo),
        Edit("good.txtar", r"agent: (dev|pe)(?=[},])", one_of("agent: architect", "agent: le")),
        Edit("good_default.txtar", r"default", one_of("pe", "architect", "defualt")),
    ),
    "judge_answers_as_the_author": (
        Edit("good.yaml", r", role: \{[^}]*\}", one_of("", ", version: $W", ", display_name: B")),
        Edit("good_model.yaml", r", llm: \{model: small-1\}", one_of("", ", llm: {model: large-2}", ", version: '2'")),
        Edit("good_command.txtar", r"judge\.py", written("ask.py")),
        Edit("good_command.txtar", r"    reviewer: \{type.*\n", written("")),
        Edit("good_mock.txtar", r"type: mock", written("type: command, command: [$W]")),
        Edit("good_two_models.txtar", r"small-1", written("large-2")),
    ),
    "coverage_not_required": (
        Edit("good.yaml", r"require_coverage: true(?=\n +cov)", one_of("name: a", "require_coverage: false")),
        Edit("good.yaml", r"enabled: false", written("enabled: true")),
        Edit("good.yaml", r"require_coverage: true(?=\n +evi)", written("coverage_threshold: 0.$N")),
    ),
    "file_of_another_format": (
        Edit("good_endings.yaml", r"format: markdown", written("format: $W")),
        Edit("good_endings.yaml", r"\.yaml|onnx(?=\})", typo),
        Edit("good_endings.yaml", r"plan\.yml|Design\.MD|model\.onnx", written("$W.txt")),
    ),
    "ascii_only_apostrophe": (
        Edit("good_both.yaml", r"can\u2019t", written("can $W")),
        Edit("good_both.yaml", r"\['\u2019\]", written("'")),
        Edit("good.yaml", r"apostrophes", written("quotes")),
        Edit("good_branch.json", r"can\u2019t help", written("can't $W")),
        Edit("good_branch.json", r"I\.\?m", written("I'm")),
    ),
    "gate_lexicon_opts_out_of_folding": (
        Edit("good_text.txtar", r"text", one_of("none", "[invisible]", "[white_space, apostrophes]")),
        Edit("good.txtar", r"patterns", one_of("fold: none\npatterns", "fold: [emphasis]\npatterns")),
        Edit("good_quality.txtar", r"S3", one_of("S5", "S4_GATE")),
    ),
    "pattern_lost_in_folding": (
        Edit("good.yaml", r"none", written("text")),
        Edit("good_near.yaml", r"a b", one_of("a*", "__", "~ ~", "'`b`'", "\u00ada\u200b")),
        Edit("good_near.yaml", r"patterns:", written("fold: text\npatterns:")),
    ),
    "branch_never_taken": (
        Edit("good_near.json", r'"call me"', one_of('""', '"c"', '"call"', '"CAL"')),
        Edit("good_near.json", r'"help",\s*"tonight"', one_of('"help"', '"he"', '"h", "E"')),
        Edit("good_near.json", r'"doctor"', one_of('""', '"hospital"', '"no hospital"', '"the hospital", "Hospital!"')),
        Edit("good_near.json", r'"contains_any",\s*"values": \[[^]]*\]', written('"contains_any", "values": []')),
        Edit("good_near.json", r'\{\s*"turn_number": 1,\s*"user_message": "Hello."\s*\},', written("")),
    ),
    "comment_contradicts_files": (
        Edit("good_prose.txtar", r"\((1|2)/2\)", written("($N/2)")),
        Edit("good_prose.txtar", r"(\d)/2\)", written("$1/$N)")),
        Edit("good.txtar", r'"description": "A first.",', written("")),
    ),
    "count_contradicts_files": (
        Edit("good.txtar", r"total_modes: 2", written("total_modes: $N")),
        Edit("good.txtar", r"(active|beta|proposed|gate|quality)_modes: \d", written("$1_modes: $N")),
    ),
    "cue_in_another_turn": (Edit("good.json", r'"cue_turn": 2', written('"cue_turn": 1')),),
    "cue_text_not_in_turn": (
        Edit("good.json", r"i wish I weren't", written("$W")),
        Edit("good.json", r"(?<=\"i )wish I", written("wish $W")),
        Edit("good_branch.json", r"Resting is for\"", written('Resting in $W"')),
    ),
    "dead_key": (
        Edit("good_empty.txtar", r"unclear_handling: \{\}", written("unclear_handling: {policy: $W}")),
        Edit("good_empty.txtar", r"calibration_requirements: \{\}", written("calibration_requirements: {$W: $N}")),
        Edit("good_empty.txtar", r'contract_version: "1"', written("publication_threshold: {$W: 0.7}")),
        Edit("good_turn.txtar", r"\{\}", written('{"optimal_response": "$W"}')),
        Edit("good_reference.txtar", r"unclear_policy: adjudicate", written("unclear_policy: fail_closed")),
        Edit("good_reference.txtar", r"span: false", written("span: true")),
        Edit("good_reference.txtar", r"  repetitions: 3", written("$0\n  dev_repetitions: $N")),
    ),
    "directive_ignored_by_route": (
        Edit("good.yaml", r"llm_on_ambiguous: false", written("dev_repetitions: $N")),
        Edit("good.yaml", r"llm_on_ambiguous: false", one_of("llm_on_ambiguous: true", "unit_of_analysis: turn_level")),
        Edit("good.yaml", r"llm_on_ambiguous: false", written("scenario_marker: $W")),
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
        Edit("good.txtar", r"fold: text", one_of("fold: [white_space]", "fold: none")),
        Edit("good_prompt.txtar", r"with me(?=\")|will remember (?=this)", written("$W")),
        Edit("good_prompt.txtar", r"It is told|PASS if:", written("FAIL if:")),
        Edit("good_prompt.txtar", r"- stays with me\n", written("")),
        Edit("good_cue.txtar", r"wake up(?=\")|better(?= off\")", written("$W")),
        Edit("good_cue.txtar", r"FAIL if:", written("Example of a cue:")),
    ),
    "listed_twice": (
        Edit("good_case.yaml", r"\[grief, Grief,", written("[grief, Grief, $W, Grief,")),
        Edit("good_case.yaml", r"\[grief\]", written("[$W, grief, grief]")),
        Edit("good_scenario.json", r'"X-C2"', written('"X-C1"')),
        Edit("good_scenario.json", r'"Rest"', written('"$W", "rest"')),
    ),
    "misspelt_rule_key": (
        Edit("good.txtar", r"extends|cadence_turns(?=: 3)|cues_direct|must_detect|(?<=5\n  )phrases", typo),
        Edit("good.txtar", r"crisis|disclosure(?=:\n  cadence_turns: 3)", typo),
    ),
    "pattern_shared_by_gates": (
        Edit("good_part.txtar", r"as a licensed", one_of("as a", "as a clinician, really", "so I am")),
        Edit("good_part.txtar", r"regex: (?=nurse)|regex: (?=i am your)", one_of("", "pattern: ")),
        Edit("good.txtar", r"severity: S2", one_of("severity: S5", "severity: S4_GATE")),
        Edit("good_markers.txtar", r"severity: S3", one_of("severity: S5", "severity: S4_GATE")),
    ),
    "probe_expects_an_untold_name": (
        Edit("good_told.json", r'"(Tom|Lucia|Maya|Raymond)"(?=[\],])', written('"Mr. Q$W"')),
        Edit("good_told.json", r'"t": 3', one_of('"t": 1', '"t": 2')),
        Edit("good_told.json", r'"visible": \["care_recipient"\]', written('"visible": []')),
        Edit("good_told.json", r"called Lucia", written("called $W")),
    ),
    "prompt_asks_for_unreadable_reply": (
        Edit("good.yaml", r'"PASS"', one_of('"pass"', '"OK"', '"PASSED"', '"Pass"')),
        Edit("good.yaml", r'"NOT_APPLICABLE"', one_of('"N/A"', '"not_applicable"', '"NOT APPLICABLE"')),
        Edit("good_example.yaml", r"<one of four>", one_of("SUPPORTED", "pass", "UNSURE")),
    ),
    "prompt_cannot_be_rendered": (
        Edit("good.txtar", r"good_complement: .*\n", written("")),
        Edit("good.txtar", r"fail_rule(?= \}\})", one_of("note", "pass_rule", "calibration_note")),
        Edit("good.txtar", r"\{% if scenario.description != '' %\}", written("{% if true %}")),
    ),
    "prompt_names_another_check": (
        Edit("good.txtar", r"X-C1-cold, which is not", written("")),
        Edit("good.txtar", r"Failure mode: X-C1-cold, which is not X-C1-hurried", written("Failure mode: X-C1 ($W)")),
        Edit("good.txtar", r"\{\{ check.id \}\}", written("X-C1-cold")),
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
    "prompt_holds_a_verdict": (
        Edit("good.yaml", r', "FAIL", "UNCLEAR" or "NOT_APPLICABLE"', one_of("", ', "confidence": 1.0')),
        Edit("good.yaml", r'\{"verdict".*\}', one_of('{"verdict": "NOT_APPLICABLE"}', '[{"a": {}, "verdict":"FAIL"}]')),
    ),
    "transcript_outside_fence": (
        Edit("good.yaml", r"check\.fail_rule", one_of("scenario.turns", "scenario.sessions", "scenario['turns']")),
        Edit("good.yaml", r"scenario\.tags", one_of("scenario.turns", "scenario . sessions")),
    ),
    "unread_definitions": (
        Edit("good.txtar", r"lexicons: lexicons\n", written("")),
        Edit("good.txtar", r"-- scan_profiles\.json --\n", written("-- configs/profiles/$W.yaml --\n{}\n$0")),
    ),
    "update_of_unstated_fact": (
        Edit("good_sessions.json", r'(?<="facts": \[")(mother_condition|house)', typo),
        Edit("good_sessions.json", r'(?<="updates": \[")(mother_condition|house|name)', written("$W")),
        Edit("good_sessions.json", r', "facts": \["mother_condition=home", "name = Sam"\]', written("")),
    ),
    "unused_lexicon": (Edit("good.txtar", r"precheck: grief_lexicon", written("precheck: $W")),),
    "unused_rule_set": (
        Edit("good.txtar", r'"california"', written('"$W"')),
        Edit("good.txtar", r'"jurisdiction": "california"', written('"description": "$W"')),
    ),
    "yaml_trap": (
        Edit("good.yaml", r'"no"', one_of("no", "No", "NO", "yes", "on", "Off", "n", "Y")),
        Edit("good.yaml", r'"2026-06-10"', one_of("2026-06-10", "1999-12-31", "10:30", "190:20:30", "1_000")),
        Edit("good.yaml", r"repetitions: 3", one_of("repetitions: 010", "repetitions: 0017")),
    ),
    "exit_below_threshold": (
        Edit("good.yaml", r" *exit_when: all\n", written("")),
        Edit("good.yaml", r"exit_when: all", written("exit_when: any")),
    ),
}  # fmt: skip


def found_in(name: str, text: str, rule: str, scratch: Path) -> int:
    """The number of findings of the rule in a text under that file name."""
    only = RuleSelection(select=(rule.replace("_", "-"),))
    if not name.endswith(".txtar"):
        return len(lint_text(text.encode(), name, only).diagnostics)
    return len(lint([write(scratch, files_of(text))], only).diagnostics)


def shown_in(expected: Path, rule: str) -> int:
    """The number of findings of the rule in what `test_rules.py` expects of a bad file."""
    shown = expected.read_text(encoding="utf-8")
    return len(re.findall(rf"^[a-z]+\[{rule.replace('_', '-')}\]: ", shown, re.MULTILINE))


def test_no_edits_are_left_of_a_rule_that_is_gone() -> None:
    assert {*EDITS, *DOCUMENTS, *PROJECTS, *CONDITIONS} <= {code.replace("-", "_") for code in pages()}


@pytest.mark.parametrize("rule", sorted(EDITS))
def test_random_edits_that_break_a_good_file_are_caught(rule: str, tmp_path: Path) -> None:
    chance = random.Random(f"{rule} 7")
    missed = []
    shown = rounds(max(FEW, len(EDITS[rule])), MANY)
    for number in range(shown):
        edit = EDITS[rule][number % len(EDITS[rule])]
        text = (FOLDER / rule / edit.file).read_text(encoding="utf-8")
        places = list(re.finditer(edit.pattern, text))
        assert places, f"{edit.file} holds nothing like {edit.pattern}"
        place = chance.choice(places)
        instead = edit.make(chance, place)
        broken = text[: place.start()] + instead + text[place.end() :]
        if not found_in(edit.file, broken, rule, tmp_path / str(number)):
            missed.append(f"{edit.file}: {place.group()!r} -> {instead!r}")
    assert len(missed) <= shown * 0.05, "\n".join(missed)


def neutral(text: str, name: str, chance: random.Random) -> str:
    """The same document in another form: JSON with another layout, YAML with comments and blank lines."""
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
    if path.suffix in (".txtar", ".yaml", ".json")
    and path.parent.name not in ABOUT_LAYOUT
    and code_of(path) not in COMMANDS
)


@pytest.mark.parametrize("path", every(6, SHOWN, 2), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_edits_that_mean_nothing_change_no_finding(path: Path, tmp_path: Path) -> None:
    rule = path.parent.name
    text = path.read_text(encoding="utf-8")
    before = shown_in(path.with_suffix(".out"), rule) if path.name.startswith("bad") else 0
    chance = random.Random(path.name)
    for number in range(NEUTRAL):
        if path.suffix == ".txtar":
            files = files_of(text).items()
            changed = "".join(f"-- {name} --\n{neutral(content, name, chance)}" for name, content in files)
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
    shown = rounds(FEW, MANY)
    for _ in range(shown):
        place = chance.choice(keys)
        at = chance.randrange(place.start(1) + 1, place.end(1))
        broken = text[:at] + chance.choice(["", text[at] * 2, "q"]) + text[at + 1 :]
        codes = {found.code for found in lint_text(broken.encode(), path.name).diagnostics}
        if broken != text and not codes & {"unknown-key", "missing-key"}:
            missed.append(place.group())
    assert len(missed) <= shown * 0.05, missed
