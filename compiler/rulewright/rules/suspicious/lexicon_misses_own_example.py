from collections.abc import Callable, Iterator

from rulewright.diagnostics import Diagnostic, Findings, Span, advice, warning
from rulewright.documents.base import scalar
from rulewright.documents.check import LEXICON_ROUTES, CheckDocument
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.prompt_prose import examples, paragraphs_by_subject
from rulewright.load import place
from rulewright.lower.lexicons import Fold, hits_any, lower_lexicon
from rulewright.lower.semantics import policies, unit_of
from rulewright.project import Project
from rulewright.rules.suspicious.cue_lexicon_ignores_the_user import addresses_somebody

Report = Callable[..., Diagnostic]


def lexicon_misses_own_example(project: Project) -> Findings:
    """A check's lexicon misses words that its `fail_rule` or prompt quotes as a failure or a cue.

    Why it matters: on a lexicon route no hit is a PASS, so an assistant that says these very words passes; on
    `hybrid_llm` the judge does not get them as a candidate; a missed cue opens no event window.
    Instead: add a pattern that finds the example, or correct the example.
    """
    for check in project.checks:
        lexicon = project.precheck_of(check)
        unit = unit_of(check, project)
        sought = _sought(check, lexicon, unit) if lexicon is not None and lexicon.patterns else None
        if lexicon is None or sought is None:
            continue
        report, meaning, quoted = sought
        for found, example in quoted:
            if not finds(lexicon, example, policies(project.semantics).fold):
                yield report(
                    found,
                    f"`{lexicon.name}` does not find this example of {meaning}",
                    notes=[(check.place("routing", "deterministic_precheck"), "the lexicon")],
                )


def _sought(
    check: CheckDocument, lexicon: LexiconDocument, unit: str | None
) -> tuple[Report, str, Iterator[tuple[Span, str]]] | None:
    """What the check's lexicon should find: the severity and the meaning of a miss, and the examples."""
    if check.is_judged and unit == "event_window":
        is_of_replies = lexicon.role != "user" and addresses_somebody(lexicon)
        what, subject = ("a failure", "FAIL") if is_of_replies else ("a cue", "cue")
        return advice, f"{what}: without an anchor the judge gets the whole transcript", _quoted(check, subject)
    if lexicon.role == "user":
        return None
    if check.routing.route in LEXICON_ROUTES:
        return warning, "a failure: an assistant that says so passes", _quoted(check, "FAIL")
    if check.routing.route == "hybrid_llm":
        return advice, "a failure: the judge is given no candidate", _quoted(check, "FAIL")
    return None


def _quoted(check: CheckDocument, subject: str) -> Iterator[tuple[Span, str]]:
    """The check's examples of failures or of cues, each once, with their places."""
    seen = set()
    for key in ("fail_rule", "prompt"):
        prose = scalar(check.node, key)
        if prose is None:
            continue
        text = prose.text
        rule = [("FAIL", 0, text)]
        for about, offset, part in rule if key == "fail_rule" else paragraphs_by_subject(text):
            for start, example in examples(part):
                if about == subject and example not in seen:
                    seen.add(example)
                    yield place(prose, offset + start, offset + start + len(example)), example


def finds(lexicon: LexiconDocument, words: str, usual: Fold) -> bool:
    """Whether a pattern of the lexicon hits."""
    words = " ".join(words.split())  # an example may continue in the next line, and may stop before an article
    return hits_any([lower_lexicon(lexicon, usual)], [words, f"{words} a"])
