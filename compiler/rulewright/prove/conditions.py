"""Proofs about single conditions: whether they can hold or fail, whether one implies another."""

from __future__ import annotations

from rulewright.prove.atoms import ERROR, FALSE, TRUE
from rulewright.prove.domains import Domains
from rulewright.prove.results import Proved, Refuted, Result, Unknown, Witness
from rulewright.prove.search import Search, refuting
from rulewright_runtime.ir import Program


def holds_always(condition: Program, domains: Domains) -> Result:
    """Whether the condition is true for every input; a witness is one for which it is false or undecided."""
    return refuting(Search([condition], domains), [[(0, FALSE)], [(0, ERROR)]]) or Proved()


def holds_never(condition: Program, domains: Domains) -> Result:
    """Whether the condition is true for no input; a witness is one for which it is true."""
    return refuting(Search([condition], domains), [[(0, TRUE)]]) or Proved()


def fails_never(condition: Program, domains: Domains) -> Result:
    """Whether the condition is false for no input, so that it is true wherever it can be decided."""
    return refuting(Search([condition], domains), [[(0, FALSE)]]) or Proved()


def constant(condition: Program, domains: Domains) -> Result:
    """Whether the condition says the same for every input; Refuted shows an input for which it holds, and `reason`
    names one for which it does not."""
    search = Search([condition], domains)
    found = [search.find([(0, bits)]) for bits in (TRUE, FALSE, ERROR)]
    witnesses = [each for each in found if isinstance(each, Witness)]
    if len(witnesses) > 1:
        return Refuted(witnesses[0], f"it is otherwise with {witnesses[1]}")
    return next((each for each in found if isinstance(each, Unknown)), None) or Proved()


def implies(one: Program, two: Program, domains: Domains) -> Result:
    """Whether `two` is true wherever `one` is; a witness is an input for which it is not."""
    return refuting(Search([one, two], domains), [[(0, TRUE), (1, FALSE | ERROR)]]) or Proved()


def same(one: Program, two: Program, domains: Domains) -> Result:
    """Whether two conditions are true, false and undecided for the same inputs."""
    goals = [[(0, bits), (1, (TRUE | FALSE | ERROR) & ~bits)] for bits in (TRUE, FALSE, ERROR)]
    return refuting(Search([one, two], domains), goals) or Proved()
