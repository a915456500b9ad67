"""Compares two documents of one kind as policies, and finds the stored rows on which they differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from rulewright.check.workflow_check import compile_workflow
from rulewright.claims.documents import (
    card_of,
    lowered_alone_or_in,
    lowered_check,
    project_around,
    root_of,
    valid_check,
)
from rulewright.documents.examples import example_chats
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import project_file_above
from rulewright.documents.lexicon import LexiconDocument, read_lexicons
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.typed_reader import read_named
from rulewright.documents.vocabulary import Vocabulary
from rulewright.errors import UsageError
from rulewright.expression.types import DYN, RecordType, Type
from rulewright.lower.lexicons import lower_lexicon
from rulewright.lower.semantics import policies
from rulewright.policies.cases import case_flips, differing_cases
from rulewright.policies.checks import (
    OCCASIONS,
    UNDECIDED_VERDICT,
    LoweredCheck,
    flips_of_checks,
    occasion,
    policy_of_check,
    without_scenario,
)
from rulewright.policies.example_rows import CHOSEN, Step, differing_rows, shown_by, verdicts_of
from rulewright.policies.executed_checks import differing_verdicts
from rulewright.policies.lexicons import compare_lexicons
from rulewright.policies.policy_model import ENDED, Policy, difference
from rulewright.policies.regions import Comparison, Region, compare
from rulewright.policies.scorecards import OPEN, PASS_RATE, SETTLED, VARIABLES, in_words, policy_of_scorecard
from rulewright.policies.table_policies import policy_of_cases, policy_of_cases_under_any_settings, policy_of_table
from rulewright.policies.workflows import executed, policy_of_workflow
from rulewright.project import Project
from rulewright.proving.domains import Domain, Domains
from rulewright.proving.domains import Path as Variable
from rulewright.proving.verdicts import CallVariable, domains_of, in_calls
from rulewright.reporting.stored_run import StoredRun, decision_as_json, decision_of, knowing, score_again
from rulewright.witnesses.conversation_records import as_json
from rulewright.witnesses.example_conversations import conversations_with
from rulewright.witnesses.guesses import InputModel
from rulewright.workflow import load_workflow
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.aggregate.scorecard_values import export
from rulewright_runtime.plan.scan import Check, Lexicon
from rulewright_runtime.plan.scorecard import ScorecardPlan, parameter_values
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.strict_json import JsonMapping, JsonObject

VERSION: Final = 1
Projects: TypeAlias = tuple[Project | None, Project | None]
EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"
CASES: Final = "scorecard over cases"
LEXICONS: Final = "lexicon"
_WORDS: Final = ("true", "false", ENDED.text, SETTLED.text, OPEN.text)  # that rows say exactly
_ONLY_LEXICON: Final = "patterns"  # the name of the only lexicon in a file
_SAME_ROW: Final = "both give the same row for this verdict, alone and together with others"
_FIELDS_OF_VERDICTS: Final = tuple(
    f"check.{key}" for key in ("severity", "primary_bucket", "secondary_tags", "hard_fail", "scorer_type", "route")
)  # what every verdict of a check contains, or profiles select by
_PARAMETERS: Final = "check.verifier.parameters."
_OPPOSITE: Final = (("FAIL", "PASS"), ("PASS", "FAIL"))
_NO_CONVERSATION: Final = "no conversation was found on which the checks say so"


def policy_diff(
    one: Path,
    two: Path,
    *,
    given: JsonMapping | None = None,
    assignments: Sequence[str] = (),
    config: str | None = None,
    project: Project | None = None,
    run: StoredRun | None = None,
    report: Path | None = None,
) -> JsonObject:
    """Return the differences between the decisions of two documents as JSON data.

    `regions` lists, by `place`, the result of the first (`before`) and second document (`after`), the conditions
    (`where`) in terms of the documents, and a `witness`: an input on which both were executed. `settings` are differing
    keys other than conditions, `unknown` what could not be decided, `flips` the stored rows of `run` that change.
    `verdict` is `equal` (proved), `different` (shown) or `undecided`; the two may be equal only `under` the values
    of some parameters. The documents belong to `project`, else to the projects of their folders. Raises UsageError and
    DocumentError for documents that can't be compared.
    """
    kinds = [_kind(path) for path in (one, two)]
    if kinds[0] != kinds[1]:
        raise UsageError(f"`{one}` is a {kinds[0]}, `{two}` a {kinds[1]}; compare two of the same kind")
    _refuse_rows(kinds[0], run, report)
    projects = _projects(kinds[0], one, two, project)
    found: JsonObject = {"version": VERSION, "before": str(one), "after": str(two), "kind": kinds[0]}
    if kinds[0] == "scorecard":
        found |= _scorecards(one, two, projects, dict(given or {}), run)
    elif kinds[0] == "check":
        found |= _checks(one, two, projects, run)
    elif kinds[0] == CASES:
        found |= _cases(one, two, assignments, config, report)
    elif kinds[0] == LEXICONS:
        lexicons = [lexicons_of(*each) for each in zip((one, two), projects, strict=True)]
        found |= compare_lexicons(*lexicons)
    elif kinds[0] == "workflow":
        found |= _workflows(one, two, project)
    else:
        left, right = (policy_of_table(path, config) for path in (one, two))
        found |= _data(left, right, compared(left, right))
    return {**found, "verdict": _verdict(found)}


def _refuse_rows(kind: str, run: StoredRun | None, report: Path | None) -> None:
    """Raise UsageError for stored rows that documents of this kind don't decide."""
    if run is not None and kind not in ("scorecard", "check"):
        raise UsageError(f"a {kind} does not decide the rows of a run; `--run` is for scorecards and checks")
    if report is not None and kind != CASES:
        raise UsageError(f"`{report}` is not a run; a report of `score` is for scorecards over cases")


def _cases(one: Path, two: Path, assignments: Sequence[str], config: str | None, report: Path | None) -> JsonObject:
    cards = [card_of(path, assignments, config) for path in (one, two)]
    plans = [card.plan for card, _ in cards]
    left, right = (policy_of_cases(*each, other) for each, other in zip(cards, reversed(plans), strict=True))
    found = _data(left, right, compared(left, right))
    if found["settings"]:
        with_witness = {(each["place"], each["before"], each["after"]) for each in found["regions"] if each["witness"]}
        differing = differing_cases(plans, [settings for _, settings in cards])
        found["regions"] += [
            each for each in differing if (each["place"], each["before"], each["after"]) not in with_witness
        ]
    if report is not None:
        found |= case_flips(report, found, [settings for _, settings in cards])
    if _verdict(found) == EQUAL:
        with_open_parameters = [policy_of_cases_under_any_settings(plan) for plan in plans]
        found["under"] = _under(with_open_parameters, [settings.scorer(None, None).parameters for _, settings in cards])
    return found


def _under(pair: Sequence[Policy], values: Iterable[JsonMapping]) -> JsonObject:
    """The parameters with the values that the equivalence of two policies needs; the `pair` leaves them variable."""
    chosen = {name: value for each in values for name, value in each.items()}
    open_places = [place for place, comparison in compared(*pair).items() if not comparison.equal]
    read = {name for place in open_places for policy in pair for name in policy.decisions[place].reads()}
    return {name: export(chosen[name]) for name in sorted(chosen.keys() & read)}


def _kind(path: Path) -> str:
    root = root_of(path)
    kind = kind_of(root)
    if kind == CASE_SCORECARD or "rule" in root.keys:
        return CASES if kind == CASE_SCORECARD else "table"
    if kind in ("workflow", "check", "scorecard"):
        return str(kind)
    if kind in ("lexicon", "lexicons"):
        return LEXICONS
    expected = "expected a scorecard, a policy, a workflow, a check or a lexicon"
    raise UsageError(f"`{path}` can't be compared; {expected}")


def _workflows(one: Path, two: Path, chosen: Project | None) -> JsonObject:
    around = [project_file_above(path.parent) for path in (one, two)] if chosen is None else [chosen.path] * 2
    pairs = zip((one, two), (around, around[::-1]), strict=True)
    workflows = [load_workflow(path, project_file=own or other) for path, (own, other) in pairs]
    for each in workflows:
        compile_workflow(each)
    left, right = map(policy_of_workflow, workflows)
    data = _data(left, right, compared(left, right))
    if _verdict(data) != EQUAL:
        data["regions"] = executed(data["regions"], workflows)
    return data


# Any two policies.


def compared(one: Policy, two: Policy) -> dict[str, Comparison]:
    """The comparison of every place that both decide."""
    return {
        place: compare(decision, two.decisions[place], _united(one.domains_at(place), two.domains_at(place)))
        for place, decision in one.decisions.items()
        if place in two.decisions
    }


def _united(one: Domains, two: Domains) -> Domains:
    """The domains of the variables of both policies; a variable that they declare differently has no domain."""
    known = {path: _common_domain(path, one, two) for path in {**one.known, **two.known}}
    named = {**one.types, **two.types}
    return Domains(
        {name: _common_type(one.types.get(name, type_), type_) for name, type_ in named.items()},
        {path: domain for path, domain in known.items() if domain is not None},
        {**one.standing, **two.standing},
        one.missing | two.missing,
        {**one.implied, **two.implied},
        one.filled & two.filled,
    )


def _common_domain(path: Variable, one: Domains, two: Domains) -> Domain | None:
    """The domain that both know of a variable, or one of them if the other doesn't declare it; else None."""
    mine, theirs = one.known.get(path), two.known.get(path)
    if mine is None or theirs is None:
        return (mine or theirs) if (one if mine is None else two).declared(path)[0] is None else None
    if mine.kind == theirs.kind == "score":
        return replace(mine, pieces=tuple(dict.fromkeys((*mine.pieces, *theirs.pieces))))
    return mine if mine == theirs else None


def _common_type(one: Type, two: Type) -> Type:
    """The type of the values of both, field by field; `dyn` where they differ."""
    if one == two or not (isinstance(one, RecordType) and isinstance(two, RecordType)):
        return one if one == two else DYN
    named = {**one.fields, **two.fields}
    fields = {name: _common_type(one.fields.get(name, type_), type_) for name, type_ in named.items()}
    return RecordType(one.name, fields, one.optional | two.optional, one.open or two.open)


def _data(one: Policy, two: Policy, found: Mapping[str, Comparison]) -> JsonObject:
    regions = [
        difference(
            place, each.before, each.after, each.where, each.witness and dict(each.witness.values),
            **({"why": each.why} if each.why else {}),
        )
        for place, comparison in found.items()
        for each in comparison.regions
    ]  # fmt: skip
    unknown = [{"place": place, "why": each.unknown} for place, each in found.items() if each.unknown is not None]
    return {"regions": regions, "settings": _settings(one, two), "unknown": unknown}


def _settings(one: Policy, two: Policy) -> list[JsonObject]:
    """The settings that differ, and the places that only one of the two decides."""
    before, after = (
        {**dict.fromkeys(mine.decisions.keys() - theirs.decisions.keys(), "declared"), **mine.settings}
        for mine, theirs in ((one, two), (two, one))
    )
    keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return [{"place": key, "before": before.get(key), "after": after.get(key)} for key in keys]


def _verdict(found: JsonMapping) -> str:
    shown = any(region["witness"] is not None for region in found["regions"])
    if shown or found.get("rows") or found.get("flips"):
        return DIFFERENT
    return UNDECIDED if found["regions"] or found["unknown"] or found["settings"] else EQUAL


# Scorecards over verdicts.


def _scorecards(
    one: Path, two: Path, projects: Projects, given: dict[str, object], run: StoredRun | None
) -> dict[str, object]:
    lowered = [lowered_alone_or_in(project, root_of(path)) for path, project in zip((one, two), projects, strict=True)]
    plans = [plan for _, plan in lowered]
    vocabulary = lowered[0][0].vocabulary.with_words_of(lowered[1][0].vocabulary)
    _refuse_unknown(given, plans)
    left, right = (
        _in_project(policy_of_scorecard(plan, other, vocabulary, given), project, document)
        for (document, plan), other, project in zip(lowered, reversed(plans), projects, strict=True)
    )
    comparisons = compared(left, right)
    found = _data(left, right, comparisons)
    rows, made = _rows(found, plans, given, vocabulary)
    regions = [region for comparison in comparisons.values() for region in comparison.regions]
    for entry, region in zip(found["regions"], regions, strict=True):
        _put_in_words(entry)
        is_only = sum(each["place"] == entry["place"] for each in found["regions"]) == 1
        _add_rows(entry, region, rows, made, plans, given, is_only=is_only)
    found["regions"] += list(_differing_headlines(found["settings"], rows))
    flips = {} if run is None else {"run": str(run.folder), "flips": stored_flips(run, plans, given)}
    found |= {"rows": rows, **flips}
    if _verdict(found) == EQUAL:
        with_open_parameters = [
            policy_of_scorecard(plan, other, vocabulary, given, defaults=False)
            for plan, other in (plans, reversed(plans))
        ]
        found["under"] = _under(with_open_parameters, [parameter_values(plan.parameters, {}) for plan in plans])
    return found


def _projects(kind: str, one: Path, two: Path, chosen: Project | None) -> Projects:
    """The projects of two documents: the chosen one, or those of their folders. A file outside
    of projects, such as an earlier version elsewhere, belongs to the project of the other."""
    if chosen is not None or kind not in ("scorecard", "check", LEXICONS):
        return chosen, chosen
    projects: dict[Path, Project] = {}
    first, second = project_around(one, projects), project_around(two, projects)
    return first or second, second or first


def _in_project(policy: Policy, project: Project | None, document: ScorecardDocument) -> Policy:
    """The policy of a scorecard with what its project adds, or without a project, with its weights as written."""
    if project is not None:
        return replace(policy, settings={**policy.settings, "unproven failures": policies(project.semantics).unproven})
    written = {rate.name: rate.weight.value for rate in document.dimensions if rate.weight is not None}
    weights = {f"dimensions.{name}.weight, as written": each for name, each in written.items() if isinstance(each, str)}
    return replace(policy, settings={**policy.settings, **weights})


def _refuse_unknown(given: Mapping[str, object], plans: Iterable[ScorecardPlan]) -> None:
    declared = {parameter.name for plan in plans for parameter in plan.parameters}
    for name in given:
        if name not in declared:
            raise UsageError(f"neither scorecard has a parameter `{name}`")


def _rows(
    found: JsonMapping, plans: Sequence[ScorecardPlan], given: JsonMapping, vocabulary: Vocabulary
) -> tuple[JsonObject, Mapping[Step, object]]:
    """An example row for each output that may differ, and for each step of a region that leads from one
    word to another."""
    if not (found["regions"] or found["settings"] or found["unknown"]):
        return {}, {}
    outputs = dict.fromkeys(part.name for plan in plans for part in plan.output)
    outputs |= dict.fromkeys(f"@{each['place']}" for each in found["settings"] if f"@{each['place']}" in CHOSEN)
    steps = {_step(each) for each in found["regions"] if each["place"].partition(".")[0] in ("output", VARIABLES)}
    words = {step for step in steps if all(text.startswith("'") or text in _WORDS for text in step[1:])}
    return differing_rows(plans, given, vocabulary, list(outputs), words)


def _differing_headlines(settings: Iterable[JsonMapping], rows: JsonObject) -> Iterator[JsonObject]:
    """A region for a headline or label that another output gives, with a row on which the two outputs differ."""
    for each in settings:
        row = rows.pop(f"@{each['place']}", None)
        if row is not None:
            yield {**each, "where": [], "witness": {"verdicts": verdicts_of(row)}, "row": row}


def _step(entry: JsonMapping) -> Step:
    place, _, name = str(entry["place"]).partition(".")
    return name or place, entry["before"], entry["after"]


def _put_in_words(entry: JsonObject) -> None:
    for key in ("before", "after", "why"):
        entry[key] = in_words(entry.get(key) or "")
    entry["where"] = [in_words(each) for each in entry["where"]]
    if entry["witness"] is not None:
        entry["witness"] = {in_words(path): value for path, value in entry["witness"].items()}


def _add_rows(
    entry: JsonObject,
    region: Region,
    rows: JsonObject,
    made: Mapping[Step, Any],
    plans: Sequence[ScorecardPlan],
    given: JsonMapping,
    *,
    is_only: bool,
) -> None:
    """Add to a region the rows of both scorecards: for its verdict, or for verdicts that lead to its outputs. Every row
    on which an output differs is in its region if that `is_only` one."""
    place, _, name = str(entry["place"]).partition(".")
    if place == PASS_RATE:
        return  # no row of a transcript shows it
    if place not in ("output", "minimum_coverage", VARIABLES):
        if region.witness is not None:
            entry["row"] = shown_by(plans, given, region.witness.bindings.get("v") or {})
            one, two = entry["row"]["rows"]
            if one == two:
                entry["witness"], entry["why"] = None, _SAME_ROW
        return
    exactly = made.get(_step(entry)) or (rows.get(name) if is_only and place == "output" else None)
    entry["row"] = exactly or rows.get(name if place == "output" else ENGINE)
    if exactly is not None and entry["witness"] is None:
        entry["witness"], entry["why"] = {"verdicts": verdicts_of(exactly)}, ""
    if entry["row"] is None:
        entry["witness"], entry["why"] = None, "no verdicts were found that lead to this result"


def stored_flips(run: StoredRun, plans: Sequence[ScorecardPlan], given: JsonMapping) -> list[JsonObject]:
    """The transcripts of a run whose recorded verdicts have different results under the two scorecards."""
    cards = []
    for plan in plans:
        values = plan.declared({**run.parameters, **given})
        cards.append(Scorecard(knowing(plan, run.plan.scorecard), values))
    flips = []
    for name, row in run.rows.items():
        one, two = (decision_of(score_again(card, row, run.verdicts[name].values()), card.plan) for card in cards)
        if one != two:
            flips.append({"transcript_id": name, "before": decision_as_json(one), "after": decision_as_json(two)})
    return flips


# Checks.


def _checks(one: Path, two: Path, projects: Projects, run: StoredRun | None) -> dict[str, object]:
    lowered = [_lowered_check(path, project) for path, project in zip((one, two), projects, strict=True)]
    words, more = (each.document.vocabulary for each in lowered)
    vocabularies = (words.with_words_of(more), more.with_words_of(words))  # scenarios of both projects count
    both = [
        each._replace(document=replace(each.document, vocabulary=known))
        for each, known in zip(lowered, vocabularies, strict=True)
    ]
    data, verdict = _executed_differences(both)
    if any(check.node.applies for check in both):
        occasions, _ = _executed_differences([occasion(check) for check in both])
        for key in ("regions", "unknown"):
            data[key] += [_as_occasion(each) for each in occasions[key] if each["place"] == "verdict"]
    data["regions"] += [*without_scenario([check.node for check in both]), *differing_verdicts(lowered)]
    data["settings"] = list(_settings_of_checks(data, verdict))
    for key, entries in compare_lexicons(*(around.lexicons for _, _, around in lowered)).items():
        data[key] += entries
    if run is not None:
        data |= flips_of_checks(run, lowered)
    return data


def _executed_differences(checks: Sequence[LoweredCheck]) -> tuple[JsonObject, Comparison | None]:
    """The differences of two checks, with conversations on which both were run, and the comparison of their verdicts;
    None unless conditions decide both."""
    calls: dict[str, CallVariable] = {}
    pair = [policy_of_check(*check, calls) for check in checks]
    left, right = (replace(policy, domains=domains_of(calls, policy.domains)) for policy in pair)
    found = compared(left, right)
    if "verdict" in found:
        found["verdict"] = _in_words(found["verdict"], calls)
    data = _data(left, right, found)
    models = [model for region in (found["verdict"].regions if "verdict" in found else ()) for model in region.models]
    chats = [chat for check in checks for chat in example_chats(check.document)]
    nodes = [check.node for check in checks]
    _add_conversations(data["regions"], nodes, checks[0].document.vocabulary, chats, models)
    return data, found.get("verdict")


def _as_occasion(region: JsonMapping) -> JsonObject:
    """A difference between the verdicts of two occasions, as one of where checks apply."""
    words = {key: OCCASIONS[region[key]] for key in ("before", "after") if key in region}
    return {**region, "place": "applies", **words}


def _settings_of_checks(data: JsonObject, verdict: Comparison | None) -> Iterator[JsonObject]:
    """The settings that remain: without the parameters of conditions that are proved equal, and without the fields that
    every verdict contains, whose differences are added to `regions`."""
    for each in data["settings"]:
        place = str(each["place"])
        if place in _FIELDS_OF_VERDICTS:
            before, after = (as_json(each[key]) for key in ("before", "after"))
            data["regions"].append(difference(place, before, after, witness={}))
        elif verdict is None or not verdict.equal or not place.startswith(_PARAMETERS):
            yield each


def _add_conversations(
    regions: list[JsonObject],
    nodes: Sequence[Check],
    vocabulary: Vocabulary,
    chats: Iterable[JsonObject],
    models: Sequence[InputModel],
) -> None:
    """Add to the regions of verdicts example conversations on which both checks were run, and further regions if the
    checks evaluate their conditions for different parts of a conversation (`each`)."""
    of_verdicts = {(each["before"], each["after"]): each for each in regions if each["place"] == "verdict"}
    parts = {each.verifier.each for each in nodes if isinstance(each.verifier, ExpressionVerifier)}
    wanted = [*of_verdicts, *(_OPPOSITE if len(parts) > 1 else ())]
    found = conversations_with(nodes, vocabulary, wanted, UNDECIDED_VERDICT, chats, models) if wanted else {}
    for (before, after), witness in found.items():
        region = of_verdicts.get((before, after))
        if region is None:
            regions.append(difference("verdict", before, after, witness=witness))
        else:
            region["witness"] = witness
            del region["why"]


def _lowered_check(path: Path, project: Project | None) -> LoweredCheck:
    if project is None:
        raise UsageError(f"`{path}` is not in a project; name one with `--project` to compare checks")
    check = valid_check(root_of(path), project)
    return LoweredCheck(check, *lowered_check(check, project))


def lexicons_of(path: Path, project: Project | None) -> dict[str, Lexicon]:
    """The lexicons in a file, lowered as in a project, by name."""
    root = root_of(path)
    documents = (
        (read_named(LexiconDocument, root, _ONLY_LEXICON),) if kind_of(root) == "lexicon" else read_lexicons(root)
    )
    usual = policies("seed" if project is None else project.semantics).fold
    return {each.name: lower_lexicon(each, usual) for each in documents}


def _in_words(comparison: Comparison, calls: dict[str, CallVariable]) -> Comparison:
    """The comparison, with the calls instead of the variables that stand for them."""
    regions = [
        replace(each, where=tuple([in_calls(text, calls) for text in each.where]), witness=None, why=_NO_CONVERSATION)
        for each in comparison.regions
    ]
    return replace(comparison, regions=tuple(regions))
