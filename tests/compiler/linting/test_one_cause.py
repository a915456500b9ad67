"""One slip in a project gives one finding, even if it shows in several places."""

from pathlib import Path

import pytest
from tests.compiler.linting.test_one_cause_in_a_document import CHECK
from tests.folders import files_of, write

from rulewright.linting.lint_run import lint


def reported_places(root: Path) -> list[tuple[str, str, int]]:
    found = lint([root]).grouped().diagnostics
    return [(each.code, Path(each.span.path).name, each.span.line) for each in found]


PROJECT = "project: desk\nroot: {root}\nchecks: checks\nlexicons: lexicons\nscorecards: scorecards\n"
CARD = """\
scorecard: share
gates:
  held: {of: v.severity == S5, stops: v.verdict == FAIL, undecided: v.verdict == UNCLEAR,
         empty: {not_eligible: passed, not_run: passed}}
rates:
  passed: {rate: {of: "true", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE],
                  error: adjudicate, empty: absent}}
output: {passed: rates.passed, held: gates.held.passed.hasValue()}
headline: passed
"""
ROUTING = "routing: {route: lexicon_only, deterministic_precheck: refunds}"
FILES = {
    "rulewright.yaml": PROJECT.format(root="."),
    "checks/brief.yaml": CHECK.replace("severity: S3", "severity: S5").replace("bucket: F", "bucket: B"),
    "checks/refund.yaml": f"id: refund\nname: refund\nprimary_bucket: B\nseverity: S5\nscope: universal\n{ROUTING}\n",
    "lexicons/refunds.yaml": "name: refunds\npatterns: [we will refund]\n",
    "scorecards/share.yaml": CARD,
}


def test_the_unchanged_project_has_no_findings(tmp_path: Path) -> None:
    assert reported_places(write(tmp_path, FILES)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "line"),
    [
        ("checks/refund.yaml", "bucket: B\nseverity: S5", "bucket: S5\nseverity: B", "unknown-value", 3),
        ("checks/refund.yaml", ROUTING, "routing: lexicon_only", "wrong-type", 6),
        ("lexicons/refunds.yaml", "name: refunds", "name: refund", "id-differs-from-file-name", 1),
        ("scorecards/share.yaml", "gates:\n  held:", "gates:\n- held:", "wrong-type", 3),
        ("scorecards/share.yaml", "hit: [PASS]", "hit: [FAIL]", "verdict-without-meaning", 6),
        ("scorecards/share.yaml", "hit: [PASS], miss: [FAIL]", "hit: [FAIL], miss: [PASS]",
         "failure-counts-as-success", 6),
        ("scorecards/share.yaml", "output: {passed:", "output:\n - passed:", "yaml-syntax", 9),
        ("scorecards/share.yaml", "exclude: [UNCLEAR, NOT_APPLICABLE]", "exclude: []", "verdict-without-meaning", 6),
        ("rulewright.yaml", "scorecards: scorecards", 'scorecards: ""', "out-of-range", 5),
        ("rulewright.yaml", "root: .", "root: desk", "missing-path", 2),
        ("rulewright.yaml", "project:", "name:", "unknown-key", 1),
        ("rulewright.yaml", "root: .", "root: .\nlint: {ignore: [unit-of-analyis-missing]} # analysis, analysis",
         "unknown-rule", 3),
    ],
)  # fmt: skip
def test_a_slip_in_a_project_gives_one_finding(
    file: str, old: str, new: str, code: str, line: int, tmp_path: Path
) -> None:
    assert old in FILES[file]
    write(tmp_path, FILES | {file: FILES[file].replace(old, new, 1)})
    assert reported_places(tmp_path) == [(code, Path(file).name, line)]


WATCHED = """\
states: [calm, told]
initial: calm
cues: {danger: {role: user, patterns: [i am afraid]}}
transitions: [{from: calm, on: danger, to: told}]
endings: [{state: told, verdict: FAIL, code: not_answered}]
silent: NOT_APPLICABLE
"""
WATCHES = """\
id: watched
name: watched
primary_bucket: C
severity: S3
scope: universal
routing: {route: longitudinal_trace, state_machine: danger}
"""


@pytest.mark.parametrize(
    ("file", "to", "code", "place"),
    [
        ("lexicons/refunds.yaml", "lexicons/paying_back.yaml", "unknown-lexicon", ("refund.yaml", 6)),
        ("lexicons/refunds.yaml", "lexicons/refunds.yam", "misspelt-suffix", ("refunds.yam", 1)),
        ("lexicons/refunds.yaml", None, "unknown-lexicon", ("refund.yaml", 6)),
        ("state_machines/danger.yaml", None, "unknown-state-machine", ("watched.yaml", 6)),
        ("state_machines/danger.yaml", "state_machines/danger.yaml.txt", "misspelt-suffix", ("danger.yaml.txt", 1)),
    ],
)
def test_a_moved_file_is_one_finding(
    file: str, to: str | None, code: str, place: tuple[str, int], tmp_path: Path
) -> None:
    project = f"{FILES['rulewright.yaml']}state_machines: state_machines\n"
    files = FILES | {"rulewright.yaml": project, "checks/watched.yaml": WATCHES, "state_machines/danger.yaml": WATCHED}
    files["lexicons/refunds.yaml"] = "patterns: [we will refund]\n"
    assert reported_places(write(tmp_path, files)) == []
    (tmp_path / file).unlink()
    write(tmp_path, {to: files[file]} if to else {})
    assert reported_places(tmp_path) == [(code, *place)]


def test_a_scenario_under_a_misspelt_name_hides_no_error_about_checks(tmp_path: Path) -> None:
    exempt = f"{FILES['rulewright.yaml']}system: {{exempt: [nobody]}}\n"
    scenario = '{"scenario_id": "lost", "title": "Lost", "category": "empathy", "turns": []}'
    write(tmp_path, FILES | {"rulewright.yaml": exempt, "scenarios/lost.jsn": scenario})
    assert {"unknown-check", "misspelt-suffix"} <= {code for code, _, _ in reported_places(tmp_path)}


def test_a_check_under_a_misspelt_name_that_is_named_is_one_error(tmp_path: Path) -> None:
    exempt = f"{FILES['rulewright.yaml']}system: {{exempt: [watched]}}\n"
    write(tmp_path, FILES | {"rulewright.yaml": exempt, "checks/watched.ymal": WATCHES})
    (found,) = lint([tmp_path]).grouped().diagnostics
    assert (found.code, found.severity.value) == ("misspelt-suffix", "error")


def test_a_lexicon_copied_with_its_name_is_one_finding(tmp_path: Path) -> None:
    copy = {"lexicons/insults.yaml": FILES["lexicons/refunds.yaml"]}
    write(tmp_path, FILES | copy)
    assert reported_places(tmp_path) == [("id-differs-from-file-name", "insults.yaml", 1)]


def test_a_ready_check_without_a_bucket_is_not_reported_again_by_the_scorecard(tmp_path: Path) -> None:
    card = CARD.replace("rates:\n  passed:", "dimensions:\n  refunds:").replace('"true"', "v.primary_bucket == 'B'")
    card = card.replace("passed: rates.passed", "overall_score: 'wmean_present(dimensions, weights)'")
    card = card.replace("headline: passed\n", "").replace("empty: absent}}", "empty: absent}, weight: '1'}")
    write(tmp_path, FILES | {"scorecards/share.yaml": card})
    assert reported_places(tmp_path) == []
    write(tmp_path, {"rulewright.yaml": f"{FILES['rulewright.yaml']}use: [library/no-refusal]\n"})
    assert reported_places(tmp_path) == [("selecting-key-missing", "rulewright.yaml", 6)]


def test_a_misspelt_extends_is_one_finding(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nchecks: checks\nrules: rules\nscenarios: scenarios\n",
        "checks/says.yaml": "id: says\nname: says\nprimary_bucket: B\nseverity: S3\nscope: universal\n"
        "routing: {route: jurisdiction_rule, rule: disclosure}\n",
        "rules/base.yaml": "disclosure: {phrases: [i am an ai]}\n",
        "rules/north.yaml": "extends: base.yaml\ndisclosure: {cadence_turns: 3}\n",
        "rules/west.yaml": "extends: north.yaml\ndisclosure: {cadence_turns: 2}\n",
        "scenarios/day.yaml": "scenario_id: day\ntitle: Day\ncategory: safety\njurisdiction: west\n"
        "turns: [{turn_number: 1, user_message: Hello.}]\n",
    }
    assert reported_places(write(tmp_path, files)) == []
    write(tmp_path, {"rules/north.yaml": files["rules/north.yaml"].replace("extends", "extend")})
    assert reported_places(tmp_path) == [("misspelt-rule-key", "north.yaml", 1)]


def test_rule_sets_that_extend_each_other_are_one_finding(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: mods\nchecks: checks\nrules: rules\n",
        "rules/base.yaml": "extends: north.yaml\ndisclosure: {cadence_turns: 2, phrases: [a draft]}\n",
        "rules/north.yaml": "extends: base.yaml\n",
        "checks/says-so.yaml": (
            "id: says-so\nname: hides_it\nprimary_bucket: B\nseverity: S3\nscope: universal\n"
            "routing: {route: jurisdiction_rule, rule: disclosure}\n"
        ),
    }
    write(tmp_path, files)
    assert [each.code for each in lint([tmp_path]).diagnostics] == ["extends-cycle"]


def test_replies_of_an_agent_that_a_task_asks_are_not_reported_next_to_the_task(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nworkflow: {file: flow.yaml, adapters: "
        "{default: {type: mock, script: script.json}}}\n",
        "flow.yaml": 'version: "1"\nname: flow\ntasks:\n  draft:\n    agent: adjuster\n    description: It.\n'
        "    outputs: [{path: a.md}]\n",
        "script.json": '{"adjuster": [{"summary": "done"}]}\n',
    }
    assert [code for code, *_ in reported_places(write(tmp_path, files))] == ["unknown-agent"]


def test_cases_of_a_project_without_its_scorecard_are_not_judged_by_the_shipped_one(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nscorecards: scorecards\n",
        "scorecards/notes.md": "",
        "cases/one.json": '[{"test_id": "one", "expected": ["angina"]}]\n',
        "outputs/one.json": '{"letter": "Angina."}\n',
        "safe.config.json": '{"thresholds": {"recall": {"pass": 0.8}}}\n',
    }
    assert reported_places(write(tmp_path, files)) == [("missing-path", "rulewright.yaml", 2)]


def test_cases_of_a_project_that_cannot_be_read_are_not_judged_by_the_shipped_scorecard(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nscorecards = own\n",
        "cases/one.json": '[{"test_id": "one", "expected": ["angina"]}]\n',
        "outputs/one.json": '{"letter": "Angina."}\n',
    }
    assert reported_places(write(tmp_path, files)) == [("yaml-syntax", "rulewright.yaml", 2)]


DESK = {
    "rulewright.yaml": "project: p\nvocabulary: {buckets: [safety, fraud], severities: [minor, stop]}\n",
    "checks/one.yaml": "id: one\nprimary_bucket: safety\nseverity: stop\nfail: size(answer) > 80\n",
    "checks/two.yaml": "id: two\nprimary_bucket: fraud\nseverity: stop\nfail: size(answer) > 60\n",
    "checks/three.yaml": "id: three\nprimary_bucket: fraud\nseverity: minor\nfail: size(answer) > 40\n",
    "scorecards/own.yaml": (
        "scorecard: own\ngates:\n  held: {of: v.severity == stop, stops: v.verdict == FAIL,"
        " undecided: v.verdict == UNCLEAR, empty: {not_eligible: passed, not_run: undecided}}\n"
        "rates:\n  rest: {rate: {of: v.severity == minor, hit: [PASS], miss: [FAIL],"
        " exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate, empty: absent}}\n"
        "output: {gates: gates, rest: rates.rest}\n"
    ),
}


@pytest.mark.parametrize("word", ["stp", "stops", "stopping"])
def test_a_word_that_only_the_vocabulary_has_is_one_finding_there(word: str, tmp_path: Path) -> None:
    assert reported_places(write(tmp_path, DESK)) == []
    write(tmp_path, {"rulewright.yaml": DESK["rulewright.yaml"].replace("stop]", f"{word}]")})
    assert reported_places(tmp_path) == [("misspelt-name", "rulewright.yaml", 2)]


def test_an_unknown_scope_of_the_vocabulary_is_one_finding_there(tmp_path: Path) -> None:
    words = "vocabulary: {buckets: [care], severities: [low], scopes: {everywhere: always}}\n"
    check = "id: brief\nname: brief\nprimary_bucket: care\nseverity: low\nscope: everywhere\nfail: size(answer) > 90\n"
    write(tmp_path, {"rulewright.yaml": f"project: p\n{words}", "checks/brief.yaml": check})
    assert reported_places(tmp_path) == [("unknown-value", "rulewright.yaml", 2)]


def test_a_word_that_two_rules_find_misspelt_in_one_place_is_reported_there(tmp_path: Path) -> None:
    condition = (
        'id: brief\nscope: trigger\neligibility:\n  when: scenario.category == "empthy"\nfail: size(answer) > 80\n'
    )
    scenario = '{"scenario_id": "evening", "title": "A long evening", "category": "empathy", "open": true}'
    write(tmp_path, {"rulewright.yaml": "project: p\n", "checks/brief.yaml": condition})
    write(tmp_path, {"scenarios/evening.json": scenario})
    assert reported_places(tmp_path) == [("bad-expression", "brief.yaml", 4)]


def test_two_empty_folders_are_two_mistakes(tmp_path: Path) -> None:
    root = write(tmp_path, {"rulewright.yaml": "project: shop\nchecks: checks\nscorecards: scorecards\n"})
    for name in ("checks", "scorecards"):
        (tmp_path / name).mkdir()
    assert reported_places(root) == [
        ("project-without-checks", "rulewright.yaml", 2), ("missing-path", "rulewright.yaml", 3)
    ]  # fmt: skip


def test_a_wrong_type_hides_nothing_of_another_document(tmp_path: Path) -> None:
    spare = {"lexicons/spare.yaml": "name: spare\npatterns: [we may refund]\n"}
    brief = {"checks/brief.yaml": f"{FILES['checks/brief.yaml']}note: [short]\n"}
    write(tmp_path, FILES | spare | brief)
    assert reported_places(tmp_path) == [("wrong-type", "brief.yaml", 8), ("unused-lexicon", "spare.yaml", 1)]


@pytest.mark.parametrize(
    ("name", "text", "code", "cure"),
    [
        ("checks/a.yaml", "id = a\nprompt = Is it rude?\n", "wrong-type", "write `key: value` on each line"),
        ("checks/a.yaml", 'id: a\nfail: "idiot" in answer\n', "yaml-syntax", "write `fail: '\"idiot\" in answer'`"),
        ("checks/a.yaml", "id: a\nfail: 'idiot' in answer\n", "yaml-syntax", "write it below `fail: >-`"),
        ("lexicons/a.yaml", "- idiot\n- stupid\n", "wrong-type", "write the list below `patterns:`"),
        ("lexicons/a.yaml", "rude:\n- idiot\n", "unknown-key", "the keys here are `fold`, `name`, `patterns`, `role`"),
        (
            "checks/a.yaml",
            "id: a\nrouting: {route: lexicon_only, deterministic_precheck: words}\n",
            "missing-key",
            None,
        ),
    ],
)
def test_a_slip_of_a_newcomer_is_reported_once(
    name: str, text: str, code: str, cure: str | None, tmp_path: Path
) -> None:
    folders = "checks: checks\nlexicons: lexicons\n"
    files = {
        "checks/good.yaml": "id: good\nfail: size(answer) > 9\n",
        "lexicons/words.yaml": "patterns: [a word]\n",
        name: text,
    }
    root = write(tmp_path, {"rulewright.yaml": f"project: p\n{folders}", **files})
    found = [each for each in lint([root]).grouped().diagnostics if each.code != "unused-lexicon"]
    assert [(each.code, cure is None or cure in (each.help, each.fix and each.fix.message)) for each in found] == [
        (code, True)
    ]


def test_an_agent_that_is_not_declared_is_reported_once_with_how_to_declare_it(tmp_path: Path) -> None:
    adapters = "workflow:\n  file: flow.yaml\n  adapters:\n    writer: {type: command, command: [python3, write.py]}\n"
    task = "    agent: writer\n    description: It writes.\n    outputs: [{path: a.md}]\n"
    files = {
        "rulewright.yaml": f"project: p\n{adapters}",
        "flow.yaml": f'version: "1"\nname: flow\ntasks:\n  draft:\n{task}',
        "write.py": "",
    }
    root = write(tmp_path, files)
    (found,) = lint([root]).diagnostics
    assert found.code == "unknown-agent"
    assert found.help is not None
    _, _, declared = found.help.partition("in the workflow: `")
    (root / "flow.yaml").write_text(files["flow.yaml"] + declared.rstrip("`") + "\n", encoding="utf-8")
    assert lint([root]).diagnostics == ()


def test_a_misspelt_declaration_with_one_reference_is_reported_where_it_is_no_word(tmp_path: Path) -> None:
    words = "vocabulary: {buckets: [tone], severities: [low], categories: [mootr, house]}"
    files = {
        "rulewright.yaml": f"project: claims\n{words}\n",
        "checks/brief.yaml": "id: brief\nprimary_bucket: tone\nseverity: low\nfail: word_count(answer) > 80\n",
        "scenarios/hail.yaml": "scenario_id: hail\ntitle: Hail on a new car\ncategory: motor\n"
        "turns: [{turn_number: 1, user_message: The hail broke every window of my car.}]\n",
    }
    (found,) = lint([write(tmp_path, files)]).diagnostics
    assert (found.code, str(found.severity), found.help) == ("misspelt-word", "error", "did you mean `motor`?")
    assert (Path(found.span.path).name, found.span.line) == ("rulewright.yaml", 2)


SCORING = "gates: {sa%sty: {mode_buckets: [A], hard_fail_on_severity: [S5]}}\n"
READING = """\
scorecard: gated
gates:
  held: {of: v.primary_bucket in scoring.gates.safety.mode_buckets
             && v.severity in scoring.gates.safety.hard_fail_on_severity,
         stops: v.verdict == FAIL, undecided: v.verdict == UNCLEAR, empty: {not_eligible: passed, not_run: passed}}
output: {held: gates.held.passed.hasValue()}
"""


def test_a_misspelt_declaration_is_reported_there_once(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nchecks: checks\nscorecards: scorecards\nscoring: scoring.yaml\n",
        "checks/brief.yaml": "id: brief\nprimary_bucket: A\nseverity: S5\nfail: size(answer) > 80\n",
        "scorecards/gated.yaml": READING,
        "scoring.yaml": SCORING % "fe",
    }
    write(tmp_path, files)
    assert lint([tmp_path]).diagnostics == ()
    write(tmp_path, {"scoring.yaml": SCORING % "ef"})
    (found,) = lint([tmp_path]).diagnostics
    assert (found.code, Path(found.span.path).name, found.help) == (
        "misspelt-name",
        "scoring.yaml",
        "did you mean `safety`?",
    )
    assert [Path(note.span.path).name for note in found.notes] == ["gated.yaml", "gated.yaml"]
    write(
        tmp_path,
        {"scoring.yaml": SCORING % "fe", "scorecards/gated.yaml": READING.replace("safety.mode", "saefty.mode")},
    )
    (found,) = lint([tmp_path]).diagnostics
    assert (found.code, Path(found.span.path).name) == ("bad-expression", "gated.yaml")


@pytest.mark.parametrize("uses", [1, 2])
def test_a_section_of_a_scorecard_is_never_the_misspelt_one(uses: int, tmp_path: Path) -> None:
    outputs = "".join(f", output_{at}: rate.passed" for at in range(uses))
    write(tmp_path, FILES | {"scorecards/share.yaml": CARD.replace(", held", f"{outputs}, held")})
    found = lint([tmp_path]).diagnostics
    place = ("bad-expression", Path("share.yaml"), CARD[: CARD.index("output:")].count("\n") + 1)
    assert [(each.code, Path(Path(each.span.path).name), each.span.line) for each in found] == [place]
    assert {each.help for each in found} == {"did you mean `rates`?"}


def test_two_spellings_that_propose_each_other_are_one_mistake(tmp_path: Path) -> None:
    scenario = (
        '{"scenario_id": "%s", "category": "safety", "title": "%s", "tags": ["%s"], "persona": {"name": "Ann"},'
        ' "turns": [{"turn_number": 1, "user_message": "Hello."}]}'
    )
    check = (
        "id: %s\nname: %s\nprimary_bucket: C\nseverity: S3\nscope: trigger\n"
        "eligibility: {scenario_tags_any: [callback]}\nfail: size(answer) > %d\n"
    )
    files = {
        "rulewright.yaml": "project: p\nchecks: checks\nscenarios: scenarios\nvocabulary: {tags: [callback, other]}\n",
        "checks/one.yaml": check % ("one", "one", 80),
        "checks/two.yaml": check % ("two", "two", 90),
        "scenarios/day.json": scenario % ("day", "Day", "callbacks"),
    }
    write(tmp_path, files)
    (found,) = lint([tmp_path]).diagnostics
    assert (Path(found.span.path).name, found.help) == ("day.json", "did you mean `callback`?")


def test_a_misspelt_path_of_accept_is_an_error_there_and_accepts_what_was_meant(tmp_path: Path) -> None:
    accept = "accept: [{rule: listed-twice, path: %s, reason: quoted}]\n"
    check = (
        "id: brief\nprimary_bucket: C\nseverity: S3\nparams: {words: [a b, a b]}\n"
        "fail: contains_any(answer, params.words)\n"
    )
    write(tmp_path, {"rulewright.yaml": "project: p\n" + accept % "checks", "checks/brief.yaml": check})
    assert lint([tmp_path]).diagnostics == ()
    write(tmp_path, {"rulewright.yaml": "project: p\n" + accept % "check"})
    (found,) = lint([tmp_path]).diagnostics
    assert (found.code, found.span.line, found.help) == ("missing-path", 2, "did you mean `checks`?")


def test_a_missing_folder_of_agents_is_reported_without_its_agents(tmp_path: Path) -> None:
    flow = "version: '1'\nname: notes\ntasks: {write: {agent: scribe, description: A note.}}\n"
    project = "project: notes\nworkflow: {file: flow.yaml, agents: {directory: agent}}\n"
    agent = "name: scribe\nrole: {description: writes}\n"
    write(tmp_path, {"rulewright.yaml": project, "flow.yaml": flow, "agents/scribe.yaml": agent})
    assert reported_places(tmp_path) == [("missing-path", "rulewright.yaml", 2)]
    adapters = "  adapters: {scribe: {type: command, command: [cat]}, default: {type: mock, script: script.json}}\n"
    script = '{"scribe": [{"summary": "written"}]}'
    nested = project.replace("workflow: {file: flow.yaml, agents: {directory: agent}}",
                             "workflow:\n  file: flow.yaml\n  agents: {directory: agent}\n" + adapters)  # fmt: skip
    write(tmp_path, {"rulewright.yaml": nested, "script.json": script})
    assert reported_places(tmp_path) == [("missing-path", "rulewright.yaml", 4)]


def test_a_role_that_is_a_text_is_not_also_without_description(tmp_path: Path) -> None:
    flow = "version: '1'\nname: notes\ntasks: {write: {agent: scribe, description: A note.}}\n"
    agent = "name: scribe\nrole: writes the notes\n"
    write(tmp_path, {"rulewright.yaml": PROJECT.format(root="."), "flow.yaml": flow, "agents/scribe.yaml": agent})
    project = "project: notes\nworkflow: {file: flow.yaml}\n"
    write(tmp_path, {"rulewright.yaml": project})
    assert reported_places(tmp_path) == [("wrong-type", "scribe.yaml", 2)]


def test_a_task_that_is_given_twice_is_one_finding(tmp_path: Path) -> None:
    flow = (
        'version: "1"\nname: flow\ntasks:\n  plan: {agent: ba, outputs: [{path: a.md}]}\n'
        "  plan: {agent: dev, dependencies: [], outputs: [{path: b.md}]}\n"
        "  note: {agent: dev, dependencies: [], inputs: [a.md]}\n"
    )
    write(tmp_path, {"rulewright.yaml": "project: p\nworkflow: {file: flow.yaml}\n", "flow.yaml": flow})
    assert reported_places(tmp_path) == [("duplicate-key", "flow.yaml", 5)]


def test_an_agent_with_two_scripts_is_one_finding(tmp_path: Path) -> None:
    flow = "tasks:\n  build: {agent: dev}\n  check: {agent: le, dependencies: [build]}\n"
    project = "project: p\nworkflow: {file: flow.yaml, adapters: {default: {type: mock, script: script.json}}}\n"
    script = '{\n"dev": [{"summary": "built"}],\n"dev": [{"summary": "checked"}]\n}\n'
    write(tmp_path, {"rulewright.yaml": project, "flow.yaml": flow, "script.json": script})
    assert reported_places(tmp_path) == [("duplicate-key", "script.json", 3)]


def test_a_key_in_the_wrong_part_of_a_check_is_not_missed_by_the_project(tmp_path: Path) -> None:
    check = (
        "id: recalls\nname: forgets\nprimary_bucket: F\nseverity: S2\nscope: universal\n"
        "system_capability_aware: true\nrouting: {route: memory_probe, probes: [recall]}\n"
    )
    files = {"rulewright.yaml": "project: p\nsystem: {exempt: [recalls]}\n", "checks/recalls.yaml": check}
    found = reported_places(write(tmp_path, files))
    assert [each for each in found if "capability" in each[0] or each[0] == "unknown-key"] == [
        ("unknown-key", "recalls.yaml", 6)
    ]


def test_an_agent_that_is_not_named_like_its_file_is_reported_at_its_name(tmp_path: Path) -> None:
    flow = (
        'version: "1"\nname: flow\ntasks:\n  build: {agent: %s, description: It., outputs: [{path: a.md}]}\n'
        "  note: {agent: %s, description: A note., dependencies: [build], outputs: [{path: b.md}]}\n"
    )
    files = {
        "rulewright.yaml": "project: p\nworkflow: {file: flow.yaml, agents: {directory: agents}}\n",
        "flow.yaml": flow % ("billing_dev", "billing_dev"),
        "agents/billing_dev.yaml": "name: billing\nrole: {description: Builds the invoices.}\n",
    }
    write(tmp_path, files)
    (found,) = lint([tmp_path]).diagnostics
    assert (found.code, Path(found.span.path).name) == ("id-differs-from-file-name", "billing_dev.yaml")
    write(tmp_path, {"flow.yaml": flow % ("billing", "billing")})
    assert lint([tmp_path]).diagnostics == ()


def test_one_lexicon_for_cue_and_reply_is_one_finding(tmp_path: Path) -> None:
    check = (
        "id: X-K1\nname: handoff_missed\nprimary_bucket: D\nseverity: S3\nscope: universal\n"
        "routing: {route: cue_response, cue: need, expected_reply: %s}\n"
    )
    files = {
        "rulewright.yaml": "project: p\nchecks: checks\nlexicons: lexicons\n",
        "checks/X-K1.yaml": check % "offer",
        "lexicons/need.yaml": "role: user\npatterns: [nobody to take over]\n",
        "lexicons/offer.yaml": "patterns: [care coordinator]\n",
    }
    write(tmp_path, files)
    assert lint([tmp_path]).diagnostics == ()
    write(tmp_path, {"checks/X-K1.yaml": check % "need"})
    assert [each.code for each in lint([tmp_path]).diagnostics] == ["reply-lexicon-reads-the-user"]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("replies[0]", "replies[-1]", "index-past-the-end", 5),
        ("{least: 2, most: 5}", "{least: 5, most: 2}", "order-reversed", 2),
    ],
)
def test_an_example_that_a_reported_mistake_breaks_is_not_reported_again(
    old: str, new: str, code: str, line: int, tmp_path: Path
) -> None:
    check = """\
id: brief
params: {least: 2, most: 5}
fail: >-
  word_count(answer) < params.least or word_count(answer) > params.most
  or replies[0].content == ""
examples:
  - {verdict: PASS, chat: [user: How are you?, assistant: Well and happy.]}
  - {verdict: FAIL, chat: [user: How are you?, assistant: Well.]}
"""
    write(tmp_path, {"rulewright.yaml": "project: brief\n", "checks/brief.yaml": check.replace(old, new)})
    assert reported_places(tmp_path) == [(code, "brief.yaml", line)]


def test_a_lexicon_with_the_wrong_role_is_one_finding_at_its_role(tmp_path: Path) -> None:
    check = """\
id: promises
name: promises
primary_bucket: F
severity: S3
scope: universal
routing: {route: lexicon_only, deterministic_precheck: promise}
examples:
  - {verdict: FAIL, chat: [user: Will it?, assistant: I promise.]}
"""
    lexicon = "name: promise\nrole: user\npatterns: [i promise]\n"
    files = {"rulewright.yaml": "project: p\n", "checks/promises.yaml": check, "lexicons/promise.yaml": lexicon}
    write(tmp_path, files)
    assert reported_places(tmp_path) == [("reply-lexicon-reads-the-user", "promise.yaml", 2)]


def test_a_contract_that_is_given_twice_hides_the_other_one(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "rulewright.yaml": "project: guide\nworkflow: {file: flow.yaml, contracts: contracts.yaml}\n",
            "contracts.yaml": "contracts:\n  notes@1: {file_format: markdown}\n  notes@1: {file_format: json}\n",
            "flow.yaml": (
                'version: "1"\nname: flow\ntasks:\n  write:\n    agent: dev\n'
                "    outputs: [{path: a.md, contract: notes@1}, {path: b.json, contract: text@1}]\n"
            ),
        },
    )
    assert [(each.code, each.span.line) for each in lint([str(tmp_path)]).diagnostics] == [("duplicate-key", 3)]


def test_a_gate_over_the_bucket_of_another_gate_is_not_also_its_copy(tmp_path: Path) -> None:
    gate = (
        "stops: v.verdict == FAIL, undecided: v.verdict == UNCLEAR, empty: {not_eligible: passed, not_run: undecided}"
    )
    of = "of: v.primary_bucket == safety and v.severity == grave"
    check = "id: {0}\nprimary_bucket: {0}\nseverity: grave\nfail: called(tool_calls, 'charge')\n"
    gates = "{danger: {buckets: [safety], severities: [grave]}, overcharge: {buckets: [money], severities: [grave]}}"
    write(
        tmp_path,
        {
            "rulewright.yaml": (
                "project: grid\nchecks: checks\nscorecards: scorecards\nscorecard: monthly\n"
                f"vocabulary: {{buckets: [safety, money], severities: [mild, grave], gates: {gates}}}\n"
            ),
            "checks/safety.yaml": check.format("safety"),
            "checks/money.yaml": check.format("money"),
            "scorecards/monthly.yaml": (
                f"scorecard: monthly\ngates:\n  danger: {{{of}, {gate}}}\n  overcharge: {{{of}, {gate}}}\n"
                "output: {gates: gates}\n"
            ),
        },
    )
    assert [each.code for each in lint([str(tmp_path)]).diagnostics] == ["gate-ignores-a-severity"]


def test_a_workflow_that_cannot_be_read_may_have_the_contracts_that_no_other_has(tmp_path: Path) -> None:
    archive = Path(__file__).parents[1] / "rules" / "yaml_syntax" / "bad_second_workflow.txtar"
    folder = write(tmp_path, files_of(archive.read_text(encoding="utf-8")))
    assert reported_places(folder) == [("yaml-syntax", "letter.yaml", 4)]
