"""Accumulators of a summary, in bounded memory for any number of transcripts: exact sums, rates of flags, lists, and
the unresolved part of a run: the bounds of its score and gates, and the missing answers that decide them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, Final

from msgspec import Struct, field

from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.english import plural, some
from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.report.text import headline_name, number
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject

MAX_ENTRIES: Final = 1000  # of a list in summary.json; all are counted, and the run's rows contain all


class RunningSum(Struct):
    """An exact sum, as a short list of non-overlapping floats (Shewchuk's algorithm)."""

    parts: list[float] = field(default_factory=list)
    count: int = 0

    def add(self, value: float) -> None:
        self.count += 1
        self._add(value)

    def _add(self, value: float) -> None:
        used = 0
        for part in self.parts:
            if abs(value) < abs(part):
                value, part = part, value
            total = value + part
            rest = part - (total - value)
            if rest:
                self.parts[used] = rest
                used += 1
            value = total
        self.parts[used:] = [value]

    def merge(self, more: RunningSum) -> None:
        self.count += more.count
        for part in more.parts:
            self._add(part)

    @property
    def mean(self) -> float | None:
        """The sum, rounded once, divided by the count; None if the count is 0."""
        return math.fsum(self.parts) / self.count if self.count else None


class Means(Struct):
    """A mean of numbers; absent ones are counted apart."""

    values: RunningSum = field(default_factory=RunningSum)
    absent: int = 0

    def add(self, value: float | None) -> None:
        """Add one number, or count an absent one (None)."""
        if value is None:
            self.absent += 1
        else:
            self.values.add(value)

    def result(self) -> JsonObject:
        """`{mean, counted, absent}`; `mean` is null if nothing was counted."""
        return {"mean": self.values.mean, "counted": self.values.count, "absent": self.absent}


class Flags(Struct):
    """For each label, how often it was known and how often it was raised."""

    known: dict[str, int] = field(default_factory=dict)
    raised: dict[str, int] = field(default_factory=dict)

    def add(self, profile: Mapping[str, bool | None]) -> None:
        """Add the labels of one transcript; None means unknown."""
        for label, flag in profile.items():
            self.known[label] = self.known.get(label, 0) + (flag is not None)
            self.raised[label] = self.raised.get(label, 0) + (flag is True)

    def rates(self) -> dict[str, float | None]:
        """For each label the share of raised flags among the transcripts with a value; None if none has one."""
        return {label: self.raised[label] / total if total else None for label, total in self.known.items()}


class FirstEntries(Struct):
    """The first entries of a list, and the count of all."""

    count: int = 0
    items: list[JsonObject] = field(default_factory=list)

    def add(self, item: JsonObject) -> None:
        self.count += 1
        if len(self.items) < MAX_ENTRIES:
            self.items.append(item)

    def merge(self, more: FirstEntries) -> None:
        """Add the entries of a later list."""
        self.count += more.count
        self.items += more.items[: MAX_ENTRIES - len(self.items)]


def merge(into: Struct, more: Struct) -> None:
    """Merge each field of `more` into `into`: numbers are added, lists concatenated, mappings merged by key, structs
    merged by their own `merge` if they have one; two truths hold together, and the later of two texts replaces the
    earlier.

    Raises TypeError for any other value.
    """
    for name in into.__struct_fields__:
        setattr(into, name, merged(getattr(into, name), getattr(more, name)))


def merged(value: Any, more: Any) -> Any:
    """The merged value. Raises TypeError as `merge` does."""
    if isinstance(value, dict):
        return value | {key: merged(value[key], other) if key in value else other for key, other in more.items()}
    if isinstance(value, Struct):
        own = getattr(value, "merge", None)
        if own is None:
            merge(value, more)
        else:
            own(more)
        return value
    if isinstance(value, bool):
        return value and more
    if isinstance(value, list | int | float):
        return value + more
    if value is None or isinstance(value, str):
        return more
    raise TypeError(f"two values of the type {type(value).__name__} can't be merged")


UNTOUCHED: Final = "whatever the missing answers say"
INCONCLUSIVE: Final = "inconclusive"
_STRENGTH: Final = ("not_run", "passed", "undecided", "failed")  # the strongest state of a row is that of the run
_RESULTS: Final = {("passed",): "passed", ("failed",): "failed", ("not_run",): "not run"}


class Passing(Struct):
    """The transcripts that pass a gate whatever the missing answers say, those that fail it so, and the others."""

    passed: int = 0
    failed: int = 0
    open: int = 0

    def add(self, states: Iterable[str]) -> None:
        """Count a transcript by the possible states of the gate."""
        only, *more = states
        name = "open" if more or only not in ("passed", "failed") else only
        setattr(self, name, getattr(self, name) + 1)

    def result(self, required: float, refused: int = 0) -> JsonObject:
        """The counts, and the possible `states`: of none it is undecided."""
        most, of = self.passed + self.open + refused, self.passed + self.failed + self.open + refused
        possible = {"passed": of and most / of >= required, "failed": of and self.passed / of < required}
        states = [state for state, is_possible in possible.items() if is_possible] or ["undecided"]
        return {"passed": self.passed, "failed": self.failed, "open": self.open + refused, "states": states}


class _Gate(Struct):
    """The possible results of one gate over the rows so far."""

    states: set[str] = field(default_factory=lambda: {"not_run"})
    answers: FirstEntries = field(default_factory=FirstEntries)
    pass_rate: float | None = None
    models: dict[str, Passing] = field(default_factory=dict)  # of a gate with a pass rate, where it applies

    def merge(self, more: _Gate) -> None:
        """Add the results over later rows."""
        self.states = _strongest(self.states, more.states)
        self.answers.merge(more.answers)
        self.pass_rate, self.models = more.pass_rate, merged(self.models, more.models)


class Unresolved(Struct):
    """Collects rows one by one; `result` is the finished part of a summary as JSON data."""

    transcripts: int = 0
    answers: int = 0
    exact: bool = True
    low: RunningSum = field(default_factory=RunningSum)  # the bounds of scores that are certainly present
    high: RunningSum = field(default_factory=RunningSum)
    lows: dict[float, int] = field(default_factory=dict)  # bounds of scores that may be absent, with counts
    highs: dict[float, int] = field(default_factory=dict)
    gates: dict[str, _Gate] = field(default_factory=dict)
    other_gates: dict[str, int] = field(default_factory=dict)  # the outcomes by the gates without a pass rate

    def add(self, row: JsonMapping, headline: str | None = HEADLINE) -> None:
        """Add one row of `scores.jsonl`; `headline` is the output whose mean is bounded."""
        engine = row[ENGINE]
        bounds = engine.get("bounds")
        for name, gate in engine["gates"].items():
            states = bounds["gates"][name]["states"] if bounds else [gate["state"]]
            decides = bounds["gates"][name]["decided_by"] if bounds else []
            self._add_gate(str(row.get("transcript_id")), name, states, decides)
            if "pass_rate" in gate:
                self.gates[name].pass_rate = gate["pass_rate"]
                passing = self.gates[name].models.setdefault(str(row.get("model")), Passing())
                if gate["applies"]:
                    passing.add([*states, *_may_be_undecided(engine)])
        outcome = _by_other_gates(engine)
        self.other_gates[outcome] = self.other_gates.get(outcome, 0) + 1
        if bounds is None:
            self._add_score(row.get(headline or ""))
            return
        self.transcripts += 1
        self.answers += len(bounds["unknown"])
        self.exact = self.exact and bounds["exact"]
        score = bounds["overall_score"]
        if score["low"] is not None:
            self._add_ends(score["low"], score["high"], absent=score["absent"])

    def _add_score(self, score: Json) -> None:
        if type(score) in (int, float):
            self._add_ends(score, score, absent=False)

    def _add_ends(self, low: float, high: float, *, absent: bool) -> None:
        if absent:
            self.lows[low] = self.lows.get(low, 0) + 1
            self.highs[high] = self.highs.get(high, 0) + 1
        else:
            self.low.add(low)
            self.high.add(high)

    def _add_gate(self, transcript: str, name: str, states: Iterable[str], decides: Iterable[str]) -> None:
        gate = self.gates.setdefault(name, _Gate())
        gate.states = _strongest(gate.states, states)
        for check_id in decides:
            gate.answers.add({"transcript_id": transcript, "check_id": check_id})

    def result(self, refused: int, headline: str | None = HEADLINE) -> JsonObject:
        """`{headline, transcripts, answers, refused, exact, overall_score, gates}`.

        `overall_score` bounds the mean of the headline; it has `absent: true` if no transcript is certain to have a
        score. Each gate has its possible `states` over the whole run (it fails if it fails for one transcript, unless
        it has a `pass_rate`) and the `answers` that decide it. A refused input may have had any score and failed any
        gate. If a gate has a pass rate, `other_gates` counts the outcomes of transcripts by the gates without one.
        """
        rated = any(gate.pass_rate is not None for gate in self.gates.values())
        absent = {"absent": True} if self.lows and not self.low.count else {}
        lows, highs = ({**ends, end: ends.get(end, 0) + refused} for ends, end in ((self.lows, 0.0), (self.highs, 1.0)))
        return {
            "headline": headline,
            "transcripts": self.transcripts,
            "answers": self.answers,
            "refused": refused,
            "exact": self.exact,
            "overall_score": {"low": lowest_mean(self.low, lows), "high": _highest_mean(self.high, highs), **absent},
            "gates": {name: _gate(gate, refused) for name, gate in sorted(self.gates.items())},
            **({"other_gates": self.other_gates} if rated else {}),
        }


def lowest_mean(fixed: RunningSum, optional: Mapping[float, int]) -> float | None:
    """The lowest mean of the `fixed` values and any subset of the `optional` ones, which map values to counts; None
    without values."""
    taken = RunningSum(list(fixed.parts), fixed.count)
    for value, times in sorted(optional.items()):
        for _ in range(times):
            if taken.mean is not None and value >= taken.mean:
                return taken.mean
            taken.add(value)
    return taken.mean


def _highest_mean(fixed: RunningSum, optional: Mapping[float, int]) -> float | None:
    mirrored = RunningSum([-part for part in fixed.parts], fixed.count)
    lowest = lowest_mean(mirrored, {-value: times for value, times in optional.items()})
    return None if lowest is None else 0.0 - lowest


def _strongest(left: Iterable[str], right: Iterable[str]) -> set[str]:
    """The possible states of a gate over two parts of a run, each with its possible states."""
    return {max(one, other, key=_STRENGTH.index) for one, other in product(left, right)}


def _may_be_undecided(engine: JsonMapping) -> list[str]:
    """`undecided` if some answers leave the transcript undecided, for example too few of them: it then passes no pass
    rate for sure, whatever the state of the gate."""
    return [word for word in engine.get("bounds", {}).get("outcomes", [engine["outcome"]]) if word == "undecided"]


def _by_other_gates(engine: JsonMapping) -> str:
    """The outcome of a transcript by the gates without a pass rate: `passed` if these pass and a gate with one applies,
    whose rate decides over it."""
    rated = [gate for gate in engine["gates"].values() if "pass_rate" in gate]
    if not rated:
        return str(engine["outcome"])
    states = {gate["state"] for gate in engine["gates"].values() if "pass_rate" not in gate} - {"passed"}
    if states:
        return "failed" if "failed" in states else "undecided"
    return "passed" if any(gate["applies"] for gate in rated) else str(engine["outcome"])


def _gate(gate: _Gate, refused: int) -> dict[str, object]:
    if gate.pass_rate is not None:
        return _rated(gate, gate.pass_rate, refused)
    if gate.states == {"failed"}:
        return {"states": ["failed"], "answers": []}
    return {"states": sorted(gate.states | ({"failed"} if refused else set())), "answers": gate.answers.items}


def _rated(gate: _Gate, required: float, refused: int) -> dict[str, object]:
    """A gate with a pass rate: it passes if the run meets the rate and each model does. A refused input may be of any
    model."""
    whole = Passing()
    for passing in gate.models.values():
        merge(whole, passing)
    models = {name: passing.result(required, refused) for name, passing in sorted(gate.models.items())}
    run, states = whole.result(required, refused), {"not_run"}
    for each in (run, *models.values()):
        states = _strongest(states, each["states"])
    answers = gate.answers.items if len(states) > 1 else []
    return {"states": sorted(states), "answers": answers, "pass_rate": {"required": required, **run, "models": models}}


def gate_result(gate: JsonMapping) -> str:
    """The result of a gate over the whole run: `passed`, `failed`, `not run` if it ran for no transcript, or
    `inconclusive` if it is not settled."""
    return _RESULTS.get(tuple(gate["states"]), INCONCLUSIVE)


def is_unresolved(unresolved: JsonMapping) -> bool:
    """Whether an answer is missing or an input was refused."""
    return bool(unresolved["answers"] or unresolved["refused"])


def unresolved_lines(unresolved: JsonMapping) -> list[str]:
    """The unresolved part as sentences; empty if everything is resolved."""
    if not is_unresolved(unresolved):
        return []
    parts = []
    if unresolved["answers"]:
        where = plural(unresolved["transcripts"], "transcript")
        parts.append(f"{plural(unresolved['answers'], 'answer')} missing in {where}")
    if unresolved["refused"]:
        parts.append(f"{plural(unresolved['refused'], 'input')} refused")
    lines = [" and ".join(parts) + _score_bound(unresolved)]
    return lines + [gate_line(name, gate) for name, gate in unresolved["gates"].items() if "pass_rate" not in gate]


def pass_rate_lines(unresolved: JsonMapping) -> list[str]:
    """The gates with a pass rate as sentences."""
    return [gate_line(name, gate) for name, gate in unresolved["gates"].items() if "pass_rate" in gate]


def _score_bound(unresolved: JsonMapping) -> str:
    """The bounds of the headline's mean, as text; empty if it has none."""
    name, score = headline_name(unresolved), unresolved["overall_score"]
    if name is None or score["low"] is None:
        return ""
    if score["low"] == score["high"]:
        return f": {name} {number(score['low'])} {'or none' if score.get('absent') else 'whatever they say'}"
    bound = "" if unresolved["exact"] else " (an outer bound)"
    return f": {name} {number(score['low'])} to {number(score['high'])}{bound}"


def gate_line(name: str, gate: JsonMapping) -> str:
    """The possible states of a gate, and the answers that decide them, as text; of one with a pass rate the result,
    the numbers of transcripts and the models that do not meet it."""
    if "pass_rate" in gate:
        rate = gate["pass_rate"]
        models = rate["models"].items() if len(rate["models"]) > 1 else ()
        lacking = [
            f"{model} {_passing(each, rate['required'])}" for model, each in models if each["states"] != ["passed"]
        ]
        words = f"{gate_result(gate)}, {_passing(rate, rate['required'])} pass, {rate['required']:.6g} required"
        return f"gate {name}: {'; '.join([words, *lacking])}{_deciding(gate)}"
    if len(gate["states"]) == 1:
        return f"gate {name}: {gate['states'][0].replace('_', ' ')} {UNTOUCHED}"
    return f"gate {name}: {' or '.join(gate['states']).replace('_', ' ')}{_deciding(gate)}"


def _deciding(gate: JsonMapping) -> str:
    answers = [f"{each['transcript_id']} x {each['check_id']}" for each in gate["answers"]]
    decide = plural(len(answers), "answer decides it", "answers decide it")
    return f"; {decide}: {some(answers)}" if answers else ""


def _passing(counts: JsonMapping, required: float) -> str:
    """How many transcripts pass a gate, as text: `44 to 47 of 50 (0.88 to 0.94)`."""
    low, of = counts["passed"], counts["passed"] + counts["failed"] + counts["open"]
    ends = list(dict.fromkeys((low, low + counts["open"])))
    shares = f" ({' to '.join(_apart(end / of, required) for end in ends)})" if of else ""
    return f"{' to '.join(map(str, ends))} of {of}{shares}"


def _apart(share: float, required: float) -> str:
    """A share with four digits, or with as many as show that it is not the required one."""
    short = f"{share:.4g}"
    return short if share == required or short != f"{required:.4g}" else f"{share:.9g}"
