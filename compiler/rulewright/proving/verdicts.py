"""Proofs about the verdicts of an `expression` check: a check that can never fail finds nothing in any conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain
from typing import Final, NamedTuple

from msgspec.structs import replace

from rulewright.documents.check import CheckDocument
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.declarations import REPLIES
from rulewright.expression.types import BOOL, DOUBLE, DYN, STRING
from rulewright.lower.expression_checks import environment_of
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domain, Domains, Path, boolean, number, score, text, whole
from rulewright.proving.program_parts import calling, extract, path_at, paths_of, unabridged, with_values
from rulewright.proving.search import Search
from rulewright.proving.sizes import no_larger, size_bounds
from rulewright.proving.static_types import COUNTS, LARGEST_COUNT, failures_of, typed
from rulewright_runtime.ir import Node, Program, free_locals

SHARES: Final = ("edit_similarity", "rouge_l", "bleu", "word_overlap")  # functions that return a number from 0 to 1
_RESULTS: Final = {
    **{name: boolean(absent=True) for name, each in REPLIES.items() if all(o.result == BOOL for o in each)},
    **{name: number(0, 1, absent=True) for name in SHARES},
    **{name: whole(0, LARGEST_COUNT, absent=True) for name in COUNTS},
    **{name: replace(score(absent=True), optional=True) for name in ("rate", "share")},
    "int": whole(absent=True),
    "double": replace(number(absent=True), nan=False),  # which a text may also say, is an error
    **{name: boolean(absent=True) for name in ("contains_ci", "substring_ci", "contains", "matches", "startsWith")},
}
_VARIABLE: Final = re.compile(r"\b__call_\d+\b")  # the names that `abstracted` creates
_OF_LISTS: Final = dict.fromkeys(("exists", "all", "exists_one"), boolean(absent=True))


def never_given(check: CheckDocument, verdict: str) -> bool:
    """Whether it is proved that the check gives `verdict` for no conversation, UNCLEAR counting only by its own
    condition. Calls on the conversation may have any result. False if a condition is invalid."""
    calls: dict[str, CallVariable] = {}
    try:
        conditions = verdict_conditions(check, calls)
    except ExpressionError:
        return False
    domains = domains_of(calls, domains_of_check(check))
    facts = list(_facts(calls))
    known = [(len(conditions) + at, TRUE) for at in range(len(facts))]
    tried = list(conditions)
    before = tried.index(verdict) if verdict in tried else len(tried)
    passed = FALSE | ERROR if verdict == "UNCLEAR" else FALSE  # of what comes before: an error makes a check UNCLEAR
    goal = [*((at, passed) for at in range(before)), *([(before, TRUE)] if verdict in tried else []), *known]
    return Search([*conditions.values(), *facts], domains).excludes(goal)


def _facts(calls: Mapping[str, CallVariable]) -> Iterator[Program]:
    """What the results of calls say of each other: tools that were called in an order were called."""
    called = [(each, names) for each in calls.values() if (names := _texts_given(each.program, "called"))]
    for source, ordered in calls.items():
        wanted = _texts_given(ordered.program, "called_in_order")
        for each, names in called if wanted else ():
            if wanted & names:
                variables = [Node("name", (), [[call.variable, []]]) for call in (ordered, each)]
                nodes = (*variables, Node("not", (0,)), Node("or", (2, 1)))
                yield Program(nodes, source, ordered.program.strict)


def _texts_given(program: Program, function: str) -> set[str]:
    """The texts that a call of a function has as its second argument."""
    node = program.nodes[-1]
    given = program.nodes[node.args[1]] if node.op == "call" and node.value == function else None
    if given is None or given.op != "const":
        return set()
    kind, value = given.value
    return {value} if kind == "string" else {each[-1] for each in value}


def verdict_conditions(
    check: CheckDocument, calls: dict[str, CallVariable], filled: frozenset[Path] = frozenset()
) -> dict[str, Program]:
    """The conditions of an `expression` check by their verdict, in the order of evaluation, with the parameters as
    constants and variables for the calls (`abstracted`). The lists that are `filled` have items. Raises
    ExpressionError."""
    environment = environment_of(check)
    values: dict[Path, object] = {("params", name): value for name, value in check.params.items()}
    scalars = {"FAIL": check.fails, "UNCLEAR": check.unclears, "PASS": check.passes}
    built = {
        verdict: build(scalar.text, environment, expect=BOOL).program
        for verdict, scalar in scalars.items()
        if scalar is not None
    }
    domains = replace(domains_of_check(check), filled=filled)
    return {verdict: abstracted(with_values(program, values), calls, domains) for verdict, program in built.items()}


def domains_of_check(check: CheckDocument) -> Domains:
    """The variables of a check's conditions; a conversation without a reply has no `answer`, and nobody may have
    recorded what was `expected`."""
    known = {("answer",): text(absent=True), ("turn", "number"): whole(0)}
    implied: dict[Path, frozenset[Path]] = {("answer",): frozenset({("turns[0]",)})}
    return Domains(environment_of(check).variables, known, missing=frozenset({"expected"}), implied=implied)


def domains_of(calls: Mapping[str, CallVariable], others: Domains) -> Domains:
    """The domains of the variables that replace calls, added to the others."""
    known: dict[Path, Domain] = {(call.variable,): call.domain for call in calls.values()}
    standing: dict[Path, Program] = {(call.variable,): call.program for call in calls.values()}
    implied = {**others.implied, **dict(_with_values_together(standing, others))}
    known, standing = {**others.known, **known}, {**others.standing, **standing}
    ordered = (*others.ordered, *_ordered_sizes(calls))
    return replace(others, known=known, standing=standing, implied=implied, ordered=ordered)


def _ordered_sizes(calls: Mapping[str, CallVariable]) -> Iterator[tuple[Path, Path]]:
    """The sizes of which the first is never larger than the second."""
    for call in calls.values():
        program, node = call.program, call.program.nodes[-1]
        for pair in no_larger(program, node.args[0]) if node.value == "size" else ():
            sizes = [calls.get(unabridged(calling("size", extract(program, each)))) for each in pair]
            less, more = ((each.variable,) if each is not None else () for each in sizes)
            if less and more:
                yield less, more


def _with_values_together(standing: Mapping[Path, Program], domains: Domains) -> Iterator[tuple[Path, frozenset[Path]]]:
    """For each call, the calls that have a value wherever it has one."""
    needing: dict[frozenset[Path], list[Path]] = {}  # by what they need, which is often the same
    for path, program in standing.items():
        needing.setdefault(failures_of(program, domains), []).append(path)
    together: dict[frozenset[Path], frozenset[Path]] = {}
    for path, program in standing.items():
        sure = failures_of(program, domains, is_sure=True)
        if sure not in together:
            together[sure] = frozenset(chain.from_iterable(each for needed, each in needing.items() if needed <= sure))
        yield path, together[sure]


class CallVariable(NamedTuple):
    """A variable that replaces a call, the domain of the call's results, and the call."""

    variable: str
    domain: Domain
    program: Program


def in_calls(text: str, calls: Mapping[str, CallVariable]) -> str:
    """A text with the source text of calls in place of the variables that replace them."""
    written = {call.variable: source for source, call in calls.items()}
    return _VARIABLE.sub(lambda variable: written[variable.group()], text)


def abstracted(program: Program, calls: dict[str, CallVariable], domains: Domains) -> Program:
    """The program with a variable in place of each call that reads the conversation, for any result of the call.

    Equal calls become one variable, which is absent if the call fails; they are added to `calls` by their source text.
    """
    nodes = list(program.nodes)
    types = typed(program, domains)
    for at, node in enumerate(program.nodes):
        domain = _RESULTS.get(str(node.value)) if node.op == "call" else _OF_LISTS.get(node.op)
        if node.value == "int" and types[node.args[0]].type not in (DYN, STRING):
            continue
        if node.value == "double" and types[node.args[0]].type == DOUBLE:
            nodes[at] = nodes[node.args[0]]
            continue
        if domain is None:
            continue
        part = extract(program, at)
        if paths_of(part) != [] and not free_locals(part)[-1]:
            domain = replace(domain, absent=frozenset()) if types[at].total else domain
            if node.value == "size":
                least, most = size_bounds(program, node.args[0])
                least = max(least, path_at(program, node.args[0]) in domains.filled)
                domain = replace(domain, low=Fraction(least), high=Fraction(min(most, LARGEST_COUNT)))
            call = calls.setdefault(unabridged(part), CallVariable(f"__call_{len(calls) + 1}", domain, part))
            nodes[at] = Node("name", (), [[call.variable, []]], node.at)
    return extract(program.having(nodes), len(nodes) - 1)
