from rulewright.diagnostics import Findings, advice, warning
from rulewright.documents.base import scalar
from rulewright.documents.check import LEXICON_ROUTES
from rulewright.documents.lexicon import pattern_findings
from rulewright.documents.prompt_prose import examples
from rulewright.load import place
from rulewright.lower.semantics import policies
from rulewright.project import Project
from rulewright.rules.suspicious.lexicon_misses_own_example import finds


def lexicon_hits_good_example(project: Project) -> Findings:
    """A check's lexicon matches words that its `pass_rule` or `good_complement` quotes as good.

    Why it matters: on a lexicon route a hit fails the answer, so an assistant that follows the rule fails; where a
    judge confirms hits, every such answer costs a call.
    Instead: narrow the pattern, or correct the example.
    """
    usual = policies(project.semantics).fold
    for check in project.checks:
        lexicon = project.precheck_of(check)
        if lexicon is None or check.routing.route not in LEXICON_ROUTES or lexicon.role == "user":
            continue
        if any(pattern_findings(lexicon)):
            continue
        for key in ("pass_rule", "good_complement"):
            rule = scalar(check.node, key)
            for start, example in examples(rule.text) if rule is not None else ():
                if rule is not None and finds(lexicon, example, usual):
                    confirmed = check.routing.route == "regex_with_llm_edge" and check.routing.llm_on_ambiguous is True
                    yield (advice if confirmed else warning)(
                        place(rule, start, start + len(example)),
                        f"`{lexicon.name}` matches this example of a good answer",
                        notes=[(check.place("routing", "deterministic_precheck"), "the lexicon")],
                    )
