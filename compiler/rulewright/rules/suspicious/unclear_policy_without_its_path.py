from rulewright.diagnostics import Findings, respell, warning
from rulewright.documents.base import scalar
from rulewright.documents.check import CheckDocument


def unclear_policy_without_its_path(check: CheckDocument) -> Findings:
    """`unclear_policy` is `llm_edge`, but the check's route does not support it.

    Why it matters: only `regex_with_llm_edge` with `llm_on_ambiguous: true` asks a judge about an unclear case.
    Elsewhere the policy acts as `adjudicate`, so an UNCLEAR waits for a person.
    Instead: write `adjudicate` or `fail_closed`, or route the check to `regex_with_llm_edge`.
    """
    policy = scalar(check.node, "scorer", "unclear_policy")
    if policy is None or policy.value != "llm_edge" or not check.routing.route:
        return
    if check.routing.route != "regex_with_llm_edge":
        yield warning(
            policy,
            f"`llm_edge` acts as `adjudicate` here: the route `{check.routing.route}` does not support it",
            notes=[(check.place("routing", "route"), "the route is set here")],
            help="write `adjudicate` or `fail_closed`",
            fix=respell(policy, "adjudicate", safe=True),
        )
    elif check.routing.llm_on_ambiguous is not True:
        switched_off = check.get("routing", "llm_on_ambiguous") if check.prompt is not None else None
        yield warning(
            policy if switched_off is None else switched_off,
            "`llm_edge` acts as `adjudicate` here: a judge is only asked with `llm_on_ambiguous: true`",
            notes=[] if switched_off is None else [(policy, "the policy")],
            help="set `routing.llm_on_ambiguous: true`, or write `adjudicate`",
        )
