"""The findings of proofs about the gates and dimensions of a scorecard."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, Span, error, warning
from rulewright.documents.base import descend
from rulewright.documents.check import CheckDocument
from rulewright.documents.scorecard import GateDocument, ScorecardDocument, read_scorecard
from rulewright.documents.vocabulary import Vocabulary
from rulewright.expression.types import BOOL
from rulewright.load import Scalar, scalars_below
from rulewright.lower.expressions import build_in, scenario_environment
from rulewright.lower.scorecard import lower_without_project
from rulewright.proving.atoms import ERROR, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.gates import ANY_CHECK, GateClaim, GateProof, Part, held_by_parts, held_with_words, prove_gates
from rulewright.proving.results import Refuted, Unknown
from rulewright.proving.studies import is_never
from rulewright_runtime.english import plural
from rulewright_runtime.plan.scorecard import ScorecardPlan

TAG: Final = re.compile(r"""['"]([\w-]+)['"] in v\.secondary_tags\b""")
LIKE_IT: Final = 2  # checks of a bucket, at least, that a gate selects beside one that it does not
WORD: Final = re.compile(r"[\w-]+")
VERDICTS: Final = re.compile(r"\bverdicts\b")
# The keys by which gates and dimensions select checks, and the vocabulary lists of their values.
SELECTING: Final = {"primary_bucket": "buckets", "severity": "severities"}


def scorecard_findings(card: ScorecardDocument) -> list[Diagnostic]:
    """The findings about a valid scorecard over verdicts, without its project."""
    _, found = read_scorecard(card.node)
    if found:
        return found
    plan, found = lower_without_project(card)
    if plan is not None and card.gates:
        found += gate_findings(card, prove_gates(plan, card.vocabulary))
    return found


def gate_findings(document: ScorecardDocument, proofs: Iterable[GateProof]) -> Findings:
    """Yield the gates that some FAIL does not stop or some UNCLEAR passes, from their proofs (`prove_gates`)."""
    for gate, proof in zip(document.gates, proofs, strict=True):
        findings = _finding(gate, proof.stops, "FAIL"), _finding(gate, proof.stays_open, "UNCLEAR")
        yield from islice(filter(None, findings), 1)


def empty_parts(document: ScorecardDocument, held: Mapping[Part, frozenset[str]], *, but_of_scoring: bool) -> Findings:
    """Yield the gates and dimensions that can select no check, from the checks that each can (`held_by_parts`). With
    `but_of_scoring`, those that read the scoring file are left out, since they are reported there."""
    conditions = {("gates", gate.name): gate.of for gate in document.gates}
    conditions |= {("dimensions", rate.name): rate.of for rate in document.dimensions}
    for (kind, name), checks in held.items():
        if checks or kind == "rates" or (but_of_scoring and "scoring" in str(conditions[kind, name].value)):
            continue
        message = f"no check of the project belongs to the {kind.removesuffix('s')} `{name}`"
        yield error(conditions[kind, name], message, code="part-without-checks")


def waiting_gates(plan: ScorecardPlan, vocabulary: Vocabulary, place: Span) -> Findings:
    """Yield, at `place`, the gates that can select no check of the plan and then leave every transcript undecided,
    where another gate can select one."""
    held = dict(held_by_parts(plan, vocabulary)) if plan.gates else {}
    for gate in plan.gates if any(held["gates", gate.name] for gate in plan.gates) else ():
        if gate.not_run == "undecided" and not held["gates", gate.name]:
            message = (
                f"no check of the project belongs to the gate `{gate.name}` of the shipped scorecard `{plan.name}`, so "
                "no transcript can pass"
            )
            cure = "add a check to this gate, or write a scorecard without it (`rulewright explain scorecard`)"
            yield error(place, message, code="part-without-checks", help=cure)


def lone_empty_dimension(
    document: ScorecardDocument, held: Mapping[Part, frozenset[str]], checks: Iterable[CheckDocument]
) -> Findings:
    """Yield the only dimension that can select no check, where the others can, if exactly one check has all of its tags
    but one: a scorecard of which none can may be for another project."""
    empty = [rate for rate in document.dimensions if not held.get(("dimensions", rate.name), True)]
    tags = {*TAG.findall(empty[0].of.text)} if len(empty) == 1 else set()
    near = [check for check in checks if len(tags) > 1 and len(tags - {*check.secondary_tags}) == 1]
    own = [check for check in near if empty[0].name in check.secondary_tags] or near
    if len(own) == 1:
        missing = min(tags - {*own[0].secondary_tags})
        message = (
            f"no check of the project belongs to the dimension `{empty[0].name}`: `{own[0].id}` lacks its `{missing}`"
        )
        place = own[0].place("secondary_tags")
        yield error(place, message, code="part-without-checks", notes=[(empty[0].of, "the dimension")])


def unselected_checks(
    document: ScorecardDocument,
    plan: ScorecardPlan,
    held: Mapping[Part, frozenset[str]],
    checks: Iterable[CheckDocument],
    known: Collection[str],
) -> Findings:
    """Yield the finding that some checks of `plan`, or criteria of rubrics, belong to no part, if no expression reads
    all verdicts. The `known` ones are reported already."""
    selected, scored = _union(held.values()), _union(held[part] for part in held.keys() - _coverages(document))
    unscored = [check for check in checks if check.id in plan.checks and check.id not in scored]
    rates = (*document.dimensions, *document.rates)
    own = [rate for rate in rates if "scoring" not in rate.of.text]
    left = [check.id for check in unscored if own and check.id not in selected and check.id not in known]
    left += [name for name in plan.checks if name not in {check.id for check in checks} | scored]
    reads_all = any(VERDICTS.search(each.text) for each in scalars_below(document.node))
    if reads_all or not selected or not rates:
        return
    unlike = _of_its_severity(document, plan, held, unscored) if own else None
    if unlike is not None and unscored[0].id not in known:
        yield unlike
    elif left:
        more = f" and {plural(len(left) - 1, 'more check')}" if len(left) > 1 else ""
        effective = " in which PASS and FAIL differ" if left[0] in selected else ""
        message = f"no gate, dimension or rate{effective} selects `{left[0]}`{more}"
        words = [str(value) for key, value in plan.checks[left[0]].items() if key in SELECTING]
        conditions = [*(each.of for each in reversed(own or rates)), *(gate.of for gate in document.gates)]
        nearest = max(conditions, key=lambda of: sum(word in str(of.value) for word in words))
        yield warning(nearest, message, code="check-without-part", help=_of_criterion(plan.checks[left[0]]))


def _of_criterion(fields: Mapping[str, object]) -> str | None:
    """What a criterion of a rubric lacks, or None for any other check."""
    absent = [key for key in SELECTING if fields.get(key) == ""]
    return f"the criterion states no {' and no '.join(f'`{key}`' for key in absent)}" if absent else None


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _coverages(document: ScorecardDocument) -> set[Part]:
    """The rates in which PASS and FAIL count alike, such as the coverage: a check in no other part affects no score."""
    lists = {rate.name: (rate.hit, rate.miss, rate.exclude) for rate in document.rates}
    return {("rates", name) for name, each in lists.items() if any({"PASS", "FAIL"} <= {*words} for words in each)}


def _of_its_severity(
    document: ScorecardDocument,
    plan: ScorecardPlan,
    held: Mapping[Part, frozenset[str]],
    left: Sequence[CheckDocument],
) -> Diagnostic | None:
    """The finding at the severity of the only check left, if a gate selects all others of its bucket, and two at
    least; no two gates may be the same, because then one of them was meant for the check."""
    is_copied = len({gate.of.text for gate in document.gates}) < len(document.gates)
    if len(left) != 1 or is_copied or "severity" not in left[0].node or _is_reported(document, left[0].severity):
        return None
    check, bucket = left[0], left[0].primary_bucket
    others = {each for each, facts in plan.checks.items() if facts["primary_bucket"] == bucket} - {check.id}
    gate = next((gate for gate in document.gates if others <= held["gates", gate.name]), None)
    if gate is None or len(others) < LIKE_IT:
        return None
    message = f"`{check.id}` affects no score, unlike the other checks of the bucket `{bucket}`, which are in a gate"
    return warning(check.place("severity"), message, code="check-without-part", notes=[(gate.of, "the gate")])


def _is_reported(document: ScorecardDocument, severity: str) -> bool:
    """Whether a count or a list of a scorecard names a severity: then checks of it affect no score on purpose."""
    texts = scalars_below(descend(document.node, "counts"), descend(document.node, "lists"))
    return any(severity in WORD.findall(each.text) for each in texts)


def unseen_checks(document: ScorecardDocument, plan: ScorecardPlan, checks: Iterable[CheckDocument]) -> Findings:
    """Yield the checks that a gate or every dimension can't select only because the check lacks a key."""
    incomplete = [
        (check, absent)
        for check in checks
        if (absent := tuple([key for key in SELECTING if key not in check.node])) and check.id in plan.checks
    ]
    if not incomplete:
        return
    held = dict(held_by_parts(plan, document.vocabulary))
    rated = frozenset[str]().union(*(ids for (kind, _), ids in held.items() if kind == "dimensions"))
    for check, keys, could in _could_be_held(document, plan, held, incomplete):
        named = " and no ".join(f"`{key}`" for key in keys)
        gates = [name for kind, name in could if kind == "gates" and check.id not in held[kind, name]]
        dimensions = [name for kind, name in could if kind == "dimensions" and check.id not in rated]
        if gates:
            message = f"the check `{check.id}` has no {named}, so the gate `{gates[0]}` can't select it"
            found = error(check.place("id"), message, code="selecting-key-missing", help=_where_to_write(check, keys))
            yield replace(found, about=check.id)
        elif dimensions:
            message = f"the check `{check.id}` has no {named}, so it counts in no dimension"
            found = warning(check.place("id"), message, code="selecting-key-missing", help=_where_to_write(check, keys))
            yield replace(found, about=check.id)


def _could_be_held(
    document: ScorecardDocument,
    plan: ScorecardPlan,
    held: Mapping[Part, frozenset[str]],
    checks: Sequence[tuple[CheckDocument, tuple[str, ...]]],
) -> Iterator[tuple[CheckDocument, tuple[str, ...], Sequence[Part]]]:
    """Yield checks with keys that they lack, and the parts that could select them if they had these keys: with one key
    alone, if some part selects the check then."""
    could: dict[tuple[str, ...], dict[str, tuple[Part, ...]]] = {}
    anyway: dict[tuple[str, ...], frozenset[str]] = {}  # the checks that parts select that don't read the keys
    for keys in {keys for _, absent in checks for keys in (absent, *((key,) for key in absent))}:
        lacking = [check.id for check, absent in checks if set(keys) <= set(absent)]
        words = {key: document.vocabulary.words(SELECTING[key]) for key in keys}
        reading, could[keys] = held_with_words(plan, document.vocabulary, lacking, words)
        anyway[keys] = frozenset[str]().union(*(ids for part, ids in held.items() if part not in reading))
    for check, absent in checks:
        alone = ((key,) for key in absent)
        keys = next((keys for keys in alone if could[keys][check.id] or check.id in anyway[keys]), absent)
        yield check, keys, could[keys][check.id]


def _where_to_write(check: CheckDocument, absent: Iterable[str]) -> str | None:
    """How to write the keys for a ready check that the project file uses by its name alone; None for any other."""
    used = check.node.get("use")
    if not isinstance(used, Scalar) or used.start != check.node.start:
        return None
    return f"write `{{use: {used.value}, {', '.join(f'{key}: WORD' for key in absent)}}}`, with words of the vocabulary"


def checks_that_never_apply(checks: Iterable[CheckDocument]) -> Findings:
    """Yield the gate checks whose `when` holds for no scenario."""
    conditions = [(each, each.when) for each in checks if each.when is not None and not each.is_universal]
    for check, when in conditions:
        environment = scenario_environment(check.vocabulary)
        built = build_in(when, environment, [], BOOL)
        holds = TRUE | ERROR  # if it is undecided, the check applies
        if built is not None and is_never(built.program, Domains(environment.variables), holds):
            yield error(when, f"the gate check `{check.id}` applies to no scenario", code="gate-check-never-applies")


def _finding(gate: GateDocument, claim: GateClaim, word: str) -> Diagnostic | None:
    """The finding about the claim that no FAIL, or no UNCLEAR, passes a gate; None where it is proved."""
    name, is_fail = _named(claim), word == "FAIL"
    match claim.result:
        case Refuted() if claim.of_is_to_blame:
            message = f"the gate `{gate.name}` does not select the {word} of {name or 'any check'}"
        case Refuted() if is_fail:
            message = f"{f'a FAIL of {name} does not stop' if name else 'no FAIL stops'} the gate `{gate.name}`"
        case Refuted():
            message = f"the gate `{gate.name}` passes on {f'an UNCLEAR of {name}' if name else '`UNCLEAR`'}"
        case Unknown(reason=why) if name and is_fail:
            message = f"whether a FAIL of `{claim.check}` stops the gate `{gate.name}` can't be proved: {why}"
        case Unknown(reason=why) if name:
            message = f"whether the gate `{gate.name}` passes on an UNCLEAR of `{claim.check}` can't be proved: {why}"
        case _:
            return None
    place = gate.of if claim.of_is_to_blame else gate.stops if is_fail else gate.undecided
    found = error(place, message + _instance(claim), code="gate-cannot-stop")
    return found if is_fail else replace(found, code="gate-ignores-unclear")


def _named(claim: GateClaim) -> str:
    """The check that the claim is refuted for, and the number of others; empty without a project."""
    others = f" (and {claim.others} more)" if claim.others else ""
    return f"`{claim.check}`{others}" if claim.check != ANY_CHECK else ""


def _instance(claim: GateClaim) -> str:
    """The relevant fields of the witness, as a phrase."""
    witness = claim.result.witness if isinstance(claim.result, Refuted) else None
    return f", for instance with {witness}" if witness is not None and witness.values else ""
