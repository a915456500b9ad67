from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import descend
from rulewright.documents.check import LEXICON_ROUTES
from rulewright.lower.lexicons import TEXT, folded
from rulewright.project import Project


def gate_lexicon_opts_out_of_folding(project: Project) -> Findings:
    """The lexicon of a gate check sets `fold: none`, or `fold` lists only some of the differences to ignore.

    Why it matters: a line break, a double space, a curly apostrophe or bold letters inside a phrase then hide it, and
    the gate passes.
    Instead: remove `fold`, so that texts ignore all of these differences, or write `fold: text`, so that regular
    expressions ignore them as well.
    """
    seen: set[str] = set()
    for check in project.checks:
        lexicon = project.precheck_of(check)
        decides = check.is_gate and check.routing.route in LEXICON_ROUTES
        if not decides or lexicon is None or lexicon.fold is None or lexicon.name in seen:
            continue
        seen.add(lexicon.name)
        missing = [f"`{name}`" for name in TEXT if name not in folded(lexicon.fold)]
        node = descend(lexicon.node, "fold")
        if missing and node is not None:
            what = ", ".join(missing) if folded(lexicon.fold) else "typography, white space and emphasis"
            yield advice(
                node,
                f"the lexicon of the gate check `{check.id}` does not ignore {what}",
                notes=[(check.place("severity"), "the severity makes it a gate check")],
                help="remove `fold`, or write `fold: text`",
            )
