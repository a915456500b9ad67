from rulewright.diagnostics import Findings, error
from rulewright.documents.scenario import ScenarioDocument


def window_ends_before_it_starts(scenario: ScenarioDocument) -> Findings:
    """An anchor's response window ends before it starts, or before its cue.

    Why it matters: the window contains no turn, so the anchor is skipped and the judge gets something else.
    Instead: start the window at the cue or later, and end it no earlier than it starts.
    """
    for anchor in scenario.cue_anchors:
        start, end, cue = anchor.from_turn, anchor.to_turn, anchor.cue_turn
        place = anchor.place("response_window", "to_turn")
        if start is not None and end is not None and end < start:
            notes = [(anchor.place("response_window", "from_turn"), "it starts here")]
            yield error(place, f"the window ends at turn {end}, before it starts at turn {start}", notes=notes)
        elif end is not None and cue is not None and end < cue:
            notes = [(anchor.place("cue_turn"), "the cue")]
            yield error(place, f"the window ends at turn {end}, before its cue in turn {cue}", notes=notes)
