from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.load import Node, Scalar
from rulewright.project import Project
from rulewright_runtime.errors import PlanError
from rulewright_runtime.regex import compile_regex
from rulewright_runtime.strict_json import JsonObject


def rule_no_answer_meets(project: Project) -> Findings:
    """A rule set requires what no answer can contain, or forbids what it asks for.

    Why it matters: a disclosure or an action without phrases, or a phrase that an expression under `forbidden` hits,
    fails every answer; `must_detect` without indirect cues fails none.
    Instead: list phrases, or correct the expression.
    """
    read = {check.routing.rule for check in project.checks if not check.routing.rule_path}
    found: dict[object, Diagnostic] = {}
    for name, rules in project.rule_sets.items():
        origins = project.rule_origins[name]
        sets = (_disclosure(rules, origins), _crisis(rules, origins), _forbidden(rules, origins))
        for kind, findings in zip(("disclosure", "crisis", "forbidden"), sets, strict=True):
            for each in findings if kind in read else ():
                found.setdefault(each.span, each)
    yield from found.values()


def _below(rules: JsonObject, *path: str) -> object:
    found: object = rules
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found or None


def _texts(rules: JsonObject, path: tuple[str, ...]) -> list[str]:
    found = _below(rules, *path)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _disclosure(rules: JsonObject, origins: dict[tuple[str, ...], Node]) -> Findings:
    cadence, phrases = ("disclosure", "cadence_turns"), ("disclosure", "phrases")
    if isinstance(_below(rules, *cadence), int) and _below(rules, *phrases) is None:
        notes = [(origins[cadence], "required here")]
        yield warning(origins.get(phrases, origins[cadence]), "no answer can disclose: `phrases` is empty", notes=notes)


def _crisis(rules: JsonObject, origins: dict[tuple[str, ...], Node]) -> Findings:
    required = ("crisis", "required_actions")
    for action in _texts(rules, required):
        path = ("crisis", "action_phrases", action)
        if _below(rules, *path) is None:
            notes = [(origins[required], "required here")]
            message = f"no answer can meet `{action}`: it has no phrases"
            yield warning(origins.get(path, origins[required]), message, notes=notes)
    detects, cues = ("crisis", "must_detect"), ("crisis", "cues_indirect")
    if _below(rules, *detects) is True and _below(rules, *cues) is None:
        message = "`must_detect` is true, but the rules list no indirect cues to detect"
        yield warning(origins.get(cues, origins[detects]), message, notes=[(origins[detects], "set here")])


def _forbidden(rules: JsonObject, origins: dict[tuple[str, ...], Node]) -> Findings:
    """The forbidden expressions that hit a phrase which the rule set asks for."""
    wanted = {text: path for path in origins if _is_wanted(path) for text in _texts(rules, path)}
    for path in (each for each in origins if each[0] == "forbidden"):
        for item in (each for each in getattr(origins[path], "items", (origins[path],)) if isinstance(each, Scalar)):
            try:
                expression = compile_regex(f"(?i){item.value}")
            except PlanError:
                continue
            hit = next((text for text in wanted if expression.search(text)), None)
            if hit is not None:
                message = f"this expression forbids `{hit}`, which `{'.'.join(wanted[hit])}` asks for"
                yield warning(item, message, notes=[(origins[wanted[hit]], "asked for here")])


def _is_wanted(path: tuple[str, ...]) -> bool:
    return path in (("disclosure", "phrases"), ("crisis", "resources")) or path[:2] == ("crisis", "action_phrases")
