"""Lowers a `jurisdiction_rule` check: its requirements in each jurisdiction's rule set."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, cast, get_args

from msgspec.structs import replace

from rulewright.diagnostics import RULE_SETS, Diagnostic, Findings, Guess, error
from rulewright.documents.check import CheckDocument
from rulewright.load import Node, Sequence
from rulewright.lower.lexicons import TEXT
from rulewright.project import Project
from rulewright.spelling import did_you_mean, unknown_name
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.scan import Lexicon, Pattern, Role
from rulewright_runtime.plan.verifiers import JurisdictionRule, RuleKind, RulePart
from rulewright_runtime.regex import compile_regex

Path = tuple[str, ...]
KINDS: Final[tuple[RuleKind, ...]] = get_args(RuleKind)
RESOURCE: Final = "resource"


def lower_rules(
    check: CheckDocument, project: Project, findings: list[Diagnostic]
) -> tuple[JurisdictionRule, dict[str, Lexicon]] | None:
    """Return the verifier and its lexicons, or None with a finding."""
    kind = cast("RuleKind", check.routing.rule or "")
    if not kind:
        message = "the route `jurisdiction_rule` needs `rule`, the kind of rule"
        findings.append(error(check.key_place("routing", "route"), message, code="missing-key"))
        return None
    path = tuple((check.routing.rule_path or kind).split("."))
    others = [each for each in path if each in KINDS and each != kind]
    if others and (kind not in path or path[-1] in others):
        message = f"the rule is of the kind `{kind}`, but its path is that of `{others[-1]}`"
        findings.append(error(check.place("routing", "rule"), message, code="rule-nobody-has", help=Guess(others[-1])))
        return None
    lowering = _JurisdictionLowering(project, path, findings)
    rules = {name: lowering.part(kind, name) for name in sorted(project.rule_sets)}
    if not any(lowering.has_rules.values()):
        place = check.place("routing", "rule_path" if check.routing.rule_path else "rule")
        message = f"no rule set has `{'.'.join(path)}`"
        near = did_you_mean(".".join(path), _rule_paths(project))
        findings.append(_without_sets(error(place, message, code="rule-nobody-has", help=near), project))
        return None
    return JurisdictionRule(kind=kind, rules=rules), lowering.lexicons


def unread_rule_findings(project: Project) -> list[Diagnostic]:
    """Return the mistakes in those kinds of rule that no check of the project reads."""
    findings: list[Diagnostic] = []
    read = {check.routing.rule for check in project.checks}
    for kind in (each for each in KINDS if each not in read):
        lowering = _JurisdictionLowering(project, (kind,), findings)
        for name in sorted(project.rule_sets):
            lowering.part(kind, name)
    return findings


def _rule_paths(project: Project) -> set[str]:
    """The paths of every rule and group of rules in any rule set."""
    origins = {path for paths in project.rule_origins.values() for path in paths}
    return {".".join(path[:depth]) for path in origins for depth in range(1, len(path) + 1)}


def _without_sets(found: Diagnostic, project: Project) -> Diagnostic:
    """The finding; one that is due to a project without rule sets says so, and is about them."""
    help = "the project has no rule sets; put them into `configs/rules`"
    return found if project.rule_sets else replace(found, help=help, about=RULE_SETS)


def unknown_jurisdictions(project: Project) -> Findings:
    """Report scenarios without a rule set of their jurisdiction; broken ancestry is reported in the rule set. Where no
    check reads rule sets, a jurisdiction may be a place of a corpus."""
    is_broken = any(diagnostic.code in ("extends-cycle", "extends-nothing") for diagnostic in project.diagnostics)
    broken = {PurePath(each.source.path).stem for each in project.loaded} if is_broken else set[str]()
    places = _places(project)
    known, what = {*project.rule_sets, *places}, "jurisdiction" if places else "rule set"
    for scenario in project.scenarios.values():
        name = scenario.jurisdiction
        if name is not None and name not in known and name not in broken:
            place = scenario.place("jurisdiction")
            found = unknown_name(place, what, name, known, code="unknown-jurisdiction")
            yield found if known else _without_sets(found, project)


def _places(project: Project) -> set[str]:
    """Where the programmes of the corpora exist; nothing if a check reads the rules of jurisdictions."""
    if any(check.routing.route == "jurisdiction_rule" for check in project.checks):
        return set()
    corpora = project.corpora.values()
    own = {each for corpus in corpora for programme in corpus.programmes for each in programme.jurisdictions}
    return own.union(*[each.places for each in corpora])


@dataclass(slots=True)
class _JurisdictionLowering:
    project: Project
    path: Path
    findings: list[Diagnostic]
    lexicons: dict[str, Lexicon] = field(default_factory=dict)
    has_rules: dict[str, bool] = field(default_factory=dict)

    def part(self, kind: RuleKind, name: str) -> RulePart:
        rules = _below(self.project.rule_sets[name], self.path)
        self.has_rules[name] = rules is not None
        if kind == "forbidden":
            return self.forbidden(name)
        if rules is not None and not isinstance(rules, dict):
            self.report(name, self.path, f"`{'.'.join(self.path)}` must be a mapping, not a text, a number or a list")
        values: Mapping[str, object] = rules if isinstance(rules, dict) else {}
        return self.disclosure(name, values) if kind == "disclosure" else self.crisis(name, values)

    def forbidden(self, name: str) -> RulePart:
        """The lists at the path and below it; each text is a regular expression."""
        paths = self.values(name, self.path)
        patterns = {path: self.texts(name, path) for path in paths}
        for path, texts in patterns.items():
            for at, text in enumerate(texts):
                self.try_expression(name, path, at, text)
        every = [text for texts in patterns.values() for text in texts]
        origins = {_expression(text): self.origin(name, path) for path in reversed(paths) for text in patterns[path]}
        lexicon = self.put(name, "forbidden", every, "assistant", regex=True)
        return RulePart(self.origin(name, *paths), lexicon, origins=origins)

    def disclosure(self, name: str, rules: Mapping[str, object]) -> RulePart:
        cadence = rules.get("cadence_turns")
        path = (*self.path, "cadence_turns")
        if cadence is not None and (not isinstance(cadence, int) or isinstance(cadence, bool) or cadence < 1):
            self.report(name, path, f"`cadence_turns` must be a whole number of at least 1, or null, not `{cadence}`")
            cadence = None
        phrases = self.texts(name, (*self.path, "phrases"))
        origin = self.origin(name, path, (*self.path, "phrases"))
        return RulePart(origin, self.put(name, "disclosure", phrases, "assistant"), cadence)

    def crisis(self, name: str, rules: Mapping[str, object]) -> RulePart:
        """Direct cues always count, indirect ones where `must_detect` is true."""
        detects = rules.get("must_detect")
        if detects is not None and not isinstance(detects, bool):
            self.report(name, (*self.path, "must_detect"), f"`must_detect` must be true or false, not `{detects}`")
        cue_lists = ["cues_direct", *(["cues_indirect"] if rules.get("must_detect") is True else [])]
        cues = {key: self.texts(name, (*self.path, key)) for key in cue_lists}
        origins = {cue: self.origin(name, (*self.path, key)) for key in reversed(cue_lists) for cue in cues[key]}
        actions: dict[str, str | None] = {}
        for action in self.texts(name, (*self.path, "required_actions")):
            phrases = self.texts(name, (*self.path, "action_phrases", action))
            actions[action] = self.put(name, f"crisis/{action}", phrases, "assistant")
            origins[action] = self.origin(name, (*self.path, "required_actions"))
        resources = self.texts(name, (*self.path, "resources"))
        if resources:
            actions[RESOURCE] = self.put(name, "crisis/resources", resources, "assistant")
            origins[RESOURCE] = self.origin(name, (*self.path, "resources"))
        origin = self.origin(name, *((*self.path, key) for key in ("required_actions", "resources")))
        spoken_cues = [cue for texts in cues.values() for cue in texts]
        return RulePart(origin, self.put(name, "crisis/cues", spoken_cues, "user"), actions=actions, origins=origins)

    def values(self, name: str, path: Path) -> list[Path]:
        """The paths of the rule set's values at `path` and below it, in file order."""
        return [each for each in self.project.rule_origins[name] if each[: len(path)] == path]

    def texts(self, name: str, path: Path) -> list[str]:
        value = _below(self.project.rule_sets[name], path)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            listed = enumerate(value) if isinstance(value, list) else ()
            at, item = next((each for each in listed if not (isinstance(each[1], str) and each[1])), (None, None))
            help = f'quote the number: `"{item}"`' if isinstance(item, int | float) else None
            self.report(name, path, f"`{'.'.join(path)}` must be a list of texts", help, at)
            return []
        return value

    def put(self, name: str, what: str, texts: list[str], role: Role, *, regex: bool = False) -> str | None:
        """Add a lexicon of the texts; return its name, or None without texts."""
        if not texts:
            return None
        lexicon = f"rules/{name}/{'.'.join(self.path)}/{what}"
        patterns = tuple(
            Pattern(_expression(text), "regex") if regex else Pattern(text, "contains_ci") for text in texts
        )
        self.lexicons[lexicon] = Lexicon(patterns, role, TEXT, fold_regexes=True)
        return lexicon

    def try_expression(self, name: str, path: Path, at: int, text: str) -> None:
        try:
            compile_regex(text)
        except PlanError as failure:
            self.report(name, path, str(failure), item=at)

    def origin(self, name: str, *paths: Path) -> str:
        """The origin of the values as `file: path`, joined by commas."""
        nodes = self.project.rule_origins[name]
        origins = [f"{os.path.basename(nodes[p].source.path)}: {'.'.join(p)}" for p in paths if p in nodes]
        return ", ".join(origins) or f"{name}: nothing at {'.'.join(self.path)}"

    def report(self, name: str, path: Path, message: str, help: str | None = None, item: int | None = None) -> None:
        nodes = self.project.rule_origins[name]
        node: Node | None = nodes.get(path) or next((nodes[each] for each in self.values(name, path)), None)
        if item is not None and isinstance(node, Sequence):
            node = node.items[item]
        if node is not None:
            finding = error(node, message, code="bad-rule", help=help)
            if finding not in self.findings:
                self.findings.append(finding)


def _expression(text: str) -> str:
    """A forbidden expression as its lexicon's pattern."""
    return f"(?i){text}"


def _below(rules: object, path: Path) -> object:
    for key in path:
        rules = rules.get(key) if isinstance(rules, dict) else None
    return rules
