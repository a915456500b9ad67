"""Finds cases and settings for which two scorecards over cases give different results, by scoring with both, and the
cases of a report of `rulewright score` whose labels would change."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import Struct, field

from rulewright.errors import DocumentError, UsageError
from rulewright.policies.policy_model import difference
from rulewright.scoring.settings_file import settings_of_run
from rulewright.witnesses.candidates import Written, placed, written_in
from rulewright.witnesses.guesses import varied
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Input, Setting
from rulewright_runtime.cases.case_reader import Batch, Case, CaseReader
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.cases.json_report import CaseResult, results_of
from rulewright_runtime.errors import EvaluationError, InputError, PlanError
from rulewright_runtime.plan.part import VERDICTS, programs_of
from rulewright_runtime.plan.scorecard import mentioned
from rulewright_runtime.score import Score
from rulewright_runtime.strict_json import JsonMapping, JsonObject

MOST_CASES: Final = 2_000
MOST_OF_A_SETTING: Final = 300  # values of several parameters
MOST_VALUES: Final = 8  # of one part of a case
_USUAL: Final = ("so", "no", "so no", "SO", '"so" no', "\u201cso\u201d\u00a0no")
_EMPTY: Final = {"test_id": "example", "output": {}}
_REFUSED: Final = "refused: "


class _Given(Struct, frozen=True):
    """Settings that a run is given: keys of its file, variables of its environment, flags and assignments."""

    place: str = ""
    file: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Any] = field(default_factory=dict)
    assignments: tuple[str, ...] = ()

    def settings(self, plan: CaseScorecardPlan, folder: Path) -> CaseSettings | str:
        """What a run of the scorecard uses, or why it is refused."""
        path = folder / "settings.json"
        path.write_text(json.dumps(self.file), encoding="utf-8")
        try:
            words = list(self.assignments)
            given = settings_of_run(
                plan, file=str(path), environment=self.environment, flags=self.flags, assignments=words
            )
            return given.prepared(plan)
        except DocumentError as refused:
            return f"{_REFUSED}{refused.diagnostics[0].message}"
        except (UsageError, PlanError) as refused:
            return f"{_REFUSED}{refused}"

    def shown(self) -> JsonObject:
        """The settings as an author gives them."""
        about = {"settings file": self.file, "environment": self.environment, "flags": [*self.flags]}
        return {key: value for key, value in {**about, "--set": " ".join(self.assignments)}.items() if value}


def differing_cases(plans: Sequence[CaseScorecardPlan], settings: Sequence[CaseSettings]) -> Iterator[JsonObject]:
    """Yield a difference for each part of a result that differs for an example case, and for each parameter that the
    two scorecards set differently, with a case and settings on which both were executed."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        records = list(islice(_records(plans), MOST_CASES))
        read = [list(_read(plan, records, folder)) for plan in plans]
        found: dict[tuple[str, ...], JsonObject] = {}
        distinct: dict[str, tuple[Any, ...]] = {}
        for record, *cases in zip(records, *read, strict=True):
            for judged in _judged(plans):
                results = [_result(*each, judged) for each in zip(cases, settings, strict=True)]
                distinct.setdefault(repr(results), (record, *cases))
                for region in _differences(record, results, judged):
                    found.setdefault(_key(region), region)
        yield from found.values()
        some = list(distinct.values())
        places: set[str] = set()
        for given in _settings(plans):
            found_there = None if given.place in places else _difference_under(given, plans, some, folder)
            if found_there is not None:
                places.add(given.place)
                yield found_there


def _key(region: JsonMapping) -> tuple[str, ...]:
    """What makes two differences the same: the refusals if a case is refused, the place and both labels, or the
    place."""
    steps = region["before"], region["after"]
    refusals = tuple([each for each in steps if each.startswith(_REFUSED)])
    return refusals or (region["place"], *(steps if region["place"] == "labels" else ()))


def _differences(record: JsonObject, results: Sequence[JsonMapping], judged: JsonMapping) -> Iterator[JsonObject]:
    """Yield what differs in the two results of one case."""
    one, two = results
    witness = {**({"judge": dict(judged)} if judged else {}), "case": record}
    for place in one.keys() | two.keys() if one.keys() == two.keys() else ("labels",):
        if one.get(place) != two.get(place):
            yield difference(place, str(one.get(place)), str(two.get(place)), witness=witness)


def _result(case: Case | InputError, settings: CaseSettings, judged: JsonMapping) -> dict[str, object]:
    """The label and scores of a case, or why it has none."""
    if isinstance(case, InputError) or case.problem is not None:
        return {"labels": f"{_REFUSED}{case.reason if isinstance(case, InputError) else case.problem}"}
    scorer = settings.scorer(case.archetype, case.metric_id)
    try:
        scored = scorer.score(case.inputs)
        if judged:
            counts = {each.name for each in settings.plan.metrics if each.judge and each.judge.unclear}
            answers = {n: {"verdict": verdict, "counted": True} for n, verdict in judged.items() if n in counts}
            scored = scorer.revise(scored, case.inputs, judged=answers)
    except EvaluationError as failure:
        return {"labels": f"an error: {failure}"}
    scores = {f"metrics.{name}.score": score for name, score in scored.outcome.scores.items() if name != "composite"}
    return {"labels": scored.outcome.label, **scores}


def _read(plan: CaseScorecardPlan, records: Iterable[JsonObject], folder: Path) -> Iterator[Case | InputError]:
    path = folder / "cases.jsonl"
    lines = (json.dumps({**record, "test_id": f"case-{at}"}) for at, record in enumerate(records))
    path.write_text("\n".join(lines), encoding="utf-8")
    return CaseReader(plan).cases(Batch("cases", str(path)))


def _judged(plans: Sequence[CaseScorecardPlan]) -> list[JsonObject]:
    """No verdicts of a judge, then each on a metric for which one of the scorecards counts it."""
    asked = {m.name for plan in plans for m in plan.metrics if m.judge is not None and m.judge.unclear is not None}
    return [{}, *({name: verdict} for name in sorted(asked) for verdict in VERDICTS[1:])]


def _records(plans: Sequence[CaseScorecardPlan]) -> Iterator[JsonObject]:
    """Cases with an output: first those with a part that only one of the scorecards knows, then those that differ from
    an empty case in few parts."""
    inputs = {(each.source, *each.path): each for plan in plans for each in plan.inputs}
    written = written_in([program for plan in plans for program in programs_of((plan.texts, plan.metrics))], (), ())
    among = {path: _values(each, written) for path, each in inputs.items()}
    plain = {path: values[0] for path, values in among.items()}
    mine = [{f"{each.source}.{'.'.join(each.path)}" for each in plan.inputs} | {*plan.metadata} for plan in plans]
    for path in sorted(mine[0] ^ mine[1]):
        kept = {key: value for key, value in plain.items() if ".".join(key) != path}
        yield from (_placed(kept), _placed({**kept, tuple(path.split(".")): plain.get(tuple(path.split(".")), "so")}))
    yield from (_placed({**plain, **chosen}) for chosen in varied({key: each[1:] for key, each in among.items()}))


def _values(asked: Input, written: Written) -> list[Any]:
    """Values of an input: empty, one text, several texts."""
    lengths = ["o" * number for number in written.numbers]
    texts = list(dict.fromkeys([*_USUAL, *written.texts, *written.whole, *lengths]))[:MOST_VALUES]
    if asked.type == "string":
        return ["", *texts]
    return [[], *([each] for each in texts), ["so", "no"], ["so", "no", "yet"]]


def _placed(values: Mapping[tuple[str, ...], object]) -> JsonObject:
    """A case in one record."""
    return placed(_EMPTY, {path[path[0] == "case" :]: value for path, value in values.items()})


def _settings(plans: Sequence[CaseScorecardPlan]) -> Iterator[_Given]:
    """Settings of a run, for each parameter that the two scorecards let an author set differently, and for those that
    other requirements read."""
    one, two = ({each.parameter.name: each for each in plan.settings} for plan in plans)
    for name in sorted(one.keys() | two.keys()):
        pair = [each for each in (one.get(name), two.get(name)) if each is not None]
        if len(pair) == 1 or pair[0] != pair[1]:
            yield from _given(name, pair)
    if plans[0].requires != plans[1].requires:
        read = sorted(set().union(*(mentioned([each.that for each in plan.requires]) for plan in plans)))
        known = [name for name in read if name in one and name in two]
        for some in (some for size in range(1, len(known) + 1) for some in combinations(known, size)):
            for values in islice(product(*(_amounts([one[name]]) for name in some)), MOST_OF_A_SETTING):
                words = tuple(f"{name}={_word(value)}" for name, value in zip(some, values, strict=True))
                yield _Given("requires", assignments=words)


def _given(name: str, pair: Sequence[Setting]) -> Iterator[_Given]:
    """Values of a parameter from each of its sources."""
    for value, setting in product(_amounts(pair), pair):
        place = f"parameters.{name}"
        if setting.file is not None:
            yield _Given(f"{place}.file", file=placed({}, {tuple(setting.file.split(".")): value}))
        if setting.environment is not None:
            yield _Given(f"{place}.environment", environment={setting.environment: _word(value)})
        if setting.flag is not None:
            yield _Given(f"{place}.flag", flags={setting.flag: True})
        yield _Given(place, assignments=(f"{name}={_word(value)}",))


def _amounts(pair: Sequence[Setting]) -> list[Any]:
    """Values of a parameter: its bounds, those beyond, and usual ones."""
    parameters = [each.parameter for each in pair]
    bounds = [each for p in parameters for each in (p.minimum, p.maximum, p.default) if each is not None]
    around = [near for each in bounds if not isinstance(each, bool | str) for near in (each - 1, each + 1)]
    words = [True, False] if any(p.type == "bool" for p in parameters) else [0, 1, 0.5]
    return list({repr(each): each for each in (*words, *bounds, *around)}.values())


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _difference_under(
    given: _Given, plans: Sequence[CaseScorecardPlan], some: Sequence[tuple[Any, ...]], folder: Path
) -> JsonObject | None:
    """The first difference of two scorecards that are given the same settings: one of them refuses them, or a case is
    labelled differently."""
    one, two = (given.settings(plan, folder) for plan in plans)
    if isinstance(one, str) or isinstance(two, str):
        before, after = (each if isinstance(each, str) else "accepted" for each in (one, two))
        differ = (before == "accepted") != (after == "accepted")
        return difference(given.place, before, after, witness=given.shown()) if differ else None
    for record, *cases in some:
        first, second = (_result(*each, {})["labels"] for each in zip(cases, (one, two), strict=True))
        if first != second:
            return difference(given.place, first, second, witness={**given.shown(), "case": record})
    return None


_SEARCHED: Final = (
    "inputs.",
    "texts.",
    "metrics.",
    "requires",
    "metadata",
)  # the parts of a scorecard that scores depend on
_LARGEST: Final = 1_000_000  # phrases of one list


def case_flips(report: Path, found: JsonMapping, settings: Sequence[CaseSettings]) -> JsonObject:
    """The `flips` of the report's cases, decided by their recorded scores, and `undecided`, those for which a judge or
    matches by meaning counted. Raises UsageError if `found` shows that the scorecards would score a case differently,
    InputError for an invalid report."""
    changed = [each["place"] for each in found["settings"] if str(each["place"]).startswith(_SEARCHED)]
    changed += [each["place"] for each in (*found["regions"], *found["unknown"]) if ".score" in str(each["place"])]
    if changed:
        message = f"`{changed[0]}` differs, so the scores of a report don't apply to both scorecards"
        raise UsageError(f"{message}; run `rulewright score` with each of the scorecards")
    if any(each.metric_ids for each in settings):
        raise UsageError("a report lacks the clinical metrics of its cases, on which the settings depend")
    labels = [CaseLabels(each) for each in settings]
    flips, open_cases = [], []
    for case in results_of(str(report)):
        if is_counted_otherwise(case):
            open_cases.append(case.test_id)
            continue
        one, two = (each.of(case) for each in labels)
        if one != two:
            flips.append({"test_id": case.test_id, "batch_id": case.batch_id, "before": one, "after": two})
    return {"run": str(report), "flips": flips, **({"undecided": open_cases} if open_cases else {})}


def is_counted_otherwise(case: CaseResult) -> bool:
    """Whether a judge or matches by meaning counted in a case."""
    return any(_counts(each) for each in (*case.judged.values(), *case.semantic_matches.values()))


def _counts(results: object) -> bool:
    """Whether one of these results counted."""
    each = results if isinstance(results, list) else [results]
    return any(isinstance(one, dict) and "counted" in one for one in each)


class CaseLabels:
    """The labels of recorded scores under some settings; cases with the same scores are labelled once."""

    def __init__(self, settings: CaseSettings) -> None:
        self._settings = settings
        self._names = [metric.name for metric in settings.plan.metrics]
        self._known: dict[tuple[str, tuple[float, ...]], str] = {}

    def of(self, case: CaseResult) -> str:
        """The label of a case. Raises UsageError if a score is missing."""
        missing = next((name for name in self._names if name not in case.scores), None)
        if missing is not None:
            raise UsageError(f"the report's case `{case.test_id}` has no score of `{missing}`")
        key = case.archetype, tuple([case.scores[name] for name in self._names])
        if key not in self._known:
            self._known[key] = self._label(*key)
        return self._known[key]

    def _label(self, archetype: str, scores: tuple[float, ...]) -> str:
        scorer = self._settings.scorer(archetype, None)
        bindings = {**scorer.parameters, **dict(zip(self._names, map(exact, scores), strict=True))}
        try:
            return scorer.label({**bindings, "composite": scorer.composite(bindings)})
        except EvaluationError as failure:
            return f"an error: {failure}"


def exact(score: float) -> Score:
    """The share of at most a million phrases with this recorded double, or else the decimal of the double."""
    share = Fraction(score).limit_denominator(_LARGEST)
    found = share if float(share) == score else Fraction(repr(score))
    return Score(found.numerator, found.denominator)
