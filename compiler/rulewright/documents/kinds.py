"""Detects the kind of a single document by keys that only this kind has."""

import re
from pathlib import PurePath
from typing import Final

from rulewright.documents.base import text
from rulewright.load import Mapping, Node, Scalar, Sequence, Source
from rulewright.spelling import suggest
from rulewright_runtime.cases.records import CASE_KEYS, CASE_SETTINGS_FILE, LIST_KEYS, SUFFIXES

CASE_SCORECARD: Final = "case_scorecard"  # a scorecard over test cases, not over verdicts
OF_CASES: Final = frozenset({"over", "inputs", "metrics"})  # keys that only such a scorecard has
CASES: Final = "cases"  # test cases, or outputs of an engine for them
BATCH: Final = "test_cases"  # the key of a list that contains nothing else
OUTPUT_KEYS: Final = frozenset({"signals", "followup_questions"})  # of an engine
CASE_SETTINGS: Final = "case_settings"  # of `rulewright score`

PRICES: Final = frozenset({"pricing", "model_pricing"})
BLINDSPOTS: Final = frozenset({"blindspots", "blindspot_map"})
RULE_KINDS: Final = frozenset({"forbidden", "disclosure", "crisis"})  # of a rule set, which has no schema
CHECK_ID: Final = re.compile(r"[A-Z]+-[A-Z][0-9]+[a-z]?")
MARKS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("scenario", frozenset({"scenario_id"})),
    ("project", frozenset({"project"})),  # before scorecards: a project names the one it uses
    ("scorecard", frozenset({"scorecard"})),
    ("workflow", frozenset({"tasks"})),
    ("contracts", frozenset({"contracts"})),
    ("lexicon", frozenset({"patterns"})),  # before agents: both may name a role
    ("agent", frozenset({"role"})),
    ("agent", frozenset({"extends", "llm"})),
    ("check", frozenset({"routing"})),
    ("check", frozenset({"primary_bucket"})),
    ("check", frozenset({"id", "fail"})),
    ("check", frozenset({"id", "pass"})),
    ("check", frozenset({"id", "use"})),
    ("check", frozenset({"id", "prompt"})),
    ("check", frozenset({"pass_rule"})),
    ("markers", frozenset({"identity_question"})),
    ("markers", frozenset({"ai_disclosure"})),
    ("state_machine", frozenset({"initial", "transitions"})),
    ("corpus", frozenset({"programmes"})),
    ("scoring", frozenset({"quality_dimensions"})),
    ("scoring", frozenset({"unit_of_analysis_by_bucket"})),
    ("profile", frozenset({"include_all"})),
    ("profile", frozenset({"include_routes"})),
    ("profile", frozenset({"include_buckets"})),
    ("profile", frozenset({"include_modes"})),
    ("profile", frozenset({"llm_repetitions"})),
)
_KEY: Final = re.compile(r"""^["']?(\w+)["']?[ \t]*:""", re.MULTILINE)
_JSON_KEY: Final = re.compile(r"""^[ \t{]*"(\w+)"[ \t]*:""", re.MULTILINE)
# Plans, summaries, manifests and exports: not documents, although some contain a scorecard.
WRITTEN: Final = (
    frozenset({"format", "version", "hash"}),
    frozenset({"plan", "totals", "judge_calls"}),
    frozenset({"report_type", "total_cases", "mean_scores"}),
    frozenset({"run", "plan", "files"}),
    frozenset({"schema_version", "evaluation_id"}),
    frozenset({"planned_llm_calls", "pricing_known", "cost_usd"}),
)


def kind_of(root: Node | None) -> str | None:
    """The kind whose keys the document has, a schema's name; None if it has those of no kind, and for files that a
    command wrote."""
    if root is not None and not is_command_output(root) and _holds_cases(root):
        return CASES
    if type(root) is not Mapping or is_command_output(root):
        return None
    if PurePath(root.source.path).name == CASE_SETTINGS_FILE:
        return CASE_SETTINGS
    if text(root, "over") == "cases" or ("scorecard" in root.index and not OF_CASES.isdisjoint(root.index)):
        return CASE_SCORECARD
    for kind, keys in MARKS:
        if keys <= root.index.keys():
            return kind
    below = [entry.value for entry in root.entries]
    if below and all(kind_of(value) == "profile" for value in below):
        return "profiles"
    if below and all(type(value) is Sequence or kind_of(value) == "lexicon" for value in below):
        return "lexicons" if all(_holds_patterns(value) for value in below) else _by_values(root)
    return _by_values(root)


def seems_a_document(source: Source, wanted: str | None = None) -> bool:
    """Whether lines of a file that can't be read begin with all keys that mark a kind, or the `wanted` one; in YAML at
    their start."""
    keys = set((_JSON_KEY if source.path.endswith(".json") else _KEY).findall(source.text))
    return any(marks <= keys for kind, marks in MARKS if wanted in (None, kind))


def is_command_output(root: Node | None) -> bool:
    """Whether a command wrote this file; such files may be in a folder of documents."""
    return type(root) is Mapping and any(keys <= root.index.keys() for keys in WRITTEN)


def _holds_cases(root: Node) -> bool:
    """Whether a JSON file contains test cases or outputs: as a list, as a list in an object, or as a single object."""
    if not root.source.path.endswith(tuple(SUFFIXES)):
        return False
    if type(root) is Mapping and CASE_KEYS.isdisjoint(root.index):
        listed = any(_lists_cases(root.index[key].value) for key in LIST_KEYS if key in root.index)
        return listed or BATCH in root.index or misspelt_list(root) is not None or bool(outputs_by_id(root))
    return type(root) is Mapping or _lists_cases(root)


def misspelt_list(root: Mapping) -> tuple[Scalar, str] | None:
    """The key of a list of cases that no reader finds, and the key that was meant."""
    lists = [entry.key for entry in root.entries if _lists_cases(entry.value) and entry.name not in LIST_KEYS]
    near = [(key, meant) for key in lists if (meant := suggest(key.text, LIST_KEYS)) and meant not in root.index]
    return next(iter(near), None)


def outputs_by_id(root: Node) -> tuple[Mapping, ...]:
    """The outputs in an object whose keys are test ids; empty for any other object."""
    below = [entry.value for entry in root.entries] if type(root) is Mapping else []
    outputs = tuple([value for value in below if type(value) is Mapping])
    are_outputs = len(outputs) == len(below) and any(not OUTPUT_KEYS.isdisjoint(each.index) for each in outputs)
    return outputs if are_outputs else ()


def _lists_cases(node: Node) -> bool:
    return type(node) is Sequence and any(
        type(item) is Mapping and not CASE_KEYS.isdisjoint(item.index) for item in node.items
    )


def _by_values(root: Mapping) -> str | None:
    """Prices and blindspots have free keys, so they are recognized by their values or by the file's name."""
    below = [entry.value for entry in root.entries]
    name = PurePath(root.source.path).stem
    if below and all(type(value) is Sequence for value in below) and (name in PRICES or any(map(_is_price, below))):
        return "pricing"
    if not below or not all(type(value) is Scalar for value in below):
        return None
    are_checks = all(CHECK_ID.fullmatch(value.text) for value in below if type(value) is Scalar)
    return "blindspots" if name in BLINDSPOTS or are_checks else None


def _is_price(value: Node) -> bool:
    kinds = [type(item.value) for item in value.items if type(item) is Scalar] if type(value) is Sequence else []
    return len(kinds) == 2 and set(kinds) <= {int, float} and float in kinds


def _holds_patterns(value: Node) -> bool:
    if type(value) is Mapping:
        return True
    return type(value) is Sequence and all(type(item) is Mapping and "pattern" in item for item in value)
