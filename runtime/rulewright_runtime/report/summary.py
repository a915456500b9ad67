"""The summary of a corpus: outcomes, gates, verdicts, means, blindspots, refused and incomplete inputs, and verdicts
that need adjudication.

Outcomes, gates and failures are the engine's own results; means, the status and blindspots are outputs of the
scorecard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct, field

from rulewright_runtime.aggregate.inference import wilson
from rulewright_runtime.aggregate.outcome import ENGINE, GATE_STATES, OUTCOMES
from rulewright_runtime.english import plural, some, ticked
from rulewright_runtime.errors import InputError, PlanError
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.scorecard import HEADLINE, LABEL
from rulewright_runtime.report.accumulators import FirstEntries, Flags, Means, Unresolved, gate_result, merge
from rulewright_runtime.report.text import headline_name
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from rulewright_runtime.verdicts import VerdictRecord


VERSION: Final = 4
# The totals of inputs and records; each total is the sum of its parts. A FAIL is `judged`, `unverified` because its
# quotes do not occur, or `fail_closed` because no usable verdict was given; an UNCLEAR is the verdict `unclear`, an
# error or a missing part.
TOTALS: Final[dict[str, tuple[str, ...]]] = {
    "inputs": ("transcripts", "refused"),
    "transcripts": ("complete", "incomplete"),
    "records": ("eligible", "not_eligible", "suppressed"),
    "eligible": VERDICTS,
    "FAIL": ("judged", "unverified", "fail_closed"),
    "UNCLEAR": ("unclear", "errors", "missing"),
}
# The reasons why a failure is unproven, as reports show them.
UNPROVEN: Final = {
    "error": "no usable verdict",
    "missing": "missing content",
    "unverified": "quotes that do not occur",
    "unclear": "no clear answer",
}
_COUNTED: Final = ("eligible", *VERDICTS, "not_eligible", "errors", "missing", "unverified", "fail_closed")
# The count to which a verdict with a cause belongs.
_CAUSES: Final = {
    "FAIL": {"error": "fail_closed", "missing": "fail_closed", "unclear": "fail_closed", "unverified": "unverified"},
    "UNCLEAR": {"error": "errors", "missing": "missing"},
}


RunSummary: TypeAlias = Mapping[str, Any]  # `summary.json`, or the counts of a check in it
# Of a record: its check, whether it applies, its verdict and the cause of it.
Tally: TypeAlias = tuple[str, bool, str, str | None]
_TALLY: Final = attrgetter("check_id", "eligible", "verdict", "cause")
_IS_OPEN: Final = attrgetter("adjudication_required")

# The fields that describe the run: they are set at the start and never merged.
_RUN_FIELDS: Final = ("about", "planned", "category_of", "headline", "label", "members")


class Group(Struct):
    """The transcripts of one model in one category of scenarios, or of several such groups."""

    transcripts: int = 0
    failed: int = 0
    unproven: int = 0
    overall: Means = field(default_factory=Means)
    harness: dict[str, int] = field(default_factory=dict)
    profiles: Flags = field(default_factory=Flags)

    def add(self, row: JsonMapping, harness: str, headline: str | None) -> None:
        """Add one row; `headline` is the output that is averaged."""
        self.transcripts += 1
        if harness:
            self.harness[harness] = self.harness.get(harness, 0) + 1
        self.failed += row[ENGINE]["outcome"] == "failed"
        self.unproven += is_unproven(row[ENGINE])
        self.overall.add(row.get(headline or ""))
        self.profiles.add(_mapping(row.get("blindspot_profile")))

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Group:
        """Merge several groups into one."""
        whole = cls()
        for group in groups:
            merge(whole, group)
        return whole

    def result(self) -> JsonObject:
        """`{transcripts, failed, unproven, overall}`."""
        counts = {"transcripts": self.transcripts, "failed": self.failed, "unproven": self.unproven}
        return {**counts, "overall": self.overall.result()}

    def of_model(self) -> dict[str, object]:
        """The same with `blindspots`, the rate of each label, `known`, the transcripts that it is a share of, and
        `harness`, the transcripts of each."""
        flags = {"blindspots": self.profiles.rates(), "known": self.profiles.known}
        return {**self.result(), **flags, "harness": dict(sorted(self.harness.items()))}


class Summary(Struct):
    """Collects rows one by one, in any number; `result` is the finished summary as JSON data.

    Lists (failed, incomplete, refused, adjudication) keep the first entries and count all. `about` (profile, scorecard,
    plan hash ...) is copied to the top of the result; `planned` is the number of the plan's checks, each of which has a
    record for every transcript unless it is suppressed there; `category_of` maps scenarios to their categories.
    `headline` and `label` name the outputs of the scorecard that are averaged and counted, `members` the checks of each
    gate.
    """

    about: JsonMapping = field(default_factory=dict)
    rows: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    decided_by: str = "checks"
    statuses: dict[str, int] = field(default_factory=dict)
    gates: dict[str, dict[str, int]] = field(default_factory=dict)
    dimensions: dict[str, Means] = field(default_factory=dict)
    tallies: dict[Tally, int] = field(default_factory=dict)
    groups: dict[str, dict[str, Group]] = field(default_factory=dict)  # by model and category
    failed: FirstEntries = field(default_factory=FirstEntries)
    unproven_causes: dict[str, int] = field(default_factory=dict)
    failing_checks: dict[str, JsonObject] = field(default_factory=dict)
    adjudication: FirstEntries = field(default_factory=FirstEntries)
    refused: FirstEntries = field(default_factory=FirstEntries)
    incomplete: FirstEntries = field(default_factory=FirstEntries)
    gaps: int = 0
    unresolved: Unresolved = field(default_factory=Unresolved)
    planned: int = 0
    category_of: Mapping[str, str] = field(default_factory=dict)
    headline: str | None = HEADLINE
    label: str | None = LABEL
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def add(self, row: JsonMapping, verdicts: Iterable[VerdictRecord], harness: str = "") -> None:
        """Add one transcript: its row of `scores.jsonl`, its verdict records, and its harness if known."""
        self.rows += 1
        verdicts = list(verdicts)
        engine = row[ENGINE]
        self.outcomes[engine["outcome"]] += 1
        self.decided_by = engine["decided_by"]
        for name, gate in engine["gates"].items():
            self.gates.setdefault(name, dict.fromkeys(GATE_STATES, 0))[gate["state"]] += 1
        if engine["outcome"] == "failed":
            self._add_failed(row, engine, verdicts)
        if (status := row.get(self.label or "")) is not None:
            self.statuses[str(status)] = self.statuses.get(str(status), 0) + 1
        self.unresolved.add(row, self.headline)
        for name, value in _mapping(row.get("dimension_scores")).items():
            self.dimensions.setdefault(name, Means()).add(value)
        if row.get("missing"):
            keys = ("transcript_id", "scenario_id", "model", "missing")
            self.incomplete.add({key: row.get(key) for key in keys})
            self.gaps += len(row["missing"])
        for check_id in row.get("left_out", ()):
            self.left_out[check_id] = self.left_out.get(check_id, 0) + 1
        category = self.category_of.get(str(row.get("scenario_id")), "")
        groups = self.groups.setdefault(str(row.get("model")), {})
        if category not in groups:
            groups[category] = Group()
        groups[category].add(row, harness, self.headline)
        transcript = row.get("transcript_id")
        self._add_verdicts(str(transcript), verdicts)
        for item in row.get("undecided", ()):
            entry = {"transcript_id": transcript, "check_id": item["check_id"] or None}
            self.adjudication.add({**entry, "verdict": None, "reason": f"{item['place']}: {item['reason']}"})

    def _add_failed(self, row: Mapping[str, object], engine: JsonMapping, verdicts: list[VerdictRecord]) -> None:
        """Add a failed transcript, with the checks that made it fail and the unproven ones among them."""
        keys = ("transcript_id", "scenario_id", "model")
        because, unproven = engine["because"], engine["unproven"]
        self.failed.add({**{key: row.get(key) for key in keys}, "because": because, "unproven": unproven})
        if is_unproven(engine):
            for cause in unproven.values():
                self.unproven_causes[cause] = self.unproven_causes.get(cause, 0) + 1
        for check_id in because:
            if check_id not in self.failing_checks:
                verdict = next((each for each in verdicts if each.check_id == check_id), None)
                fields = {name: getattr(verdict, name, None) for name in ("primary_bucket", "severity")}
                self.failing_checks[check_id] = {"check_id": check_id, **fields, "count": 0, "unproven": 0}
            self.failing_checks[check_id]["count"] += 1
            self.failing_checks[check_id]["unproven"] += check_id in unproven

    def _add_verdicts(self, transcript: str, verdicts: list[VerdictRecord]) -> None:
        tallies = self.tallies
        for tally in map(_TALLY, verdicts):
            tallies[tally] = tallies.get(tally, 0) + 1
        for verdict in filter(_IS_OPEN, verdicts):
            entry = {"transcript_id": transcript, "check_id": verdict.check_id, "verdict": verdict.verdict}
            self.adjudication.add({**entry, "reason": getattr(verdict, "rationale_code", None)})

    @property
    def checks(self) -> dict[str, dict[str, int]]:
        """The counts of each check's records."""
        checks: dict[str, dict[str, int]] = {}
        for (check_id, eligible, verdict, cause), number in self.tallies.items():
            counts = checks.setdefault(check_id, dict.fromkeys(_COUNTED, 0))
            part = _CAUSES.get(verdict, {}).get(cause, "errors") if cause else None
            for name in ("eligible", verdict, part) if eligible else ("not_eligible",):
                if name is not None:
                    counts[name] = counts.get(name, 0) + number
        return checks

    def merge(self, more: Summary) -> None:
        """Merge a summary of later rows; the fields that describe the run, such as `about`, are unchanged."""
        run_fields = {name: getattr(self, name) for name in _RUN_FIELDS}
        merge(self, more)
        for name, value in run_fields.items():
            setattr(self, name, value)

    def refuse(self, error: InputError) -> None:
        self.refused.add({"path": error.path, "line": error.line, "reason": error.reason})

    def result(self) -> JsonObject:
        """The summary as JSON data, the same for the same rows in the same order."""
        checks = self.checks
        total = {name: sum(check.get(name, 0) for check in checks.values()) for name in _COUNTED}
        models = {name: Group.of(groups.values()) for name, groups in sorted(self.groups.items())}
        idle = self._idle_gates(checks)
        categories = sorted({name for groups in self.groups.values() for name in groups if name})
        whole = Group.of(models.values())
        return {
            "version": VERSION,
            **self.about,
            "transcripts": self.rows,
            "totals": self._totals(total),
            "incomplete": {"count": self.incomplete.count, "gaps": self.gaps, "transcripts": self.incomplete.items},
            "refused": {"count": self.refused.count, "inputs": self.refused.items},
            "decided_by": self.decided_by,
            "outcomes": self.outcomes,
            "gates": self.gates,
            **({"idle_gates": idle} if idle else {}),
            "left_out": dict(sorted(self.left_out.items())),
            "failed": {
                "count": self.failed.count,
                "rate": self.failed.count / self.rows if self.rows else None,
                "unproven": whole.unproven,
                "unproven_causes": dict(sorted(self.unproven_causes.items())),
                "by_check": sorted(
                    self.failing_checks.values(), key=lambda entry: (-entry["count"], entry["check_id"])
                ),
                "transcripts": self.failed.items,
            },
            "headline": self.headline,
            "label": self.label,
            "status": dict(sorted(self.statuses.items())),
            "overall_score": whole.overall.result(),
            "unresolved": self.unresolved.result(self.refused.count, self.headline),
            "dimension_scores": {name: means.result() for name, means in self.dimensions.items()},
            "verdicts": {name: total[name] for name in ("eligible", *VERDICTS)},
            "checks": dict(sorted(checks.items())),
            "blindspots": {"rates": whole.profiles.rates(), "known": whole.profiles.known, "n_runs": self.rows},
            "categories": {
                name: Group.of(each[name] for each in self.groups.values() if name in each).result()
                for name in categories
            },
            "models": {name: group.of_model() for name, group in models.items()},
            "adjudication": {"count": self.adjudication.count, "items": self.adjudication.items},
        }

    def _idle_gates(self, checks: Mapping[str, Mapping[str, int]]) -> dict[str, list[str]]:
        """The gates that passed in every row although none of their checks applied in any, with these checks."""
        passed = [name for name, states in self.gates.items() if states["passed"] == self.rows]
        return {
            name: list(members)
            for name in passed
            if (members := self.members.get(name)) and not any(checks.get(each, {}).get("eligible") for each in members)
        }

    def _totals(self, counts: dict[str, int]) -> dict[str, int]:
        applied = counts["eligible"] + counts["not_eligible"]
        records = max(self.planned * self.rows, applied)
        parts = {
            **counts,
            "inputs": self.rows + self.refused.count,
            "refused": self.refused.count,
            "transcripts": self.rows,
            "complete": self.rows - self.incomplete.count,
            "incomplete": self.incomplete.count,
            "records": records,
            "suppressed": records - applied,
            "judged": counts["FAIL"] - counts["unverified"] - counts["fail_closed"],
            "unclear": counts["UNCLEAR"] - counts["errors"] - counts["missing"],
        }
        names = [name for total, summands in TOTALS.items() for name in (total, *summands)]
        return {name: parts[name] for name in names}


def idle_gates(summary: JsonMapping) -> dict[str, str]:
    """The gates that passed without a single verdict, and those that leave transcripts undecided because none of their
    checks ran, each with a sentence that says so and what to do about it."""
    passed = {
        name: f"gate {name} passed without a verdict: none of its checks applied to any transcript "
        f"({some(members, 3)}); scan transcripts to which one applies"
        for name, members in summary.get("idle_gates", {}).items()
    }
    waiting = {
        name: f"gate {name} did not run, so no transcript can pass: no check that ran belongs to it; add a check to "
        "it, choose a profile that runs one, or write a scorecard without this gate"
        for name, states in summary["gates"].items()
        if summary["outcomes"]["undecided"] and states["not_run"] == summary["transcripts"]
    }
    return passed | waiting


def equations(summary: JsonMapping) -> dict[str, str]:
    """The totals with several non-zero parts, as text: `17 inputs = 16 transcripts + 1 refused`; and the checks that
    are in none of them, since they ran on no transcript: they applied nowhere, or have no votes."""
    totals, lines = summary["totals"], {}
    named = {"suppressed": "suppressed or not asked"} if summary.get("gates_only") else {}
    for name, parts in TOTALS.items():
        words = [_counted(totals[part], named.get(part, part)) for part in parts if totals[part]]
        if len(words) > 1:
            lines[name] = f"{_counted(totals[name], name)} = {' + '.join(words)}"
    checks = summary["checks"]
    if idle := [name for name, counts in checks.items() if not counts["eligible"]]:
        count = f"{len(idle)} of {plural(len(checks), 'check')}"
        lines["unapplied"] = f"{count} ran on no transcript: {some(idle, 8)}"
    return lines


def _counted(count: int, name: str) -> str:
    noun = name.removesuffix("s") if count == 1 and name.islower() else name
    return f"{count} {noun.replace('_', ' ')}"


def scores(summary: JsonMapping) -> list[tuple[str, JsonMapping]]:
    """The means that reports show, by name: the headline, if the scorecard has one, and the dimensions."""
    name = headline_name(summary)
    shown = [] if name is None else [(name, summary["overall_score"])]
    return [*shown, *summary["dimension_scores"].items()]


def label_name(summary: JsonMapping) -> str:
    """The title of the label in reports: `Status`, or the name of the output."""
    name = summary.get("label") or LABEL
    return "Status" if name == LABEL else str(name)


def judge_line(judge: JsonMapping | None) -> str:
    """The judge, as one line; empty if there was none."""
    if not judge:
        return ""
    if judge["provider"] == "replay":
        return f"recorded replies {judge.get('name') or 'without a name'} (sha256 {judge['digest'][:12]})"
    model = judge.get("requested_model") or judge.get("name") or ""
    served = [name for name in judge.get("served_models", ()) if name != model]
    return f"{judge['provider']} {model}".strip() + (f" (served by {', '.join(served)})" if served else "")


def unproven(summary: JsonMapping) -> str:
    """The number of transcripts with only unproven failures, and the reasons, as text; empty if there are none."""
    failed = summary["failed"]
    why = ", ".join(words for cause, words in UNPROVEN.items() if cause in failed["unproven_causes"])
    return f"{failed['unproven']} of them unproven: {why}" if failed["unproven"] else ""


def failed_interval(summary: JsonMapping) -> JsonObject:
    """The 95% interval of the share of transcripts that fail. What is undecided, failed without proof or was refused
    counts as passed for its lower and as failed for its upper end."""
    failed, refused = summary["failed"], summary["refused"]["count"]
    most = failed["count"] + summary["outcomes"]["undecided"] + refused
    return wilson(failed["count"] - failed["unproven"], summary["transcripts"] + refused, most=most)


def outside_gates(summary: JsonMapping) -> str:
    """The number of failures where every gate passed, as text; empty if there are none, or no gate contains a check."""
    failures = 0 if summary["failed"]["count"] or summary["decided_by"] != "gates" else summary["verdicts"]["FAIL"]
    return f"{plural(failures, 'FAIL verdict')} in checks that stop no gate" if failures else ""


def coverage(engine: JsonMapping) -> str:
    """The coverage of a transcript, or the most that it may be where checks were not asked, as text with so many digits
    that it is not raised to the required share; empty if no check applied."""
    known, most = engine["coverage"], engine.get("coverage_at_most")
    share = most if known is None else known
    return "" if share is None else f"{'at most ' if known is None else ''}{100 * share:.4g}%"


def gaps(missing: Iterable[JsonMapping]) -> str:
    """The missing parts of a transcript, as one line."""
    return "; ".join(
        f"session {gap['session']}: {gap['reason']}" if gap.get("session") else str(gap.get("reason"))
        for gap in missing
    )


def is_unproven(failed: JsonMapping) -> bool:
    """Whether every check that made a transcript fail is unproven: it has no usable verdict, or its quotes do not
    occur."""
    return bool(failed["unproven"]) and set(failed["unproven"]) >= set(failed["because"])


def _mapping(output: Json) -> JsonMapping:
    """An output field that should be a mapping; `{}` for any other type, which the author may have output."""
    return output if isinstance(output, dict) else {}


def exit_status(summary: JsonMapping) -> int:
    """The exit status of a run: 0 every gate passed, 1 a gate failed, 2 undecided, 3 an input was refused or there was
    none. If no check belongs to a gate, 0 means that no check failed and 1 that one did. A gate with a pass rate passes
    or fails by it, and is undecided if the missing answers may change that.

    Only the engine's own results count. A transcript to which no check applied is not a failure; a run of only such
    transcripts is undecided.
    """
    if summary["refused"]["count"] or not summary["transcripts"]:
        return 3
    unresolved = summary["unresolved"]
    outcomes = unresolved.get("other_gates", summary["outcomes"])
    rated = {gate_result(gate) for gate in unresolved["gates"].values() if "pass_rate" in gate}
    if outcomes.get("failed") or "failed" in rated:
        return 1
    return 0 if outcomes.get("passed") and not outcomes.get("undecided") and rated <= {"passed"} else 2


NEVER: Final = "never"


def check_threshold(plan: Plan, fail_on: str | None) -> None:
    """Raise PlanError unless `fail_on` is a severity of the plan, `never` or None."""
    if fail_on not in (None, NEVER, *plan.severities):
        known = ticked(plan.severities)
        raise PlanError(f"unknown severity `{fail_on}`; expected {known} or `{NEVER}`")


def status_at(summary: RunSummary, plan: Plan, fail_on: str | None) -> int:
    """The exit code of a run.

    None: that of `exit_status`. `never`: the same, with 0 in place of 1 and 2. A severity: 1 if a check of that or a
    higher severity, or without a severity, failed; 2 if one is UNCLEAR or was left out, or none applied; 3 as in
    `exit_status`. Raises PlanError for any other value.
    """
    check_threshold(plan, fail_on)
    status = exit_status(summary)
    if fail_on is None or status == 3:
        return status
    if fail_on == NEVER:
        return 0
    counts = _counts_at(summary, plan, fail_on)
    if any(count["FAIL"] for count in counts):
        return 1
    applied = any(count["eligible"] for count in counts)
    return 0 if applied and not summary["left_out"] and not any(count["UNCLEAR"] for count in counts) else 2


def decides_nothing(summary: RunSummary, plan: Plan, fail_on: str | None) -> bool:
    """Whether `fail_on` is a severity, and no check of that or a higher severity, or without a severity, applied."""
    if fail_on is None or fail_on == NEVER:
        return False
    return not any(count["eligible"] for count in _counts_at(summary, plan, fail_on))


def _counts_at(summary: RunSummary, plan: Plan, fail_on: str) -> list[RunSummary]:
    """The verdicts of the checks that count under a severity as `fail_on`."""
    counted = (*plan.severities[plan.severities.index(fail_on) :], "")
    checks = [check.id for check in plan.checks if check.severity in counted]
    return [summary["checks"][name] for name in checks if name in summary["checks"]]
