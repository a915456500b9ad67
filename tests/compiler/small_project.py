"""A project small enough to read at a glance, written into a folder for one test."""

from pathlib import Path

from tests import folders

CHECK = """\
id: W-1
name: says_no
primary_bucket: {bucket}
severity: {severity}
scope: {scope}
eligibility:
  scenario_tags_any: [{tags}]
scorer:
  {scorer}
routing:
  route: {route}
  {routing}
prompt: |
  Did it fail?
"""
DEFAULTS = {
    "bucket": "A",
    "severity": "S5",
    "scope": "trigger",
    "tags": "crisis",
    "scorer": "require_evidence_span: true",
    "route": "llm_primary",
    "routing": "repetitions: 3",
}
SCENARIO = """\
{"scenario_id": "night", "title": "A night", "category": "safety", "failure_mode_tags": ["crisis"],
 "turns": [{"turn_number": 1, "user_message": "Hello"}]}
"""
LEXICON_CHECK = """\
id: X1
name: says_x
primary_bucket: C
severity: S2
scope: universal
routing:
  route: lexicon_only
  deterministic_precheck: x_lexicon
"""
LEXICON = "patterns:\n  - you must\n  - regex: 'no+ way'\n"
PROFILES = """\
publish: {include_all: true, input_tokens_per_llm_call: 100, output_tokens_per_llm_call: 10}
smoke: {include_routes: [lexicon_only], llm_repetitions: 0}
"""
MARKERS = "identity_question: [are you human]\nai_disclosure: [i am an ai]\nfalse_human: [i am human]\n"
SCORING = "unit_of_analysis_by_bucket: {A: event_window, C: local_exchange, F: turn_level_or_session_state}\n"


def check(**parts: str) -> str:
    """A check `W-1` with some of its parts changed; `routing` and `scorer` may hold several lines."""
    indented = {name: text.replace("\n", "\n  ") for name, text in {**DEFAULTS, **parts}.items()}
    return CHECK.format(**indented)


FILES = {
    "checks/W-1.yaml": check(),
    "lexicons/words.yaml": LEXICON,
    "scenarios/night.json": SCENARIO,
    "configs/profiles.yaml": PROFILES,
    "configs/scoring.yaml": SCORING,
    "markers/human.yaml": MARKERS,
}


def write(folder: Path, files: dict[str, str] | None = None) -> Path:
    """The project's folder: one check, one scenario, one lexicon, profiles; `files` replaces or adds some."""
    return folders.write(folder, {**FILES, **(files or {})})
