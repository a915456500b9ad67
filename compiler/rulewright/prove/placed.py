"""The conditions that stand in documents, each built where it stands, with the values that its variables can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rulewright.documents.case_scorecard import CaseScorecardDocument
from rulewright.documents.check import Check
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, DYN, SCORE, STRING, Type
from rulewright.load import Scalar
from rulewright.lower.case_scorecard import INPUT_TYPES, TYPES
from rulewright.lower.environments import scenario_environment
from rulewright.lower.scorecard import SEVERITY, VERDICT, verdict_type
from rulewright.lower.workflow_environments import facts, loop_environment
from rulewright.prove.atoms import paths_of
from rulewright.prove.domains import Domain, Domains, Path, whole
from rulewright_runtime.ir import Program

_COUNTERS: Final[tuple[Path, ...]] = (("loop", "iteration"), ("pair", "iteration"), ("review", "iteration"))


class Placed(NamedTuple):
    """A condition that reads something. `in_table` says that it is a row of a table, which is judged as a whole."""

    scalar: Scalar
    program: Program
    domains: Domains
    in_table: bool = False


def placed_conditions(document: Check | ScorecardDocument | CaseScorecardDocument | TaskDocument) -> Iterator[Placed]:
    """The conditions of a document that mean something where they stand; mistakes in others are not found here."""
    match document:
        case Check(when=Scalar() as when):
            yield from _placed([when], scenario_environment())
        case ScorecardDocument():
            yield from _placed(_of_scorecard(document), _scorecard_environment(document))
        case CaseScorecardDocument():
            environment = _case_environment(document)
            for metric in document.metrics:
                written = (metric.passes, metric.fails, metric.flagged, metric.when)
                yield from _placed([each for each in written if each is not None], environment)
            yield from _placed([row.when for row in document.labels], environment, in_table=True)
        case TaskDocument():
            counters = dict.fromkeys(_COUNTERS, whole(1))
            for loop in document.loops:
                yield from _placed(loop.conditions, loop_environment(facts(document)), counters)


def _placed(
    scalars: list[Scalar] | tuple[Scalar, ...],
    environment: Environment,
    known: Mapping[Path, Domain] | None = None,
    *,
    in_table: bool = False,
) -> Iterator[Placed]:
    domains = Domains(environment.variables, known or {})
    for scalar in scalars:
        try:
            program = build(str(scalar.value), environment, expect=BOOL).program
        except ExpressionError:
            continue
        if paths_of(program):
            yield Placed(scalar, program, domains, in_table)


def _of_scorecard(document: ScorecardDocument) -> list[Scalar]:
    found = [each for gate in document.gates for each in (gate.of, gate.stops, gate.undecided)]
    found += [rate.of for rate in (*document.dimensions, *document.rates)]
    found += [of for _, of in document.counts]
    return found + [listed.of for listed in document.lists]


def _scorecard_environment(document: ScorecardDocument) -> Environment:
    names: dict[str, Type] = {each.name: TYPES.get(each.type, DYN) for each in document.parameters}
    return Environment(variables={**names, "scoring": DYN, "v": verdict_type()}, enums=(VERDICT, SEVERITY))


def _case_environment(document: CaseScorecardDocument) -> Environment:
    names: dict[str, Type] = {each.name: TYPES.get(each.type, DOUBLE) for each in document.settings}
    names |= {name: INPUT_TYPES.get(kind, STRING) for name, _, kind in document.inputs}
    names |= {name: STRING for name, _ in document.texts}
    names |= {metric.name: SCORE for metric in document.metrics}
    return Environment(variables={**names, "composite": SCORE})
