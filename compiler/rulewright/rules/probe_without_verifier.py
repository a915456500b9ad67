"""Rule: a probe of an unknown kind, or with unreadable pronouns."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scenario import ScenarioDocument
from rulewright.spelling import did_you_mean
from rulewright_runtime.english import ticked
from rulewright_runtime.matching.pronouns import parse
from rulewright_runtime.plan.part import PROBE_KINDS


def probe_without_verifier(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """A probe has an unknown kind, or names pronouns that can't be read.

    Why it matters: a probe of an unknown kind is never evaluated, and one with unreadable pronouns gives UNCLEAR.
    Instead: use one of recall, abstention, time and pronoun_continuity, and write pronouns as `they/them for Alex`.
    """
    for probe in scenario.probes:
        if probe.kind and probe.kind not in PROBE_KINDS:
            help = did_you_mean(probe.kind, PROBE_KINDS) or f"the kinds are {ticked(PROBE_KINDS)}"
            yield warning(probe.place("kind"), f"unknown kind of probe: `{probe.kind}`", help=help)
        if probe.kind == "pronoun_continuity":
            for place, item in enumerate(probe.expected):
                if parse(item) is None:
                    message = f"`{item}` can't be read as pronouns"
                    yield warning(probe.place("expected", place), message, help="write `they/them for Alex`")
