"""Plug-ins: functions, judges, readers and collectors from the entry points of installed distributions.

A function declares its signature, so that expressions that call it are checked like any other:

    from rulewright_runtime.plugins import function

    @function("(string) -> double")
    def politeness(text: str) -> float: ...

    [project.entry-points."rulewright.functions"]
    "acme.politeness" = "acme_checks:politeness"

A plan names the functions that its checks call, with distribution and version, and runs only if exactly these are
installed. An exception of a plug-in, or a result of another type than declared, is an error of the expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from rulewright_runtime.declared_values import ResultTypeError, declared_type, fitting, split_arguments
from rulewright_runtime.english import escape_surrogates, ticked
from rulewright_runtime.errors import EvaluationError, OutageError, PlanError, RuntimeFailure
from rulewright_runtime.functions.table import PLUGIN_FUNCTIONS
from rulewright_runtime.plan.scan import PlugInFunction
from rulewright_runtime.processes.user_code import Called, UserCode, failure_of
from rulewright_runtime.values import from_host

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FUNCTIONS: Final = "rulewright.functions"
JUDGES: Final = "rulewright.judges"
READERS: Final = "rulewright.readers"
COLLECTORS: Final = "rulewright.collectors"
NAME: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")  # the dot prevents shadowing of a built-in function
SIGNATURE: Final = re.compile(r"\((?P<arguments>.*)\) -> (?P<result>[a-z]+)(?:\(.*\))?")
_RESULTS: Final = frozenset({"bool", "int", "double", "string", "list", "map"})
Plain = TypeVar("Plain", bound=Callable[..., Any])


class PlugInError(RuntimeFailure):
    """A plug-in can't be used: it is not installed, installed twice, or does not fit its group."""


class PlugIn(NamedTuple):
    """An entry point of an installed distribution."""

    name: str
    distribution: str
    version: str
    entry: EntryPoint

    def load(self) -> Any:
        """Import the object. Raises PlugInError if that fails."""
        try:
            with UserCode(self.called):
                return self.entry.load()
        except Exception as why:
            raise PlugInError(f"the plug-in `{self.name}` of {self.about} can't be loaded: {failure_of(why)}") from why

    @property
    def about(self) -> str:
        """The distribution and its version, as text."""
        return f"`{self.distribution}` {self.version}"

    @property
    def called(self) -> Called:
        """A new count of calls, under its name with its distribution."""
        return Called(f"`{self.name}` of {self.about}")


def function(signature: str) -> Callable[[Plain], Plain]:
    """Declare the signature of a plug-in function, `(string, int) -> double`."""

    def declare(plain: Plain) -> Plain:
        plain.signature = signature  # type: ignore[attr-defined]
        return plain

    return declare


def installed(group: str) -> Iterator[PlugIn]:
    """Yield the plug-ins that are installed in a group, sorted by name and distribution."""
    from importlib import metadata  # slow to import, and few processes use plug-ins

    plug_ins = [
        PlugIn(entry.name, entry.dist.name, entry.dist.version, entry)
        for entry in metadata.entry_points(group=group)
        if entry.dist is not None
    ]
    yield from sorted(plug_ins, key=lambda each: each[:3])


def named(group: str, name: str) -> PlugIn:
    """The plug-in of a name. Raises PlugInError if there is none, or more than one."""
    matches = [each for each in installed(group) if each.name == name]
    if not matches:
        names = ticked(each.name for each in installed(group))
        known = f"the installed ones are {names}" if names else "none is installed"
        raise PlugInError(f"no installed distribution provides `{name}` ({group}); {known}")
    if len(matches) > 1:
        raise PlugInError(f"`{name}` ({group}) is provided by {' and by '.join(each.about for each in matches)}")
    return matches[0]


def declared(plug_in: PlugIn) -> PlugInFunction:
    """The plug-in function as a plan records it. Raises PlugInError for an invalid name or signature."""
    signature = str(getattr(plug_in.load(), "signature", ""))
    parsed = SIGNATURE.fullmatch(signature)
    if parsed is None or parsed["result"] not in _RESULTS:
        shown = f"the signature `{signature}`" if signature else "no signature"
        reason = f"it has {shown}; expected one such as `(string) -> double`"
        raise PlugInError(f"the function `{plug_in.name}` of {plug_in.about} can't be used: {reason}")
    if not NAME.fullmatch(plug_in.name):
        reason = "its name needs a dot, as in `acme.politeness`"
        raise PlugInError(f"the function `{plug_in.name}` of {plug_in.about} can't be used: {reason}")
    return PlugInFunction(plug_in.distribution, plug_in.version, signature)


def register_functions(functions: Mapping[str, PlugInFunction]) -> None:
    """Make the functions of a plan callable. Raises PlanError if one is missing or differs from the plan's."""
    for name, expected in functions.items():
        try:
            plug_in = named(FUNCTIONS, name)
            actual = declared(plug_in)
        except PlugInError as why:
            raise PlanError(f"the plan calls `{name}` of `{expected.distribution}` {expected.version}: {why}") from None
        if actual != expected:
            same = (actual.distribution, actual.version) == (expected.distribution, expected.version)
            installation = f"with the signature `{actual.signature}`" if same else f"from {plug_in.about}"
            origin = f"`{expected.distribution}` {expected.version}" + (f", `{expected.signature}`" if same else "")
            reason = f"but it is installed {installation}; compile the plan again"
            raise PlanError(f"the plan calls `{name}` of {origin}, {reason}")
        count = _count(expected.signature)
        PLUGIN_FUNCTIONS[name] = (_guarded(plug_in, plug_in.load(), expected.signature), count, count)


def _count(signature: str) -> int:
    arguments = signature[1 : signature.rindex(") -> ")]
    return len(split_arguments(arguments)) if arguments.strip() else 0


def _guarded(plug_in: PlugIn, plain: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """The function with copies of its arguments, so that it can't change what other checks read, and a result of the
    declared type or an EvaluationError. Raises OutageError if it often does not return."""
    name, called = plug_in.name, plug_in.called
    expected = signature[signature.rindex(") -> ") + len(") -> ") :]
    declared = declared_type(expected)

    def call(*arguments: Any) -> Any:
        try:
            with UserCode(called):
                value = plain(*map(from_host, arguments))
                return fitting(declared, from_host(value))
        except ResultTypeError:
            message = escape_surrogates(f"`{name}` returned {value!r:.60}; expected {expected}")
            raise EvaluationError(message, "plug_in_failed") from None
        except OutageError:
            raise
        except Exception as why:
            raise EvaluationError(f"`{name}` failed: {failure_of(why)}", "plug_in_failed") from why

    return call


class GuardedJudge:
    """A judge of a plug-in, which can't end the process and is limited in time."""

    record: object = None

    def __init__(self, judge: Any, called: Called) -> None:
        """Calls of `judge` count as of `called`."""
        self.judge, self._called = judge, called

    def __getattr__(self, name: str) -> object:
        return getattr(self.judge, name)

    def ask(self, request: object) -> str | None:
        """The judge's reply. Raises what it raises, and UserCodeError or OutageError."""
        with UserCode(self._called):
            reply: str | None = self.judge.ask(request)
            return reply


def judge(name: str, argument: str) -> GuardedJudge:
    """The judge of `plugin:NAME:ARGUMENT`. Raises PlugInError if there is none, or it has no `ask`."""
    plug_in = named(JUDGES, name)
    make = plug_in.load()
    try:
        with UserCode(plug_in.called):
            created = make(argument)
    except Exception as why:
        raise PlugInError(f"the judge `{name}` of {plug_in.about} can't be made: {failure_of(why)}") from why
    if not callable(getattr(created, "ask", None)):
        raise PlugInError(f"the judge `{name}` of {plug_in.about} has no `ask(request)`")
    return GuardedJudge(created, plug_in.called)


def collectors(kind: str) -> Iterator[PlugIn]:
    """Yield the plug-in report collectors of a metric, with names such as `lint_score.mytool`."""
    return (each for each in installed(COLLECTORS) if each.name.partition(".")[0] == kind)
