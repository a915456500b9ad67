"""Plug-ins: what installed distributions bring by entry points, told with their versions.

A function is typed by its signature, so that expressions which call it are checked like any other:

    from rulewright_runtime.plugins import function

    @function("(string) -> double")
    def politeness(text: str) -> float: ...

    [project.entry-points."rulewright.functions"]
    "acme.politeness" = "acme_checks:politeness"

A plan names the functions that its checks call, with distribution and version, and runs only where exactly these are
installed. What a plug-in raises, or gives of another type than it says, is an error of the expression.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from rulewright_runtime.errors import EvaluationError, PlanError, RuntimeFailure
from rulewright_runtime.functions.table import PLUGIN_FUNCTIONS
from rulewright_runtime.plan.scan import PlugInFunction

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FUNCTIONS: Final = "rulewright.functions"
JUDGES: Final = "rulewright.judges"
READERS: Final = "rulewright.readers"
COLLECTORS: Final = "rulewright.collectors"
NAME: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")  # with a dot: it never hides a function of ours
SIGNATURE: Final = re.compile(r"\((?P<arguments>.*)\) -> (?P<result>[a-z]+)(?:\(.*\))?")
_RESULTS: Final[Mapping[str, tuple[type, ...]]] = {
    "bool": (bool,), "int": (int,), "double": (float, int), "string": (str,), "list": (list,), "map": (dict,),
}  # fmt: skip
Plain = TypeVar("Plain", bound=Callable[..., Any])


class PlugInError(RuntimeFailure):
    """A plug-in that can't be used: not installed, brought twice, or not what its group asks for."""


class PlugIn(NamedTuple):
    """What an installed distribution brings under a name."""

    name: str
    distribution: str
    version: str
    entry: EntryPoint

    def load(self) -> Any:
        """The object itself. Raises PlugInError where importing it fails."""
        try:
            return self.entry.load()
        except Exception as why:
            raise PlugInError(f"the plug-in `{self.name}` of {self.about} can't be loaded: {why!r}") from why

    @property
    def about(self) -> str:
        """The distribution with its version."""
        return f"`{self.distribution}` {self.version}"


def function(signature: str) -> Callable[[Plain], Plain]:
    """Declare the signature of a plug-in function, `(string, int) -> double`."""

    def declare(plain: Plain) -> Plain:
        plain.signature = signature  # type: ignore[attr-defined]
        return plain

    return declare


def installed(group: str) -> Iterator[PlugIn]:
    """What is installed in a group, sorted by name and distribution."""
    from importlib import metadata  # slow to import, and few processes look for plug-ins

    found = [
        PlugIn(entry.name, entry.dist.name, entry.dist.version, entry)
        for entry in metadata.entry_points(group=group)
        if entry.dist is not None
    ]
    yield from sorted(found, key=lambda each: each[:3])


def named(group: str, name: str) -> PlugIn:
    """The plug-in of a name. Raises PlugInError where there is none, or several."""
    found = [each for each in installed(group) if each.name == name]
    if not found:
        there = ", ".join(f"`{each.name}`" for each in installed(group)) or "none"
        raise PlugInError(f"no installed distribution brings `{name}` ({group}); there are {there}")
    if len(found) > 1:
        raise PlugInError(f"`{name}` ({group}) is brought by {' and by '.join(each.about for each in found)}")
    return found[0]


def declared(brought: PlugIn) -> PlugInFunction:
    """The function of a plug-in as a plan names it. Raises PlugInError for one without a good name and signature."""
    signature = str(getattr(brought.load(), "signature", ""))
    parsed = SIGNATURE.fullmatch(signature)
    if parsed is None or parsed["result"] not in _RESULTS:
        shown = f"the signature `{signature}`" if signature else "no signature"
        reason = f"it has {shown}; expected one such as `(string) -> double`"
        raise PlugInError(f"the function `{brought.name}` of {brought.about} can't be used: {reason}")
    if not NAME.fullmatch(brought.name):
        reason = "its name needs a dot, as in `acme.politeness`"
        raise PlugInError(f"the function `{brought.name}` of {brought.about} can't be used: {reason}")
    return PlugInFunction(brought.distribution, brought.version, signature)


def bring(functions: Mapping[str, PlugInFunction]) -> None:
    """Make the functions of a plan callable. Raises PlanError where one is missing or is not the one it names."""
    for name, wanted in functions.items():
        try:
            brought = named(FUNCTIONS, name)
            there = declared(brought)
        except PlugInError as why:
            raise PlanError(f"the plan calls `{name}` of `{wanted.distribution}` {wanted.version}: {why}") from None
        if there != wanted:
            same = (there.distribution, there.version) == (wanted.distribution, wanted.version)
            seen = f"with the signature `{there.signature}`" if same else f"from {brought.about}"
            asked = f"`{wanted.distribution}` {wanted.version}" + (f", `{wanted.signature}`" if same else "")
            raise PlanError(f"the plan calls `{name}` of {asked}, but it is installed {seen}; compile the plan again")
        count = _count(wanted.signature)
        PLUGIN_FUNCTIONS[name] = (_guarded(name, brought.load(), wanted.signature), count, count)


def _count(signature: str) -> int:
    """How many arguments a signature has."""
    depth, count = 0, 1
    arguments = signature[1 : signature.rindex(") -> ")]
    for letter in arguments:
        depth += (letter == "(") - (letter == ")")
        count += letter == "," and depth == 0
    return count if arguments.strip() else 0


def _guarded(name: str, plain: Callable[..., Any], signature: str) -> Callable[..., Any]:
    parsed = SIGNATURE.fullmatch(signature)
    assert parsed is not None
    result = parsed["result"]

    def call(*arguments: Any) -> Any:
        try:
            value = plain(*arguments)
        except Exception as why:
            raise EvaluationError(f"`{name}` failed: {type(why).__name__}: {why}", "plug_in_failed") from why
        fits = isinstance(value, _RESULTS[result]) and (result == "bool" or not isinstance(value, bool))
        if not fits or (isinstance(value, float) and not math.isfinite(value)):
            raise EvaluationError(f"`{name}` gave {value!r:.60}; expected {result}", "plug_in_failed")
        return float(value) if result == "double" else value

    return call


@cache
def readers() -> tuple[Any, ...]:
    """The formats of chats that plug-ins read, tried after those of the product."""
    return tuple(each.load() for each in installed(READERS))


def judge(name: str, argument: str) -> Any:
    """The judge that the plug-in `name` makes of what stands behind its name in `plugin:NAME:ARGUMENT`."""
    brought = named(JUDGES, name)
    made = brought.load()(argument)
    if not callable(getattr(made, "ask", None)):
        raise PlugInError(f"the judge `{name}` of {brought.about} has no `ask(request)`")
    return made


def collectors(kind: str) -> Iterator[PlugIn]:
    """The collectors of reports that plug-ins bring for a metric, by names such as `lint_score.mytool`."""
    return (each for each in installed(COLLECTORS) if each.name.partition(".")[0] == kind)
