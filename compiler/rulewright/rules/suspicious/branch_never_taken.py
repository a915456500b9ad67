from collections.abc import Iterator, Mapping

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import text_scalars
from rulewright.documents.scenario import BranchDocument, ScenarioDocument
from rulewright.load import Scalar


def branch_never_taken(scenario: ScenarioDocument) -> Findings:
    """A branch can never be taken, or one of its phrases can never decide.

    Why it matters: the conversation that the branch describes never takes place, so nothing tests it.
    Instead: correct its condition, move it before the branch that hides it, or remove it.
    """
    for turn in scenario.turns[:1]:
        for branch in turn.branches:
            yield warning(branch, f"`{branch.branch_id}` is never taken: no reply comes before the first turn")
    for turn in scenario.turns[1:]:
        known: dict[str, tuple[BranchDocument, Scalar]] = {}
        for i, branch in enumerate(turn.branches):
            if branch.type == "contains_any" and not branch.values and "condition" in branch.node:
                yield warning(
                    branch.key_place("condition"), f"`{branch.branch_id}` is never taken: `contains_any` has no values"
                )
                continue
            if branch.type == "not_contains" and "" in branch.values:
                message = f"`{branch.branch_id}` is never taken: every reply contains the empty text"
                yield warning(branch.key_place("condition"), message)
                continue
            hiding = next((other for other in turn.branches[:i] if _hides(other, branch)), None)
            if hiding is not None:
                yield warning(
                    branch.key_place("condition"),
                    f"`{branch.branch_id}` is never taken: the earlier `{hiding.branch_id}` holds whenever it does",
                    notes=[(hiding.key_place("condition"), "the earlier condition")],
                )
            else:
                yield from _idle_phrases(branch, known)
            for text, phrase in _phrases(branch):
                known.setdefault(text, (branch, phrase))


def _idle_phrases(branch: BranchDocument, known: Mapping[str, tuple[BranchDocument, Scalar]]) -> Findings:
    """The phrases of a branch that an earlier one has as well: the earlier one is taken for them."""
    for text, phrase in _phrases(branch):
        if text in known:
            other, same = known[text]
            message = f"`{phrase.value}` never leads here: the earlier `{other.branch_id}` is taken for it"
            yield warning(phrase, message, notes=[(same, "the same phrase")])


def _phrases(branch: BranchDocument) -> Iterator[tuple[str, Scalar]]:
    """The phrases of which one is enough to take a branch, each also as it is compared."""
    for phrase in text_scalars(branch.node, "condition", "values") if branch.type == "contains_any" else ():
        yield phrase.text.lower(), phrase


def _hides(first: BranchDocument, later: BranchDocument) -> bool:
    """Whether the first condition holds whenever the later one does."""
    ours = [value.lower() for value in first.values]
    theirs = [value.lower() for value in later.values]
    if first.type == later.type == "regex":
        return first.pattern == later.pattern
    if not theirs:
        return False
    if first.type == "contains_any" and later.type == "contains_any":
        return all(any(short in long for short in ours) for long in theirs)
    if first.type == "contains_any" and later.type == "contains_all":
        return any(short in long for long in theirs for short in ours)
    if first.type == "contains_all" and later.type == "contains_all":
        return bool(ours) and all(any(short in long for long in theirs) for short in ours)
    if first.type == "not_contains" and later.type == "not_contains":
        return bool(ours) and all(any(short in long for short in theirs) for long in ours)
    return False
