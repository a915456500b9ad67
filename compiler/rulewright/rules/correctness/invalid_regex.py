from rulewright.diagnostics import Findings
from rulewright.documents import lexicon
from rulewright.documents.base import scalar
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.scenario import ScenarioDocument


def invalid_regex(subject: LexiconDocument | ScenarioDocument) -> Findings:
    """A regular expression is invalid, or uses syntax that RE2 does not support.

    Why it matters: it can't be compiled, so the pattern or branch would never match. RE2 supports neither look-around
    nor back-references; in return, matching is fast on every text.
    Instead: correct it, or write it without look-around and back-references.
    """
    if isinstance(subject, LexiconDocument):
        yield from lexicon.pattern_findings(subject)
        return
    for branch in (branch for turn in subject.turns for branch in turn.branches):
        pattern = scalar(branch.node, "condition", "pattern")
        found = lexicon.invalid_regex(pattern) if branch.type == "regex" and pattern is not None else None
        if found is not None:
            yield found
