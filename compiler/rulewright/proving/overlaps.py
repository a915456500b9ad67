"""Whether two conditions of a scorecard over cases can hold together, with every parameter at its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.types import BOOL
from rulewright.lower.case_scorecard import case_scorecard_expressions, values_of_defaults
from rulewright.proving.atoms import TRUE
from rulewright.proving.domains import Domains, Path
from rulewright.proving.results import Counterexample
from rulewright.proving.search import Search
from rulewright.proving.substitution import with_values

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.load import Scalar


def both_hold(scorecard: CaseScorecardDocument, one: Scalar, two: Scalar) -> str | None:
    """Scores for which both conditions hold, as text; None if there are none or it can't be decided."""
    environments = {id(scalar): environment for scalar, environment in case_scorecard_expressions(scorecard)}
    environment = environments[id(one)]
    values: dict[Path, object] = {(name,): value for name, value in values_of_defaults(scorecard).items()}
    try:
        programs = [build(str(each.value), environment, expect=BOOL).program for each in (one, two)]
    except ExpressionError:
        return None
    search = Search([with_values(each, values) for each in programs], Domains(environment.variables), solver=False)
    witness = search.find([(0, TRUE), (1, TRUE)])
    return str(witness) if isinstance(witness, Counterexample) and witness.values else None
