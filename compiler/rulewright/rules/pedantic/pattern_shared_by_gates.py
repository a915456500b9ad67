from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.documents.check import LEXICON_ROUTES, CheckDocument
from rulewright.documents.lexicon import PatternEntry, read_patterns
from rulewright.project import Project


def pattern_shared_by_gates(project: Project) -> Findings:
    """Two gate checks, or checks with a gate severity, share a pattern, or one's pattern contains the other's.

    Why it matters: one phrase counts as two different failures, and at most one of them can be meant.
    Instead: keep the pattern in the lexicon of the check it belongs to.
    """
    before: list[tuple[CheckDocument, PatternEntry]] = []
    for check in project.checks:
        if check.severity not in check.vocabulary.gate_severities:
            continue
        patterns = _failing(check, project)
        for pattern in patterns:
            same = [other for other in before if other[1].text.lower() == pattern.text.lower()]
            for other, earlier in (same or [each for each in before if _overlap(each[1], pattern)])[:1]:
                if earlier.scalar is not pattern.scalar:
                    yield _finding((other, earlier), (check, pattern))
        before += [(check, pattern) for pattern in patterns]


def _finding(first: tuple[CheckDocument, PatternEntry], second: tuple[CheckDocument, PatternEntry]) -> Diagnostic:
    """The finding for two patterns, placed on the longer one, which only adds a second failure."""
    longer, shorter = (first, second) if len(first[1].text) > len(second[1].text) else (second, first)
    what = "the gates " if first[0].is_gate and second[0].is_gate else ""
    holds = "" if len(first[1].text) == len(second[1].text) else f" contains `{shorter[1].text}` and"
    return warning(
        longer[1].scalar,
        f"`{longer[1].text}`{holds} fails {what}`{first[0].id}` and `{second[0].id}` at once",
        notes=[(shorter[1].scalar, f"the pattern of `{shorter[0].id}`")],
    )


def _overlap(one: PatternEntry, other: PatternEntry) -> bool:
    """Whether one text contains the other; False for regular expressions, which are not compared."""
    texts = sorted((one.text.lower(), other.text.lower()), key=len)
    return one.mode == other.mode == "substring_ci" and texts[0] in texts[1]


def _failing(check: CheckDocument, project: Project) -> tuple[PatternEntry, ...]:
    """The patterns that fail the check by themselves."""
    if check.routing.route in LEXICON_ROUTES:
        lexicon = project.precheck_of(check)
        return lexicon.patterns if lexicon else ()
    markers = project.marker_set(check.routing.scenario_marker or "") if check.routing.scenario_marker else None
    return read_patterns(markers.get("false_human")) if markers else ()
