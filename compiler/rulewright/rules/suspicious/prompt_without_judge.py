from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument, known_routes


def prompt_without_judge(check: CheckDocument) -> Findings:
    """A check has a prompt, but its route never asks a judge.

    Why it matters: changing the prompt changes nothing.
    Instead: remove the prompt, or choose a route that asks a judge.
    """
    routing = check.routing
    is_ready = "use" in check.node  # whose route and prompt fit
    if is_ready or check.prompt is None or routing.route not in known_routes() or check.is_judged:
        return
    help = None
    if routing.route != "regex_with_llm_edge":
        reason = f"the route `{routing.route}` never asks a judge"
    elif routing.llm_on_ambiguous is not True:
        reason = "without `llm_on_ambiguous: true` no judge is asked"
        help = "write `llm_on_ambiguous: true` under `routing`, or remove the prompt"
    elif check.scorer.unclear_policy == "lexicon_is_sufficient":
        reason = "`unclear_policy: lexicon_is_sufficient` allows no judge"
    else:
        return
    switch, prompt = check.get("routing", "llm_on_ambiguous"), check.key_place("prompt")
    if help is not None and switch is not None:  # somebody switched the judge off, and left the prompt
        yield warning(switch, f"the prompt is never sent: {reason}", notes=[(prompt, "the prompt")], help=help)
    else:
        notes = [(check.place("routing", "route"), "the route is set here")]
        yield warning(prompt, f"this prompt is never sent: {reason}", notes=notes, help=help)
