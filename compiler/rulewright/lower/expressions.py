"""The environments of expressions, derived from the documents' schemas, and documents' expressions built in them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final, get_args

from msgspec.structs import replace

from rulewright.diagnostics import OPEN_TYPE, Diagnostic, Guess, Located, error
from rulewright.documents.profile import Profile
from rulewright.documents.scorecard import ParameterDocument
from rulewright.documents.suggestions import number_meant
from rulewright.documents.vocabulary import Vocabulary, schema_in
from rulewright.errors import ExpressionError, Reason
from rulewright.expression.build import Built, build
from rulewright.expression.environment import Environment
from rulewright.expression.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    SCORE,
    STRING,
    EnumType,
    ListType,
    MapType,
    RecordType,
    Type,
    WrapperType,
)  # fmt: skip
from rulewright.load import Scalar, place
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.plan.part import Verdict
from rulewright_runtime.plan.scorecard import Parameter, parameter_value
from rulewright_runtime.plan.verifiers import PARTS
from rulewright_runtime.transcripts.messages import ROLES, SPEAKERS

# Keys of a scenario that the plan always holds; any other key is added when a program reads it.
_OF_CONVERSATIONS: Final = ("answer", "messages", "replies", "tool_calls", "transcript", "usage")
SCENARIO_FACTS: Final = ("id", "title", "category", "tags", "eligible_modes")
VERDICT_RECORD: Final = "verdict record"  # the name of the type of `v`
KINDS: Final = {Reason.UNKNOWN_VALUE: "unknown-value", Reason.OPEN_TYPE: OPEN_TYPE}  # that findings are about
HIDDEN: Final = frozenset({"failure_mode_tags", "risk_triggers", "scenario_id", "tags"})
ROLE: Final = EnumType("role", ROLES)
SPEAKER: Final = EnumType("role", SPEAKERS)
_SIMPLE: Final[dict[str, Type]] = {"string": STRING, "integer": INT, "number": DOUBLE, "boolean": BOOL}


@cache
def scenario_type(vocabulary: Vocabulary) -> RecordType:
    """The type of `scenario`: its id, its tags from all three lists, and the keys of its file."""
    schema = schema_in("scenario", vocabulary)
    fields = {
        name: type_of(property, schema, name) for name, property in schema["properties"].items() if name not in HIDDEN
    }
    tag = EnumType("tags", vocabulary.tags) if vocabulary.tags else STRING
    always: dict[str, Type] = {"id": STRING, "title": STRING, "tags": ListType(tag), "eligible_modes": ListType(STRING)}
    return RecordType("scenario", {**fields, **always}, optional=frozenset(fields) - set(SCENARIO_FACTS))


@cache
def check_type(vocabulary: Vocabulary) -> RecordType:
    """The type of `check`: the keys of its file; all but `id` are optional."""
    schema = schema_in("check", vocabulary)
    fields = {name: type_of(property, schema, name) for name, property in schema["properties"].items()}
    return RecordType("check", fields, optional=frozenset(fields) - {"id"})


@cache
def check_environment(vocabulary: Vocabulary) -> Environment:
    """The environment of a profile's selection: `check`."""
    return Environment(variables={"check": check_type(vocabulary)})


def profile_expressions(document: Profile) -> list[tuple[Scalar, Environment]]:
    """Return the profile's `select` with its environment, or nothing without it."""
    return [] if document.select is None else [(document.select, check_environment(document.vocabulary))]


@cache
def scenario_environment(vocabulary: Vocabulary) -> Environment:
    """The environment of eligibility and suppression: `scenario`."""
    hint = "here only the scenario is known; `applies`, `fail`, `unclear` and `pass` of a check read the conversation"
    hints = dict.fromkeys(_OF_CONVERSATIONS, hint) | {"turns": f"`scenario.turns` is the script; {hint}"}
    return Environment(variables={"scenario": scenario_type(vocabulary)}, hints=hints)


@cache
def prompt_environment(vocabulary: Vocabulary) -> Environment:
    """The environment of a prompt: `scenario` and `check`."""
    return Environment(variables={"scenario": scenario_type(vocabulary), "check": check_type(vocabulary)})


_USAGE_FIELDS: Final[dict[str, Type]] = {
    "input_tokens": INT,
    "output_tokens": INT,
    "total_tokens": INT,
    "cost": DOUBLE,
    "latency": DOUBLE,
}
# Recorded tokens, cost and latency in seconds.
USAGE_TYPE: Final = RecordType("usage", _USAGE_FIELDS, optional=frozenset(_USAGE_FIELDS))
# `arguments` may be any JSON and is absent where they are not JSON.
TOOL_CALL_TYPE: Final = RecordType(
    "tool call",
    {"id": STRING, "name": STRING, "arguments": DYN, "raw": STRING, "result": STRING},
    optional=frozenset({"arguments", "result"}),
)
_MAYBE: Final[dict[str, Type]] = dict.fromkeys(("name", "tool_call_id", "reasoning", "refusal", "timestamp"), STRING)
MESSAGE_TYPE: Final = RecordType(  # of any role
    "message",
    {
        "role": ROLE,
        "text": STRING,
        "tool_calls": ListType(TOOL_CALL_TYPE),
        "media": ListType(RecordType("medium", {"kind": STRING, "reference": STRING})),
        "usage": USAGE_TYPE,
        "metadata": MapType(STRING, DYN),
        **_MAYBE,
    },
    optional=frozenset(_MAYBE),
)
_TURN: Final = RecordType(
    "turn", {"number": INT, "role": SPEAKER, "content": STRING, "branch": STRING}, optional=frozenset({"branch"})
)
_OTHER_VERDICT: Final = RecordType(  # `v("ID")`: another check's verdict on the same conversation
    "verdict",
    {
        "verdict": EnumType("verdict", get_args(Verdict)),
        "eligible": BOOL,
        "confidence": DOUBLE,
        "rationale_code": WrapperType(STRING),
        "adjudication_required": BOOL,
    },
)
# The variables of verdict conditions besides the scenario: the conversation, its parts, and its metadata.
_CONVERSATION: Final[dict[str, Type]] = {
    "transcript": RecordType(
        "transcript",
        {"id": STRING, "model": STRING, "text": STRING, "metadata": MapType(STRING, DYN), "expected": DYN},
        optional=frozenset({"expected"}),  # so that `has` can tell whether an answer is expected
    ),
    "turns": ListType(_TURN),
    "replies": ListType(_TURN),
    "messages": ListType(MESSAGE_TYPE),
    "tool_calls": ListType(TOOL_CALL_TYPE),
    "usage": USAGE_TYPE,
    "answer": STRING,
    "expected": DYN,
}
_OF_USER: Final = 'what the user said is in `turns`: `turns.exists(turn, turn.role == "user" and ...)`'


@lru_cache(maxsize=64)  # in a project of n checks each names the n - 1 others
def verdict_environment(
    each: str | None, params: tuple[tuple[str, Type], ...], checks: tuple[str, ...] | None, vocabulary: Vocabulary
) -> Environment:
    """The environment of an `expression` check's verdict, for `each` part or the whole conversation, with `params`.

    `checks` are the ids that `v` accepts; None where the project is unknown.
    """
    variables = {"scenario": scenario_type(vocabulary), **_CONVERSATION, "params": RecordType("params", dict(params))}
    verdicts = MapType(STRING, _OTHER_VERDICT)
    variables["v"] = verdicts if checks is None else RecordType("v", dict.fromkeys(checks, _OTHER_VERDICT))
    hints = {
        "turn": "`turn` exists only with `each: turn` or `each: reply`",
        "message": "`message` exists only with `each: message`",
        "tool_call": "`tool_call` exists only with `each: tool_call`",
        **({"reply": Guess("turn")} if each == "reply" else {}),
        **dict.fromkeys(("completion", "output", "response"), Guess("answer")),
        **dict.fromkeys(("input", "query", "question"), _OF_USER),
    }
    if each is not None and each in PARTS:
        several, one = PARTS[each]
        listed = variables[several]
        assert isinstance(listed, ListType)
        variables[one] = listed.element
    return Environment(variables=variables, hints=hints, lookups=frozenset({"v"}))


def type_of(schema: dict[str, Any], root: dict[str, Any], name: str) -> Type:
    """Return the static type of the values that a schema admits; `dyn` where it admits several types."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "enum" in schema and all(isinstance(word, str) for word in schema["enum"]):
        return EnumType(name, tuple(schema["enum"]))
    kind = schema.get("type")
    if kind == "array":
        return ListType(type_of(schema.get("items", {}), root, name))
    if kind == "object" and "properties" in schema:
        fields = {key: type_of(inner, root, key) for key, inner in schema["properties"].items()}
        return RecordType(name, fields, optional=frozenset(fields) - set(schema.get("required", ())))
    if kind == "object":
        extra = schema.get("additionalProperties")
        return MapType(STRING, type_of(extra, root, name) if isinstance(extra, dict) else DYN)
    return _SIMPLE.get(kind, DYN) if isinstance(kind, str) else DYN


NO_PROGRAM: Final = Program(())
TOO_LARGE: Final = "the expression is too large, together with what it is joined with"


def build_in(
    scalar: Scalar, environment: Environment, findings: list[Diagnostic], expect: Type | None = None
) -> Built | None:
    """Build the expression of `scalar`, or return None with its mistakes added to `findings`."""
    try:
        return build(scalar.text, environment, expect=expect)
    except ExpressionError as failure:
        findings.extend(mistakes_of(failure, scalar))
        return None


@dataclass(slots=True, kw_only=True)
class ExpressionCollector:
    """Builds the expressions of one document, and collects them and their mistakes."""

    findings: list[Diagnostic] = field(default_factory=list)
    expressions: list[tuple[Scalar, Environment]] = field(default_factory=list)

    def expression(self, scalar: Scalar, environment: Environment, expect: Type | None = None) -> tuple[Program, Type]:
        """Return the program of `scalar` and its type; the program is `NO_PROGRAM` where it has mistakes."""
        self.expressions.append((scalar, environment))
        built = build_in(scalar, environment, self.findings, expect)
        return (NO_PROGRAM, DYN) if built is None else (built.program, built.type)


def composed(program: Program, place: Located, findings: list[Diagnostic]) -> Program | None:
    """Return the program, or None with a finding at `place` where it exceeds the size limit of plans."""
    try:
        validate(program)
    except PlanError:
        findings.append(error(place, TOO_LARGE, code="bad-expression"))
        return None
    return program


def mistakes_of(failure: ExpressionError, scalar: Scalar) -> list[Diagnostic]:
    """Return the mistakes of an expression as diagnostics at their spans inside `scalar`."""
    return [
        replace(
            error(place(scalar, mistake.start, mistake.end), mistake.message, code="bad-expression", help=mistake.help),
            about=KINDS.get(mistake.reason, mistake.subject),
        )
        for mistake in failure.errors
    ]


PARAMETER_TYPES: Final[Mapping[str, Type]] = {
    "score": SCORE,
    "number": DOUBLE,
    "integer": INT,
    "bool": BOOL,
    "string": STRING,
}


PERCENTAGE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%?")


def lower_parameter(declared: ParameterDocument, findings: list[Diagnostic]) -> Parameter:
    """Return the parameter as the plan declares it; add a finding if its default is not a value of it."""
    bounds: list[Any] = [each.value if each else None for each in (declared.minimum, declared.maximum)]
    kind: Any = declared.type
    default: Any = declared.default.value
    if kind == "score" and not isinstance(default, bool):
        default = str(default)
    parameter = Parameter(declared.name, kind, default, *bounds)
    try:
        if kind in PARAMETER_TYPES:  # else schema validation reports it
            parameter_value(parameter)
    except PlanError as failure:
        least, most = declared.minimum, declared.maximum
        if least is not None and most is not None and least.as_float > most.as_float:
            notes = [(most, "the largest value")]
            message = f"no value is at least {least.raw} and at most {most.raw}"
            findings.append(error(least, message, code="bad-parameter", notes=notes))
            return parameter
        number = PERCENTAGE.fullmatch(str(default)) if kind == "score" else None
        meant = number_meant("maximum", 1, float(number[1])) if number else None
        findings.append(
            error(declared.default, str(failure), code="bad-parameter", help=Guess(meant) if meant else None)
        )
    return parameter
