from collections.abc import Sequence

from msgspec.structs import replace

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.project import Project
from rulewright.spelling import did_you_mean
from rulewright_runtime.english import ticked
from rulewright_runtime.matching.pronouns import parse
from rulewright_runtime.plan.part import PROBE_KINDS


def probe_without_verifier(subject: Project | ScenarioDocument) -> Findings:
    """A probe has a kind that is unknown or that no check evaluates, or names pronouns that can't be read.

    Why it matters: such a probe is never evaluated, and one with unreadable pronouns gives UNCLEAR.
    Instead: use one of recall, abstention, time and pronoun_continuity, list it under `probes` of the check that
    evaluates probes, and write pronouns as `they/them for Alex`.
    """
    if isinstance(subject, Project):
        yield from _unread(subject)
        return
    for probe in subject.probes:
        if probe.kind and probe.kind not in PROBE_KINDS:
            help = did_you_mean(probe.kind, PROBE_KINDS) or f"the kinds are {ticked(PROBE_KINDS)}"
            yield warning(probe.place("kind"), f"unknown kind of probe: `{probe.kind}`", help=help)
        if probe.get("expected") is not None and not probe.expected:
            yield replace(warning(probe.place("expected"), "the probe expects nothing"), about="probes.expected")
        if probe.kind == "pronoun_continuity":
            for place, item in enumerate(probe.expected):
                if parse(item) is None:
                    message = f"`{item}` can't be read as pronouns"
                    yield warning(probe.place("expected", place), message, help="write `they/them for Alex`")


def _unread(project: Project) -> Findings:
    """The kinds of probes that none of the checks for probes evaluates, each with its first probe."""
    checks = [each for each in project.checks if each.routing.route == "memory_probe" and each.routing.probes]
    read = {kind for each in checks for kind in each.routing.probes or ()}
    probes = [probe for scenario in project.scenarios.values() for probe in scenario.probes]
    first = {probe.kind: probe for probe in reversed(probes) if probe.kind in PROBE_KINDS}
    for kind in first.keys() - read if checks else ():
        notes = [(first[kind].place("kind"), "the probe")]
        place = _meant_for(kind, checks).place("routing", "probes")
        yield warning(place, f"no check evaluates the `{kind}` probes", notes=notes)


def _meant_for(kind: str, checks: Sequence[CheckDocument]) -> CheckDocument:
    """The check that has the kind as a tag, or the first one."""
    return next((each for each in checks if kind in each.secondary_tags), checks[0])
