from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def window_starts_after_its_cue(scenario: ScenarioDocument) -> Findings:
    """An anchor's response window starts after the turn of its cue.

    Why it matters: a turn is a message and its answer, so the judge sees neither the cue nor the answer to it.
    Instead: start the window at `cue_turn`.
    """
    for anchor in scenario.cue_anchors:
        start, end, cue = anchor.from_turn, anchor.to_turn, anchor.cue_turn
        if start is not None and cue is not None and start > cue and (end is None or end >= start):
            notes = [(anchor.place("cue_turn"), "the cue")]
            message = f"the window starts at turn {start}, after its cue in turn {cue}"
            yield warning(anchor.place("response_window", "from_turn"), message, notes=notes, help=f"start at {cue}")
