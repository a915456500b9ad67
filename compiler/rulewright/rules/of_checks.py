"""The rules that look at checks and profiles, in the order they run; `of_conditions` has more."""

from __future__ import annotations

from typing import Final

from rulewright.documents.check import read_check
from rulewright.documents.profile import read_profile, read_profiles
from rulewright.rules import DocumentKind, rules_named

CHECK: Final = rules_named(
    "unclear_policy_without_its_path",
    "directive_ignored_by_route",
    "prompt_without_judge",
    "even_repetitions",
    "adaptive_with_one_repetition",
    "unit_of_analysis_unfit",
    "hard_fail_contradicts_severity",
    "gate_severity_outside_gate_bucket",
    "gate_judged_once",
    "tags_on_universal_check",
    "any_mixed_with_tags",
    "trigger_without_condition",
    "prompt_asks_for_unreadable_reply",
    "prompt_holds_a_verdict",
    "yaml_trap",
    "transcript_outside_fence",
    "prompt_with_single_braces",
    "prompt_without_pass_or_fail",
    "prompt_contradicts_rules",
    "listed_twice",
    "impossible_date",
)

PROFILE: Final = rules_named(
    "even_repetitions",
    "adaptive_with_one_repetition",
    "yaml_trap",
    "listed_twice",
    "edge_without_votes",
    "impossible_date",
)

KINDS: Final = {
    "check": DocumentKind(lambda root, _, vocabulary: (read_check(root, vocabulary),), CHECK),
    "profile": DocumentKind(lambda root, name, _: (read_profile(root, name),), PROFILE),
    "profiles": DocumentKind(lambda root, *_: read_profiles(root), PROFILE),
}
