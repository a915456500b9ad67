"""Renders findings in every format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from rulewright.arguments.write_rules import FORMATS
from rulewright.diagnostics import Diagnostic
from rulewright.errors import UsageError
from rulewright.load.source import Source
from rulewright.render import human
from rulewright.render.github import github
from rulewright.render.json_output import json_output
from rulewright.render.sarif import sarif
from rulewright.render.xml_output import checkstyle, junit
from rulewright_runtime import __version__


def render(
    format: str,
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, Source],
    *,
    page_of: Callable[[str], str | None] = lambda code: None,
    instead: Callable[[str], str | None] = lambda code: None,
    colour: bool = False,
    width: int = 80,
) -> str:
    """The findings in one of `FORMATS`; `sources` holds every file that was checked. Raises `UsageError`.

    Each format is imported when it is asked for: a start for people need not read the XML writer. One that needs no
    more than the findings and their files is a module of its name with a function `written`.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown format `{format}`; expected one of {', '.join(FORMATS)}")
    if format == "human":
        text = human.render(diagnostics, sources, colour=colour, width=width, instead=instead)
        return (
            f"{text}\n{human.summary(diagnostics, len(sources))}\n" if text else f"{human.summary((), len(sources))}\n"
        )
    if format == "json":
        return json_output(diagnostics, sources)
    if format == "sarif":
        return sarif(diagnostics, __version__, page_of)
    if format == "github":
        return github(diagnostics)
    if format == "junit":
        return junit(diagnostics, sources)
    if format == "checkstyle":
        return checkstyle(diagnostics)
    written: str = import_module(f"rulewright.render.{format}").written(diagnostics, sources)
    return written
