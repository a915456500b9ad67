"""Which verdicts an `expression` check can give: a check that can never fail finds nothing, whatever is said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.declarations import REPLIES
from rulewright.expression.decompile import decompile
from rulewright.expression.types import BOOL
from rulewright.expression.unparse import unparse
from rulewright.lower.expression_checks import environment_of
from rulewright.proving.atoms import FALSE, TRUE, extract, paths_of
from rulewright.proving.domains import Domain, Domains, Path, boolean, number, whole
from rulewright.proving.results import Proved, Refuted, Result, Unknown
from rulewright.proving.search import Search, refuting
from rulewright.proving.substitution import with_values
from rulewright_runtime.ir import Node, Program, free_locals

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.proving.intervals import Goal


SHARES: Final = ("edit_similarity", "rouge_l", "bleu", "word_overlap")  # functions that give a number from 0 to 1
COUNTS: Final = ("size", "word_count", "sentence_count", "edit_distance", "call_count")
_GIVES: Final = {
    **{name: boolean(absent=True) for name, each in REPLIES.items() if all(o.result == BOOL for o in each)},
    **{name: number(0, 1, absent=True) for name in SHARES},
    **{name: whole(0, absent=True) for name in COUNTS},
    **{name: boolean(absent=True) for name in ("contains_ci", "substring_ci", "contains", "matches", "startsWith")},
}
_VARIABLE: Final = re.compile(r"\b__call_\d+\b")  # what `abstracted` writes
_OF_LISTS: Final = dict.fromkeys(("exists", "all", "exists_one"), boolean(absent=True))


def never_given(check: CheckDocument, verdict: str, *, solver: bool = True) -> Result | None:
    """Whether the check gives `verdict` for no conversation, and UNCLEAR not because of its own condition; a witness is
    one for which it does. None where a condition means nothing.
    """
    calls: dict[str, CallVariable] = {}
    try:
        conditions = verdict_conditions(check, calls)
    except ExpressionError:
        return None
    domains = domains_of(calls, Domains(environment_of(check).variables))
    search = Search(list(conditions.values()), domains, solver)
    return in_calls(refuting(search, [_goal(list(conditions), verdict)]), calls) or Proved()


def verdict_conditions(check: CheckDocument, calls: dict[str, CallVariable]) -> dict[str, Program]:
    """The conditions of an `expression` check by the verdict that each gives, in the order they are tried, with its
    parameters as constants and variables for its calls (`abstracted`). Raises ExpressionError."""
    environment = environment_of(check)
    values: dict[Path, object] = {
        ("params", name): value for name, value in check.params.items() if isinstance(value, int | float | str)
    }
    written = {"FAIL": check.fails, "UNCLEAR": check.unclears, "PASS": check.passes}
    built = {
        verdict: build(str(scalar.value), environment, expect=BOOL).program
        for verdict, scalar in written.items()
        if scalar is not None
    }
    return {verdict: with_values(abstracted(program, calls), values) for verdict, program in built.items()}


def without_calls(program: Program, domains: Domains) -> tuple[Program, Domains]:
    """A condition with a variable in place of each call that counts or looks at texts, and the domains of these."""
    calls: dict[str, CallVariable] = {}
    alone = abstracted(program, calls)
    return alone, domains_of(calls, domains)


def domains_of(calls: Mapping[str, CallVariable], others: Domains) -> Domains:
    """The domains of the variables that stand for calls, beside those of the others."""
    return Domains(others.types, {**others.known, **{(call.variable,): call.domain for call in calls.values()}})


class CallVariable(NamedTuple):
    """A variable that stands for a call, and what the call may give."""

    variable: str
    domain: Domain


def in_calls(found: Refuted | Unknown | None, calls: dict[str, CallVariable]) -> Refuted | Unknown | None:
    """The result in the words of the source: calls instead of the variables that stand for them."""
    texts = {call.variable: text for text, call in calls.items()}

    def worded(text: str) -> str:
        return _VARIABLE.sub(lambda variable: texts[variable.group()], text)

    if isinstance(found, Unknown):
        return Unknown(worded(found.reason))
    if found is None or found.witness is None:
        return found
    values = tuple((worded(path), value) for path, value in found.witness.values)
    return replace(found, witness=replace(found.witness, values=values))


def abstracted(program: Program, calls: dict[str, CallVariable]) -> Program:
    """The program with a variable in place of each call that looks at what was said: whatever it may give.

    Equal calls are one variable, which may be absent where the call fails; they are added to `calls` by their texts.
    """
    nodes = list(program.nodes)
    for at, node in enumerate(program.nodes):
        domain = _GIVES.get(str(node.value)) if node.op == "call" else _OF_LISTS.get(node.op)
        alone = extract(program, at)
        if domain is not None and paths_of(alone) != [] and not free_locals(alone)[-1]:
            call = calls.setdefault(unparse(decompile(alone)), CallVariable(f"__call_{len(calls) + 1}", domain))
            nodes[at] = Node("name", (), [[call.variable, []]], node.at)
    return extract(Program(tuple(nodes), program.source, program.strict), len(nodes) - 1)


def _goal(tried: list[str], verdict: str) -> Goal:
    """The conditions that come before the one that decides are false; it holds itself, or is what remains."""
    before = tried[: tried.index(verdict)] if verdict in tried else tried
    goal = [(at, FALSE) for at in range(len(before))]
    return tuple([*goal, (len(before), TRUE)] if verdict in tried else goal)
