"""Renders findings in every output format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

from rulewright.arguments.write_rules import FORMATS
from rulewright.diagnostics import Diagnostic
from rulewright.errors import UsageError
from rulewright.load.source import Source
from rulewright.render import human
from rulewright_runtime import __version__

# The module and function of a format, where they are not `written` in the module of its name.
WRITERS: Final = {
    "json": ("json_output", "json_output"),
    "junit": ("xml_output", "junit"),
    "checkstyle": ("xml_output", "checkstyle"),
    "sarif": ("sarif", "sarif"),
    "github": ("github", "github"),
}
WITHOUT_FILES: Final = frozenset({"checkstyle", "github"})


def render(
    format: str,
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, Source],
    *,
    page_of: Callable[[str], str | None] = lambda code: None,
    default_help: Callable[[str], str | None] = lambda code: None,
    colour: bool = False,
    width: int = 80,
) -> str:
    """Return the findings in one of `FORMATS`; `sources` holds every checked file. Raises `UsageError`.

    A format's module is imported on demand, for a fast start. A format that needs only the findings and their files is
    a module of its name with a function `written`.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown format `{format}`; expected one of {', '.join(FORMATS)}")
    if format == "human":
        text = human.render(diagnostics, sources, colour=colour, width=width, default_help=default_help)
        return (
            f"{text}\n{human.summary(diagnostics, len(sources))}\n" if text else f"{human.summary((), len(sources))}\n"
        )
    module, name = WRITERS.get(format, (format, "written"))
    writer: Callable[..., str] = getattr(import_module(f"rulewright.render.{module}"), name)
    if format == "sarif":
        return writer(diagnostics, __version__, page_of)
    return writer(diagnostics) if format in WITHOUT_FILES else writer(diagnostics, sources)
