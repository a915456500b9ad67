from functools import cache

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import JUDGE_ROUTES, CheckDocument, known_routes
from rulewright.documents.keys import keys_of
from rulewright.load import Scalar
from rulewright_runtime.english import ticked


def directive_ignored_by_route(check: CheckDocument) -> Findings:
    """A check sets a key that its route does not read.

    Why it matters: the key has no effect on how the check is verified.
    Instead: remove the key, or choose a route that reads it.
    """
    route = check.routing.route
    yield from _votes_without_judge(check)
    for path, routes in _directives() if route in known_routes() else ():
        value = check.get(*path)
        if value is None or (type(value) is Scalar and value.value in (None, False)):
            continue
        if route not in routes:
            help = f"read by {ticked(routes)}"
        elif path[-1] == "deterministic_precheck" and _finds_nothing(check):
            help = "on this route a lexicon is only used to find the cues of an `event_window`"
        else:
            continue
        yield warning(
            check.key_place(*path),
            f"`{path[-1]}` has no effect: the route `{route}` does not read it",
            notes=[(check.place("routing", "route"), "the route is set here")],
            help=help,
        )


@cache
def _directives() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The keys of a check that only some routes read, with these routes."""
    return tuple((path, key.routes) for path, key in keys_of("check").items() if key.routes)


def _finds_nothing(check: CheckDocument) -> bool:
    """Whether the check's lexicon is neither a precheck nor the finder of cues; a gate bucket may default to cues."""
    unit = check.routing.unit_of_analysis
    may_default = unit is None and check.primary_bucket in check.vocabulary.gate_buckets
    return check.routing.route in ("llm_primary", "longitudinal_trace") and unit != "event_window" and not may_default


def _votes_without_judge(check: CheckDocument) -> Findings:
    """The number of votes of a check that no judge decides; 1 says just that."""
    votes = check.get("routing", "repetitions")
    is_plain = check.routing.route in known_routes() - {*JUDGE_ROUTES, "regex_with_llm_edge"}
    if is_plain and isinstance(votes, Scalar) and isinstance(votes.value, int) and votes.value > 1:
        message = f"`repetitions` has no effect: the route `{check.routing.route}` asks no judge"
        notes = [(check.place("routing", "route"), "the route is set here")]
        yield warning(check.key_place("routing", "repetitions"), message, notes=notes)
