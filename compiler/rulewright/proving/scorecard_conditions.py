"""The conditions of scorecards over verdicts and over cases, with their locations."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, Literal, cast

from rulewright.documents.scorecard import CaseScorecardDocument, ParameterDocument, ScorecardDocument, SettingDocument
from rulewright.errors import ExpressionError
from rulewright.expression.build import build, parsed
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_tree import Expr, chain
from rulewright.expression.types import BOOL, DYN, Type
from rulewright.load import Scalar
from rulewright.lower.case_scorecard import (
    case_scorecard_expressions,
    requirements_of_defaults,
    values_of_defaults,
)  # fmt: skip
from rulewright.lower.expressions import PARAMETER_TYPES, lower_parameter
from rulewright.lower.scorecard import scorecard_expressions, verdict_type
from rulewright.proving.atoms import TRUE
from rulewright.proving.domains import Domains, Path, domain_of_parameter
from rulewright.proving.program_parts import with_values
from rulewright.proving.results import Counterexample
from rulewright.proving.search import Search
from rulewright.proving.studies import AFTER, Constants, Known, LocatedCondition, Ordered, placed
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scorecard import Parameter, ScorecardPlan, parameter_value

_REQUIRED: Final = " where `requires` is met"


def of_scorecard(document: object) -> Iterator[LocatedCondition]:
    """Return the conditions of a scorecard over verdicts or over cases."""
    if isinstance(document, ScorecardDocument):
        return of_verdicts(document)
    assert isinstance(document, CaseScorecardDocument)
    return of_cases(document)


def of_verdicts(document: ScorecardDocument) -> Iterator[LocatedCondition]:
    """Yield the conditions of a scorecard over verdicts."""
    known, usual = _bounds(document.parameters), _usual(document.parameters)
    scalars = [scalar for _, scalar in conditions_of_scorecard(document)]
    yield from placed(scalars, scorecard_environment(document), known=known, usual=usual)
    values = {id(scalar) for _, scalar in (*document.variables, *document.output)}
    for scalar, environment in scorecard_expressions(document):
        if id(scalar) in values:
            yield from placed([scalar], environment, known=known, usual=usual, ordered=_ordered_counts(document))


@lru_cache(maxsize=8)
def _ordered_counts(document: ScorecardDocument) -> Ordered:
    """The pairs of counts of which the first has every condition of the second: `v.eligible && v.verdict == FAIL`."""
    parts: list[tuple[Path, list[Expr]]] = []
    for name, of in document.counts:
        with suppress(ExpressionError):
            parts.append((("counts", name), chain(parsed(of.text, scorecard_environment(document)), "&&")))
    having: dict[Expr, set[int]] = {}
    for at, (_, conditions) in enumerate(parts):
        for each in conditions:
            having.setdefault(each, set()).add(at)
    pairs = [
        (one, at)
        for at, (_, conditions) in enumerate(parts)
        for one in set.intersection(*sorted((having[each] for each in conditions), key=len))
        if one != at
    ]
    return tuple([(parts[one][0], parts[other][0]) for one, other in sorted(pairs)])


def of_cases(document: CaseScorecardDocument) -> Iterator[LocatedCondition]:
    """Yield the conditions of a scorecard over cases: a requirement assumes the earlier ones, the others assume all."""
    known, rows = _bounds(document.settings), {id(row.when) for row in document.labels}
    usual = _usual(document.settings)
    required = [that.text for that, _ in document.requires]
    met = required if all(holds for _, holds in requirements_of_defaults(document)) else []
    for scalar, environment in case_scorecard_expressions(document):
        before = next((required[:at] for at, (that, _) in enumerate(document.requires) if that is scalar), None)
        given = (AFTER, before) if before is not None else (_REQUIRED, met)
        in_table = id(scalar) in rows
        yield from placed([scalar], environment, in_table=in_table, known=known, usual=usual, given=given)


def _bounds(parameters: Iterable[ParameterDocument | SettingDocument]) -> Known:
    """The domains of a scorecard's parameters."""
    found = []
    for each in parameters:
        if each.type not in PARAMETER_TYPES:
            continue
        low, high = (
            value if isinstance(value, int | float) and value == value else None
            for value in (None if bound is None else bound.value for bound in (each.minimum, each.maximum))
        )
        if low is None or high is None or low <= high:
            kind = cast('Literal["score", "number", "integer", "bool", "string"]', each.type)
            found.append(((each.name,), domain_of_parameter(Parameter(each.name, kind, "", low, high))))
    return tuple(found)


def _usual(parameters: Iterable[ParameterDocument | SettingDocument]) -> Constants:
    """The defaults of a scorecard's numbers."""
    lowered = [lower_parameter(each, []) for each in parameters if each.type in ("score", "number", "integer")]
    found = []
    for each in lowered:
        with suppress(PlanError):
            found.append(((each.name,), parameter_value(each)))
    return tuple(found)


def conditions_of_scorecard(document: ScorecardDocument) -> list[tuple[str, Scalar]]:
    """The conditions over single verdicts, each with its dotted key path."""
    counts = [(f"counts.{name}", of) for name, of in document.counts]
    return _conditions(document.gates, document.dimensions, document.rates, counts, document.lists)


def conditions_of_plan(plan: ScorecardPlan) -> list[tuple[str, Program]]:
    """As `conditions_of_scorecard`, lowered, in the same order."""
    counts = [(f"counts.{count.name}", count.of) for count in plan.counts]
    return _conditions(plan.gates, [each.rate for each in plan.dimensions], plan.rates, counts, plan.lists)


def _conditions(
    gates: Iterable[Any], dimensions: Iterable[Any], rates: Iterable[Any], counts: list[Any], lists: Iterable[Any]
) -> list[Any]:
    found = [(f"gates.{each.name}.{key}", getattr(each, key)) for each in gates for key in ("of", "stops", "undecided")]
    found += [(f"dimensions.{rate.name}.{rate.kind}.of", rate.of) for rate in dimensions]
    found += [(f"rates.{rate.name}.{rate.kind}.of", rate.of) for rate in rates]
    return [*found, *counts, *((f"lists.{listed.name}.of", listed.of) for listed in lists)]


@lru_cache(maxsize=8)
def scorecard_environment(document: ScorecardDocument) -> Environment:
    """The environment of a condition over a single verdict; the contents of the scoring file are not known here."""
    names: dict[str, Type] = {each.name: PARAMETER_TYPES.get(each.type, DYN) for each in document.parameters}
    return Environment(variables={**names, "scoring": DYN, "v": verdict_type(document.vocabulary)})


def both_hold(scorecard: CaseScorecardDocument, one: Scalar, two: Scalar) -> str | None:
    """Scores for which both conditions hold, as text; None if there are none or it can't be decided."""
    environments = {id(scalar): environment for scalar, environment in case_scorecard_expressions(scorecard)}
    environment = environments[id(one)]
    values: dict[Path, object] = {(name,): value for name, value in values_of_defaults(scorecard).items()}
    try:
        programs = [build(each.text, environment, expect=BOOL).program for each in (one, two)]
    except ExpressionError:
        return None
    search = Search([with_values(each, values) for each in programs], Domains(environment.variables))
    witness = search.find([(0, TRUE), (1, TRUE)])
    return str(witness) if isinstance(witness, Counterexample) and witness.values else None
