"""The gate of a task: what it says of evidence and replies, and whether any may let it say PASS."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from rulewright.documents.workflow import EVIDENCE_KEYS
from rulewright.expression.compose import all_of, any_of
from rulewright.lower.workflow_guards import TaskFeatures, gate_environment
from rulewright.proving.atoms import TRUE
from rulewright.proving.domains import Domain, Domains, Path, score
from rulewright.proving.program_parts import calling, constant, extract, paths_of, reading, unabridged, with_values
from rulewright.proving.studies import is_never
from rulewright.proving.workflow_values import points_of
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.score import Score, score_of
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.workflow.workflow_plan import EVIDENCE, Gate, TaskPlan

GATE: Final = "policy_gate"
GATE_READS: Final = ("review", "pair", "hil")  # besides evidence
_COVERAGE: Final = "requirement_coverage"
_COVERED: Final = "evidence.requirement_coverage == 'PASS'"
_NEVER_THERE: Final = Domain("enum", absent=frozenset({0}))


class GateEvidence:
    """What a gate says of evidence; confidence is not asked."""

    def __init__(self, gate: Gate) -> None:
        self.gate, self.holds = gate, condition(gate.verdict, Polarity.PERMITTING)
        self.reads = {*gate.looked_at, *gate.required}
        self.covers = self.is_open(_COVERAGE)
        self.known: dict[str, JsonObject] = {}  # by what it has seen

    def is_open(self, name: str) -> bool:
        """Whether a check of the gate may pass: it has files to read."""
        return name in self.reads and has_source(self.gate, name)

    def coverages(self) -> Iterator[Score]:
        """The coverages that the gate distinguishes."""
        limit, points = self.gate.coverage_threshold, points_of([self.gate.verdict])
        yield from map(score_of, (*([] if limit is None else [limit]), *points) if self.covers else ())

    def results(self, facts: Mapping[str, str], coverage: Score | None, seen: JsonMapping) -> JsonObject:
        """The gate's results: its verdict, the status of each check that it looks at, and the coverage."""
        statuses = {name: self._status(name, facts[name], coverage) for name in facts}
        about = {"evidence": statuses, **({"coverage": coverage} if self.covers else {})}
        context = {name: seen[name] for name in GATE_READS if name in seen}
        return {GATE: {"verdict": "PASS" if self.holds({**context, **about}).holds else "FAIL"}, **about}

    def _status(self, name: str, fact: str, coverage: Score | None) -> str:
        if name not in self.reads:
            return "SKIPPED"
        if name == _COVERAGE and coverage is not None and self.covers:
            limit = self.gate.coverage_threshold if name in self.gate.required else None
            return "PASS" if limit is None or coverage >= score_of(limit) else "FAIL"
        return fact if self.is_open(name) else "FAIL"

    def best(self, seen: JsonMapping) -> JsonObject:
        """The verdict of the gate: PASS if some evidence lets it say so."""
        key = repr([seen.get(name) for name in GATE_READS])
        if key not in self.known:
            results = (self.results(*evidence, seen)[GATE] for evidence in evidence_for(self))
            self.known[key] = next((each for each in results if each["verdict"] == "PASS"), {"verdict": "FAIL"})
        return {GATE: self.known[key]}


def evidence_for(*gates: GateEvidence) -> Iterator[tuple[Mapping[str, str], Score | None]]:
    """Evidence that gates distinguish: a result for each check, and a coverage."""
    may_pass = [any(gate.is_open(name) for gate in gates) for name in EVIDENCE]
    results = itertools.product(*(("PASS", "FAIL") if passes else ("FAIL",) for passes in may_pass))
    coverages = dict.fromkeys(each for gate in gates for each in gate.coverages())
    for statuses, coverage in itertools.product(results, coverages or (None,)):
        yield dict(zip(EVIDENCE, statuses, strict=True)), coverage


def has_source(gate: Gate, name: str) -> bool:
    """Whether a check of the gate has files to read."""
    return any(gate.sources.get(kind) for kind in EVIDENCE_KEYS[name])


def may_pass(task: TaskPlan, gate: Gate) -> bool:
    """Whether some evidence and some replies may let the gate say PASS: it is not proved that none do."""
    features = TaskFeatures(None, (), task.pair is not None, task.review is not None, gate=True, hil=True)
    evidence, asked = GateEvidence(gate), ("hil", "resolved")
    closed = {name: "FAIL" if name in evidence.reads else "SKIPPED" for name in EVIDENCE if not evidence.is_open(name)}
    known: dict[Path, Domain] = {("coverage",): score(absent=True) if evidence.covers else _NEVER_THERE}
    known |= {asked: _NEVER_THERE}  # a person who says no ends the task
    known |= {("evidence", name): Domain("enum", members=("PASS", "FAIL")) for name in EVIDENCE if name not in closed}
    domains = Domains(gate_environment(features).variables, known, missing=frozenset({"review", "pair"}))
    verdict = with_values(by_coverage(gate), {("evidence", name): status for name, status in closed.items()})
    return not all(is_never(each, domains, TRUE) for each in (verdict, with_values(verdict, {asked: True})))


def by_coverage(gate: Gate) -> Program:
    """The verdict of a gate, with a comparison of `coverage` in the place of its check's status. A missing coverage
    makes it undecided instead of false, which is the same where nothing is negated."""
    if gate.coverage_threshold is None or "requirement_coverage" not in gate.required:
        return gate.verdict
    found = _with_coverage(gate.verdict, gate.coverage_threshold)
    return gate.verdict if any("requirement_coverage" in path for path in paths_of(found) or ()) else found


def _with_coverage(program: Program, limit: float) -> Program:
    last = program.nodes[-1]
    if last.op in ("and", "or"):
        parts = [_with_coverage(extract(program, arg), limit) for arg in last.args]
        return (all_of if last.op == "and" else any_of)(parts)
    if unabridged(program) != _COVERED:
        return program
    return program.having(calling("_>=_", reading(("coverage",)), constant(score_of(limit))).nodes)
