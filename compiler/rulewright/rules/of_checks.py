"""The rules that look at checks and profiles, in the order they run; `of_conditions` has more."""

from typing import Final

from rulewright.documents.check import CheckDocument, read_check
from rulewright.documents.profile import Profile, read_profile, read_profiles
from rulewright.rules import DocumentKind, Rule
from rulewright.rules.correctness.prompt_asks_for_unreadable_reply import prompt_asks_for_unreadable_reply
from rulewright.rules.correctness.prompt_contradicts_rules import prompt_contradicts_rules
from rulewright.rules.correctness.prompt_holds_a_verdict import prompt_holds_a_verdict
from rulewright.rules.style.listed_twice import listed_twice
from rulewright.rules.suspicious.adaptive_with_one_repetition import adaptive_with_one_repetition
from rulewright.rules.suspicious.any_mixed_with_tags import any_mixed_with_tags
from rulewright.rules.suspicious.directive_ignored_by_route import directive_ignored_by_route
from rulewright.rules.suspicious.edge_without_votes import edge_without_votes
from rulewright.rules.suspicious.even_repetitions import even_repetitions
from rulewright.rules.suspicious.gate_judged_once import gate_judged_once
from rulewright.rules.suspicious.gate_severity_outside_gate_bucket import gate_severity_outside_gate_bucket
from rulewright.rules.suspicious.hard_fail_contradicts_severity import hard_fail_contradicts_severity
from rulewright.rules.suspicious.impossible_date import impossible_date
from rulewright.rules.suspicious.limit_of_zero import limit_of_zero
from rulewright.rules.suspicious.more_votes_in_development import more_votes_in_development
from rulewright.rules.suspicious.opposites_agree import opposites_agree
from rulewright.rules.suspicious.prompt_with_single_braces import prompt_with_single_braces
from rulewright.rules.suspicious.prompt_without_judge import prompt_without_judge
from rulewright.rules.suspicious.prompt_without_pass_or_fail import prompt_without_pass_or_fail
from rulewright.rules.suspicious.quote_nobody_checks import quote_nobody_checks
from rulewright.rules.suspicious.setting_overruled import setting_overruled
from rulewright.rules.suspicious.step_skipped import step_skipped
from rulewright.rules.suspicious.tags_on_universal_check import tags_on_universal_check
from rulewright.rules.suspicious.transcript_outside_fence import transcript_outside_fence
from rulewright.rules.suspicious.trigger_without_condition import trigger_without_condition
from rulewright.rules.suspicious.unclear_policy_without_its_path import unclear_policy_without_its_path
from rulewright.rules.suspicious.unit_of_analysis_unfit import unit_of_analysis_unfit
from rulewright.rules.suspicious.verdicts_overlap import verdicts_overlap
from rulewright.rules.suspicious.yaml_trap import yaml_trap

CHECK: Final[tuple[Rule[CheckDocument], ...]] = (
    unclear_policy_without_its_path,
    directive_ignored_by_route,
    prompt_without_judge,
    even_repetitions,
    adaptive_with_one_repetition,
    unit_of_analysis_unfit,
    hard_fail_contradicts_severity,
    gate_severity_outside_gate_bucket,
    gate_judged_once,
    tags_on_universal_check,
    any_mixed_with_tags,
    trigger_without_condition,
    prompt_asks_for_unreadable_reply,
    prompt_holds_a_verdict,
    yaml_trap,
    transcript_outside_fence,
    prompt_with_single_braces,
    prompt_without_pass_or_fail,
    prompt_contradicts_rules,
    listed_twice,
    impossible_date,
    opposites_agree,
    limit_of_zero,
    more_votes_in_development,
    quote_nobody_checks,
    verdicts_overlap,
    step_skipped,
)

PROFILE: Final[tuple[Rule[Profile], ...]] = (
    even_repetitions,
    adaptive_with_one_repetition,
    yaml_trap,
    listed_twice,
    edge_without_votes,
    impossible_date,
    opposites_agree,
    setting_overruled,
    limit_of_zero,
)

KINDS: Final = {
    "check": DocumentKind(lambda root, _, vocabulary: (read_check(root, vocabulary),), CHECK),
    "profile": DocumentKind(lambda root, name, _: (read_profile(root, name),), PROFILE),
    "profiles": DocumentKind(lambda root, *_: read_profiles(root), PROFILE),
}
