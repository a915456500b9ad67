"""Plain CEL for Python programs: check an expression, evaluate it, evaluate a policy.

    >>> from rulewright import cel
    >>> cel.evaluate("user.age >= 18 && user.name.startsWith('A')", {"user": {"age": 20, "name": "Ada"}})
    True
    >>> cel.check("names.exists(n, n.size() > 3)", types={"names": "list(string)"})
    'bool'

Values are native Python, both ways:

| CEL | Python | CEL | Python |
|---|---|---|---|
| null_type, bool, int, double, string, bytes | None, bool, int, float, str, bytes | list | list |
| uint | `UInt`, a subclass of int | map | dict, or a mapping whose `items()` keep 1, 1u and true apart |
| timestamp | an aware datetime | duration | timedelta |
| type | `TypeValue`, with `.name` | optional | `Optional`, with `.present` and `.value` |

Inside, timestamps and durations hold nanoseconds; a datetime and a timedelta are cut to microseconds.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from rulewright.errors import ExpressionError, RulewrightError, UsageError
from rulewright.expression.build import lower, lower_unchecked
from rulewright.expression.checker import TOO_DEEP
from rulewright.expression.checker import check as check_types
from rulewright.expression.checking_context import mistake
from rulewright.expression.declarations import Overload, overload
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import DYN, Type, parse_type
from rulewright.lower.policy import compile_policy
from rulewright_runtime.errors import EvaluationError, PlanError, RuntimeFailure
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.values import Optional, TypeValue, UInt, Value, from_host, to_host

__all__ = ["EXPECTED_ERRORS", "Optional", "TypeValue", "UInt", "check", "evaluate", "evaluate_policy"]

MAX_VALUES: Final = 2_000_000  # in a result; shared values count each time
EXPECTED_ERRORS: Final = (RulewrightError, RuntimeFailure)


def evaluate(
    expr: str,
    bindings: Mapping[str, object] | None = None,
    types: Mapping[str, str] | None = None,
    functions: Mapping[str, Sequence[Mapping[str, Value]]] | None = None,
    container: str = "",
    check: bool = True,
    macros: bool = True,
    check_only: bool = False,
) -> Value:
    """The value of `expr` for these bindings.

    `types` and `functions` declare names as for `check`; a bound name without a type is `dyn`. `container` is the
    namespace in which names resolve. Without `check` nothing is checked before it runs; without `macros` a macro such
    as `all` is an ordinary call; with `check_only` the answer is the type, as text.

        >>> evaluate("x + 1", {"x": 41}, {"x": "int"})
        42
        >>> evaluate("duration('90m').getHours()")
        1

    Raises ExpressionError for an expression that does not parse or check, EvaluationError for one without a value.
    """
    declared = _types(types)
    values = dict(bindings or {})
    environment = _environment({**dict.fromkeys(values, DYN), **declared}, functions, container)
    parsed = parse(expr, Dialect.STRICT, macros=macros)
    if check_only:
        return str(check_types(parsed, expr, environment).type)
    if check:
        program = lower(check_types(parsed, expr, environment), expr, environment)
    else:
        program = lower_unchecked(parsed, expr, environment)
    try:
        run = prepare(program)
    except PlanError:
        raise ExpressionError(expr, [mistake(expr, parsed, TOO_DEEP, whole=True)]) from None
    return _native(run({name: from_host(value) for name, value in values.items()}))


def check(
    expr: str,
    types: Mapping[str, str] | None = None,
    functions: Mapping[str, Sequence[Mapping[str, Value]]] | None = None,
    container: str = "",
) -> str:
    """Return the type of `expr` as text.

    `types` maps names to types such as `"map(string, list(int))"`. `functions` maps names to overloads, each
    `{"params": ["T", "int"], "result": "list(T)", "receiver": False}`; capital letters are type parameters.

        >>> check("[1, 2].map(n, n * 2)")
        'list(int)'

    Raises ExpressionError; its `errors` hold every mistake with `line` and `column`, both from 1.
    """
    environment = _environment(_types(types), functions, container)
    return str(check_types(parse(expr, Dialect.STRICT), expr, environment).type)


def evaluate_policy(policy: str, config: str | None = None, input: Mapping[str, object] | None = None) -> Value:
    """Return the output of a CEL policy for `input`, or `Optional` none when no row matches.

    `policy` and `config` are YAML texts: the policy holds `rule` (`variables`, `match` or `aggregate`), the
    configuration declares the variables the policy may read. Raises DocumentError for a policy that does not compile,
    EvaluationError for one without a value.
    """
    table = compile_policy(policy, config)
    value = prepare(table.program)({name: from_host(item) for name, item in (input or {}).items()})
    return _native(value.value if not table.total and value.present else value)


def _native(value: object) -> Value:
    """Return a value as native Python; raises EvaluationError where its shared parts would expand beyond MAX_VALUES."""
    count, pending = 0, [value]
    while pending:
        current = pending.pop()
        if isinstance(current, (list, tuple)):
            pending += current
        elif isinstance(current, Mapping):
            pending += current.values()
        elif isinstance(current, Optional):
            pending.append(current.value)
        count += 1
        if count > MAX_VALUES:
            raise EvaluationError(f"the result contains more than {MAX_VALUES} values", "limit")
    return to_host(value)


def _environment(
    variables: Mapping[str, Type], functions: Mapping[str, Sequence[Mapping[str, Value]]] | None, container: str
) -> Environment:
    return Environment(
        variables=variables,
        functions={name: tuple(_overload(name, each) for each in given) for name, given in (functions or {}).items()},
        container=container,
        dialect=Dialect.STRICT,
        validate=False,
    )


def _types(types: Mapping[str, str] | None) -> dict[str, Type]:
    try:
        return {name: parse_type(text) for name, text in (types or {}).items()}
    except ValueError as failure:
        raise UsageError(str(failure)) from None


def _overload(name: str, declaration: Mapping[str, Value]) -> Overload:
    try:
        arguments = tuple(parse_type(p) for p in declaration.get("params", ()))
        return overload(arguments, parse_type(declaration["result"]), bool(declaration.get("receiver", False)))
    except (AttributeError, KeyError, TypeError, ValueError) as failure:
        raise UsageError(f"the declaration of the function `{name}` can't be read: {failure}") from None
