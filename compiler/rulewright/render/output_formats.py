"""Renders findings in every output format."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

from rulewright.arguments.write_rules import FORMATS
from rulewright.diagnostics import Diagnostic
from rulewright.errors import UsageError
from rulewright.load.nodes import Source
from rulewright.render import human
from rulewright.render.build_servers import checkstyle, github, junit
from rulewright.render.json_output import json_output
from rulewright.render.sarif import sarif

_OF_FINDINGS: Final = {"checkstyle": checkstyle, "github": github}
_WITH_FILES: Final = {"json": json_output, "junit": junit}


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
    """Return the findings in one of `FORMATS`; `sources` holds every checked file. Raises `UsageError`."""
    if format == "human":
        text = human.render(diagnostics, sources, colour=colour, width=width, default_help=default_help)
        summary = human.summary(diagnostics, len(sources))
        return f"{text}\n{summary}\n" if text else f"{summary}\n"
    if format == "sarif":
        return sarif(diagnostics, page_of)
    if format in _OF_FINDINGS:
        return _OF_FINDINGS[format](diagnostics)
    if format in _WITH_FILES:
        return _WITH_FILES[format](diagnostics, sources)
    if format in FORMATS:  # a format that CONTRIBUTING adds is a module of its name
        return str(import_module(f"rulewright.render.{format}").written(diagnostics, sources))
    raise UsageError(f"unknown format `{format}`; expected one of {', '.join(FORMATS)}")
