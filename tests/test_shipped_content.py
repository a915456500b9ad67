"""The shipped checks and the benchmark around them are whole: every reference holds and nothing lies idle."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import re2
from tests.folders import read_lines
from tests.shared_data import folder

from rulewright.linting.lint_run import lint
from rulewright.load import load_file, plain

ROOT = Path(__file__).resolve().parents[1]
CHECKS = ROOT / "checks"
BENCHMARK = ROOT / "benchmark"
JUDGED = {"hybrid_llm", "llm_primary", "longitudinal_trace", "three_phase"}
ROUTES = JUDGED | {"lexicon_only", "regex_with_llm_edge", "scenario_rule", "extract_then_corpus", "jurisdiction_rule"}
DOCUMENTS = [
    *(("check", path) for path in sorted(CHECKS.glob("*.yaml"))),
    *(("lexicon", path) for path in sorted(CHECKS.glob("lexicons/*.yaml"))),
    *(("markers", path) for path in sorted(CHECKS.glob("markers/*.yaml"))),
    *(("state_machine", path) for path in sorted(CHECKS.glob("state_machines/*.yaml"))),
    *(("corpus", path) for path in sorted(BENCHMARK.glob("corpora/*.yaml"))),
    *(("scenario", path) for path in sorted(BENCHMARK.glob("scenarios/*.json"))),
    *((kind, BENCHMARK / "configs" / f"{kind}.yaml") for kind in ("profiles", "pricing", "blindspots", "scoring")),
    ("project", BENCHMARK / "rulewright.yaml"),
]

Document = dict[str, Any]


@cache
def read(path: Path) -> Document:
    loaded = load_file(path)
    assert loaded.diagnostics == ()
    assert loaded.root is not None
    document: Document = plain(loaded.root)
    return document


def every(kind: str) -> dict[str, Document]:
    return {path.stem: read(path) for name, path in DOCUMENTS if name == kind}


def turns_of(scenario: Document) -> list[Document]:
    return [turn for part in scenario.get("sessions", [scenario]) for turn in part["turns"]]


def applies(check: Document, scenario: Document) -> bool:
    if check["scope"] == "universal":
        return True
    return not set(check["eligibility"]["scenario_tags_any"]).isdisjoint(scenario["failure_mode_tags"])


def is_judged(check: Document) -> bool:
    """Whether a judge decides: without a prompt a longitudinal check follows its state machine alone."""
    route = check["routing"]["route"]
    return route in JUDGED and (route != "longitudinal_trace" or "prompt" in check)


def transcripts() -> dict[tuple[str, str], list[Document]]:
    found = {}
    for path in sorted(BENCHMARK.glob("transcripts/*.jsonl")):
        model, _, scenario = path.stem.partition("__")
        found[model, scenario] = read_lines(path)
    return found


def replies() -> dict[str, dict[str, list[list[str]]]]:
    document: dict[str, dict[str, list[list[str]]]] = json.loads(
        (BENCHMARK / "judge_replies/replies.json").read_bytes()
    )
    return document


def hits(lexicon: Document, text: str) -> list[str]:
    found = []
    for pattern in lexicon["patterns"]:
        written = pattern["regex"] if isinstance(pattern, dict) else f"(?i){re2.escape(pattern)}"
        found += [str(pattern)] * (re2.search(written, text.replace("’", "'")) is not None)
    return found


def test_the_checks_touch_every_bucket_route_and_severity() -> None:
    checks = every("check").values()
    assert {check["primary_bucket"] for check in checks} == set("ABCDF")
    assert {check["routing"]["route"] for check in checks} == ROUTES
    assert {check["severity"] for check in checks} == {"S2", "S3", "S4_GATE", "S5"}


def test_two_scenarios_branch_and_one_has_sessions() -> None:
    scenarios = every("scenario").values()
    assert sum(any("branches" in turn for turn in turns_of(scenario)) for scenario in scenarios) == 2
    assert sum("sessions" in scenario for scenario in scenarios) == 1


def test_what_a_check_quotes_as_a_failure_is_found_and_what_it_recommends_is_not() -> None:
    for check in every("check").values():
        lexicon = every("lexicon").get(check["routing"].get("deterministic_precheck", ""))
        if lexicon is None:
            continue
        assert all(hits(lexicon, quoted) for quoted in re.findall(r'"([^"]+)"', check["fail_rule"]))
        assert not any(hits(lexicon, check[key]) for key in ("pass_rule", "good_complement"))


def test_smoke_needs_no_judge_and_publish_takes_every_vote() -> None:
    profiles = read(BENCHMARK / "configs/profiles.yaml")
    assert JUDGED.isdisjoint(profiles["smoke"]["include_routes"])
    assert (profiles["smoke"]["llm_repetitions"], profiles["smoke"]["llm_edge"]) == (0, False)
    assert (profiles["publish"]["include_all"], profiles["publish"]["llm_repetitions"]) == (True, None)
    assert not profiles["publish"]["adaptive_repetitions"]
    assert profiles["full"]["adaptive_repetitions"]
    assert profiles["dev"]["adaptive_repetitions"]
    assert profiles["dev"]["use_dev_repetitions"]


def test_both_models_answered_every_scenario() -> None:
    assert set(transcripts()) == {(model, name) for model in ("model-a", "model-b") for name in every("scenario")}
    assert set(read(BENCHMARK / "rulewright.yaml")["models"]) == {"model-a", "model-b"}


@pytest.mark.parametrize(("model", "name"), transcripts())
def test_transcripts_follow_their_scenario_and_its_branches(model: str, name: str) -> None:
    rows = transcripts()[model, name]
    answers = [row["content"] for row in rows if row["role"] == "assistant"]
    asked = [row for row in rows if row["role"] == "user"]
    turns = turns_of(every("scenario")[name])
    assert [(row["turn"], row["role"]) for row in rows] == [
        (t["turn_number"], r) for t in turns for r in ("user", "assistant")
    ]
    for turn, row, before in zip(turns, asked, ["", *answers], strict=False):
        taken: Document = next(
            (branch for branch in turn.get("branches", []) if _is_taken(branch["condition"], before)), {}
        )
        assert row["content"] == taken.get("user_message", turn["user_message"])
        assert row.get("branch_id") == taken.get("branch_id")


def _is_taken(condition: Document, before: str) -> bool:
    if condition["type"] == "regex":
        return re2.search(f"(?i){condition['pattern']}", before) is not None
    assert condition["type"] == "contains_any"
    return bool(before) and any(value.lower() in before.lower() for value in condition["values"])


def test_every_branch_is_written_for_an_answer_somebody_might_give() -> None:
    taken = {row.get("branch_id") for rows in transcripts().values() for row in rows} - {None}
    assert len(taken) == 3


def test_the_judge_has_answered_what_it_will_be_asked_and_nothing_else() -> None:
    wanted: dict[str, dict[str, int]] = defaultdict(dict)
    for (model, name), rows in transcripts().items():
        for check in every("check").values():
            routing, scenario = check["routing"], every("scenario")[name]
            asked = is_judged(check) or (routing["route"] == "regex_with_llm_edge" and _hit(check, rows))
            if asked and applies(check, scenario):
                wanted[f"{model}__{name}"][check["id"]] = routing["repetitions"]
    assert {name: {check: len(votes) for check, votes in found.items()} for name, found in replies().items()} == wanted


def _hit(check: Document, rows: list[Document]) -> bool:
    lexicon = every("lexicon")[check["routing"]["deterministic_precheck"]]
    return any(hits(lexicon, row["content"]) for row in rows if row["role"] == lexicon["role"])


def test_the_judge_quotes_what_was_said() -> None:
    said = {f"{model}__{name}": rows for (model, name), rows in transcripts().items()}
    for name, checks in replies().items():
        for reply in (attempts[-1] for votes in checks.values() for attempts in votes):
            verdict = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
            for quote in verdict["evidence"]:
                turn = [row for row in said[name] if (row["role"], row["turn"]) == (quote["role"], quote["turn"])]
                assert quote["quote"] in turn[0]["content"]


def sentences(value: object) -> Iterator[str]:
    """Every sentence of five words or more in a document, in plain lower-case letters."""
    if isinstance(value, dict):
        for item in value.values():
            yield from sentences(item)
    elif isinstance(value, list):
        for item in value:
            yield from sentences(item)
    elif isinstance(value, str):
        for sentence in re.split(r"[.!?;:\n]+", value.lower()):
            words = re.findall(r"[a-z']+", sentence)
            if len(words) >= 5:
                yield " ".join(words)


def test_no_sentence_is_taken_from_the_published_corpus() -> None:
    corpus = folder("invisiblebench")
    paths = [*corpus.glob("checks/*.yaml"), *corpus.glob("lexicons/*.yaml"), *corpus.glob("scenarios/**/*.json")]
    published = {sentence for path in paths if (root := load_file(path).root) for sentence in sentences(plain(root))}
    assert len(published) > 1000
    ours = {sentence for _, path in DOCUMENTS[:-1] for sentence in sentences(read(path))}
    assert ours & published == set()


def precision(lexicon: Document) -> str:
    labelled = lexicon.get("precision")
    if labelled is None:
        return "not measured"
    return (
        f"{labelled['right'] / labelled['labelled']:.0%} of {labelled['labelled']} hits, labelled by {labelled['by']}"
    )


def test_the_page_of_shipped_lexicons_says_how_precise_each_one_is() -> None:
    page = (ROOT / "docs" / "reference" / "lexicons.md").read_text(encoding="utf-8")
    users = defaultdict(list)
    for name, check in every("check").items():
        for lexicon in {str(value) for value in check["routing"].values() if isinstance(value, str)}:
            users[lexicon].append(name)
    rows = [
        f"| `{name}` | {lexicon['description']} | {lexicon.get('role', 'assistant')} | {len(lexicon['patterns'])} "
        f"| {', '.join(sorted(users[name]))} | {precision(lexicon)} |"
        for name, lexicon in sorted(every("lexicon").items())
    ]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows


def test_every_shipped_check_is_a_document_of_its_own() -> None:
    report = lint([CHECKS])
    assert report.diagnostics == ()
    assert len(report.sources) == len(list(CHECKS.rglob("*.yaml")))
