"""For every key of every document the compiler knows what reads it."""

from pathlib import Path

import pytest
from tests.expected_files import holds

from rulewright.documents.keys import DOCUMENTS, EACH, Key, allowed, key, keys_of, written_path
from rulewright.documents.kinds import kind_of
from rulewright.load import load_text
from rulewright_grammar import schema, schema_names

AUTHORED = (
    "agent", "blindspots", "check", "contracts", "lexicon", "markers", "pricing", "profile", "project", "scenario",
    "scoring", "workflow",
)  # fmt: skip
DIRECTIVES = (
    "llm_required", "corpus_required", "llm_on_ambiguous", "state_machine", "scenario_marker", "dev_repetitions",
    "system_capability_aware", "repetitions", "unit_of_analysis", "deterministic_precheck",
    "safety_override_suppressed_by", "route",
)  # fmt: skip


INTRODUCTION = """\
# Every key of every document

The tables list every allowed key with what reads it; keys marked *documentation* are for people only, and lint compares
those marked *agreement* with the keys under `routing`. Any other key is an error (`rulewright explain unknown-key`).
`[]` means the items of a list, `NAME` a name of your choice. Keys that only some routes read name these routes
in parentheses. Keys that occur in several places are listed at the first one. `rulewright explain KEY`, such as
`rulewright explain routing.route`, prints the rows of a key.
"""

OTHERS = """\
## Other documents

The keys of these documents are names of your choice, or described where their use is:

| document | what it contains |
|---|---|
| blindspots | `LABEL: CHECK` on each line: a label for failures of a check |
| prices of models | `MODEL: [INPUT, OUTPUT]` on each line, in USD per million tokens |
| rule sets of jurisdictions | [the rules of a jurisdiction](../guides/verifiers.md#the-rules-of-a-jurisdiction) |
| test cases and outputs | [cases and outputs](../guides/scoring-cases.md#cases-and-outputs) |
| `safe.config.json` | [settings](../guides/scoring-cases.md#settings) |
"""

Below = tuple[tuple[tuple[str, ...], Key], ...]


def manual() -> str:
    """The whole page, as Markdown."""
    listed: dict[Below, str] = {}
    return "\n".join([INTRODUCTION, *(section(kind, title, listed) for kind, title in DOCUMENTS.items()), OTHERS])


def section(kind: str, title: str, listed: dict[Below, str]) -> str:
    """The table of one kind of document, which refers to the keys that are `listed` before."""
    whole = schema(kind)
    required = dict.fromkeys(whole.get("required", ()), "**required**; ")
    usually = whole.get("then", {}).get("required", ())
    required |= dict.fromkeys(usually, "**required** with `routing`, unless `fail`, `pass` or `use` decides; ")
    rows, referred = [], set[tuple[str, ...]]()
    for path, each in keys_of(kind).items():
        if path[-1] == EACH or any(path[:length] in referred for length in range(1, len(path))):
            continue
        below, place = keys_below(kind, path), f"`{written_path(kind, path)}` of {title}"
        first = listed.setdefault(below, place) if len(below) > 1 else place
        also = "" if first == place else f"; its keys are those of {first.removesuffix(f' of {title}')}"
        referred |= {path} if also else set()
        rows.append(f"| `{written_path(kind, path)}` | {reader(each)} | {about(each, path, required)}{also} |")
    head = [f"## Keys of {title}", "", f"{whole['title']}.", "", "| key | read by | what it says |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def keys_below(kind: str, path: tuple[str, ...]) -> Below:
    """The keys below `path`, relative to it."""
    length = len(path)
    return tuple((each[length:], key) for each, key in keys_of(kind).items() if each[:length] == path != each)


def reader(key: Key) -> str:
    return key.read_by or "—" if key.use == "consumed" else "(documentation)"


def about(key: Key, path: tuple[str, ...], required: dict[str, str]) -> str:
    routes = f" ({', '.join(key.routes)})" if key.routes else ""
    needed = required.get(path[0], "") if len(path) == 1 else ""
    return f"{needed}{key.about()}{routes}".replace("|", "\\|")


@pytest.mark.parametrize("name", DIRECTIVES)
def test_every_directive_of_the_routing_is_consumed(name: str) -> None:
    found = key("check", ("routing", name))
    assert (found.use, bool(found.read_by)) == ("consumed", True)


@pytest.mark.parametrize("name", ["type", "detectors", "repetitions", "require_evidence_span", "unclear_policy"])
def test_every_key_of_the_scorer_is_consumed(name: str) -> None:
    assert key("check", ("scorer", name)).use == "consumed"


@pytest.mark.parametrize("name", ["pass_rule", "fail_rule", "good_complement", "caregiver_benefit", "note"])
def test_prose_is_documentation(name: str) -> None:
    assert key("check", (name,)).use == "documentation"


def test_a_key_says_which_routes_read_it() -> None:
    assert key("check", ("routing", "scenario_marker")).routes == ("scenario_rule",)
    assert key("check", ("routing", "route")).routes == ()


def test_other_keys_are_unknown() -> None:
    assert key("check", ("scorer", "unclex_policy")).use == "unknown"
    assert key("check", ("unclear_policy",)).use == "unknown"
    assert key("check", ("name", "x")).use == "unknown"


def test_keys_below_free_form_documentation_are_documentation() -> None:
    assert key("scenario", ("persona", "context", "son's_status")).use == "documentation"
    assert key("scenario", ("metadata", "a", "b")).use == "documentation"
    assert key("scenario", ("persona", "nmae")).use == "unknown"


@pytest.mark.parametrize("kind", AUTHORED)
def test_every_key_of_every_schema_is_described(kind: str) -> None:
    for path, found in keys_of(kind).items():
        assert found.use in {"consumed", "documentation"}, path
        assert found.description, path
        assert found.read_by or found.use == "documentation" or path[-1] == "*", path


def test_every_kind_has_a_schema() -> None:
    assert set(AUTHORED) <= set(schema_names())


def test_the_reference_of_keys_is_that_of_the_schemas() -> None:
    holds(manual(), Path(__file__).resolve().parents[3] / "docs" / "reference" / "keys.md")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("scenario_id: x", "scenario"),
        ("routing: {}", "check"),
        ("patterns: []", "lexicon"),
        ("identity_question: []", "markers"),
        ("include_all: true", "profile"),
        ("smoke: {include_all: true}\ndev: {llm_repetitions: 1}", "profiles"),
        ("words: [{pattern: a, mode: regex}]", "lexicons"),
        ("quality_dimensions: {}", "scoring"),
        ("project: p", "project"),
        ("tasks: {a: {agent: dev}}", "workflow"),
        ("role: {description: d}", "agent"),
        ("contracts: {a@1: {}}", "contracts"),
        ("scorecard: two-tier", "scorecard"),
        ("{scorecard: safe, over: cases}", "case_scorecard"),
        ("a: b", None),
        ("[1]", None),
        ("x: [1, 2]", None),
    ],
)
def test_a_lone_file_is_known_by_its_keys(text: str, kind: str | None) -> None:
    assert kind_of(load_text(text, "x.yaml").root) == kind


@pytest.mark.parametrize(
    ("kind", "path", "keys"),
    [
        ("check", (), {"id", "routing"}),
        ("check", ("routing",), {"route", "repetitions"}),
        ("workflow", ("tasks", "build", "outputs", 0), {"path", "contract"}),
        ("project", ("lint", "per_path", 3), {"path", "select"}),
    ],
)
def test_the_path_of_a_place_determines_what_it_allows(kind: str, path: tuple[str | int, ...], keys: set[str]) -> None:
    assert keys <= {name for part in allowed(kind, path) for name in part.get("properties", {})}


def test_every_alternative_of_a_place_is_returned() -> None:
    types = {part.get("type") for part in allowed("workflow", ("tasks", "build", "outputs", 0))}
    assert {"string", "object"} <= types


def test_nothing_is_offered_where_nothing_is_allowed() -> None:
    assert allowed("check", ("routing", "nonsense")) == []
    assert allowed("check", ("id", 0)) == []
