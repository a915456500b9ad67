"""The plug-ins of a project: functions of installed distributions that its checks may call."""

from collections.abc import Sequence

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, error
from rulewright.expression.declarations import parse_signature
from rulewright.load import Scalar
from rulewright.spelling import did_you_mean
from rulewright_runtime.plan.scan import PlugInFunction
from rulewright_runtime.plugins import FUNCTIONS, PlugIn, PlugInError, declared, installed

Functions = tuple[tuple[str, PlugInFunction], ...]


def functions_of(named: Sequence[Scalar]) -> tuple[Functions, list[Diagnostic]]:
    """The functions of the distributions that a project file names, and the findings about them.

    Installed distributions are searched, and their modules imported, only if a project names a plug-in.
    """
    if not named:
        return (), []
    there = list(installed(FUNCTIONS))
    found: list[Diagnostic] = []
    functions: dict[str, PlugInFunction] = {}
    for scalar in named:
        own = [each for each in there if _same(each.distribution, scalar.text)]
        if not own:
            message = f"no installed distribution `{scalar.value}` provides functions"
            help = did_you_mean(scalar.text, [each.distribution for each in there])
            found.append(error(scalar, message, code="unusable-plug-in", help=help))
        for each in own:
            function = _function(each, scalar, found)
            if function is not None and functions.setdefault(each.name, function) != function:
                other = functions[each.name].distribution
                message = f"`{each.name}` is provided by both `{each.distribution}` and `{other}`"
                found.append(error(scalar, message, code="unusable-plug-in"))
    return tuple(sorted(functions.items())), found


def _function(brought: PlugIn, scalar: Scalar, found: list[Diagnostic]) -> PlugInFunction | None:
    dependencies.note_call(brought.name)
    try:
        function = declared(brought)
        parse_signature(function.signature)
    except (PlugInError, ValueError) as why:
        found.append(error(scalar, str(why), code="unusable-plug-in"))
        return None
    return function


def _same(distribution: str, written: str) -> bool:
    """Whether two names of a distribution are the same after normalization, as in package indexes."""
    own, other = (name.lower().replace("_", "-").replace(".", "-") for name in (distribution, written))
    return own == other
