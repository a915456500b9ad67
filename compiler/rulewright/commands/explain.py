"""`explain`: print the page of a rule, a ready check or a function, or what a key of documents or a term means."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from inspect import getdoc
from typing import Any, Final

from msgspec.structs import asdict

from rulewright.categories import category_line, category_of, since
from rulewright.commands.output import answer
from rulewright.documents.base import items, text
from rulewright.documents.keys import key_names, keys_below, keys_named
from rulewright.documents.library import like_ready_check, parameters_of, ready_check, ready_checks
from rulewright.errors import UsageError
from rulewright.function_pages import FunctionPage, function_names, function_page
from rulewright.load import Mapping, plain
from rulewright.manual import explain, pages
from rulewright.spelling import did_you_mean
from rulewright.terms import term_named, terms
from rulewright_runtime.english import plural
from rulewright_runtime.plugins import FUNCTIONS, declared, installed, named
from rulewright_runtime.report.text import wrapped_lines
from rulewright_runtime.terminal import width_for, wrapped

WIDEST: Final = 36  # characters of the first column of a list
LISTS: Final = (
    "`rulewright explain` lists the rules, `explain functions` the functions, `explain library` the ready checks, "
    "`explain check` the keys of checks"
)
CODE: Final = " " * 4  # at the start of a line in Markdown
NARROWEST: Final = 30  # characters of a line of the second


def run(args: argparse.Namespace) -> int:
    """Print one page, or the list; return the exit code. Raises UsageError."""
    if args.code is None:
        listing = {code: page.strip().partition("\n")[0] for code, page in sorted(pages().items())}
        answer(args.format, listing, _columns(listing))
        return 0
    if args.code == "functions":
        shown = {name: function_page(name) for name in sorted(function_names())}
        listing = {name: " ".join(each.descriptions or each.signatures[:1]) for name, each in shown.items() if each}
        answer(args.format, listing, _columns(listing))
        return 0
    if args.code.startswith("library"):
        return _ready_checks(args.code, args.format)
    if (function := function_page(args.code)) is not None:
        others = {**_term(args.code), **_keys(args.code)}
        lines = [*function.lines(), *([""] if others else []), *(": ".join(each) for each in others.items())]
        answer(args.format, {"function": args.code, **asdict(function), **others}, _fitted(lines))
        return 0
    if (function := _plug_in_page(args.code)) is not None:
        answer(args.format, {"function": args.code, **asdict(function)}, _fitted(function.lines()))
        return 0
    page = explain(args.code)
    if page is None and (listing := {**_term(args.code), **_keys(args.code)}):
        answer(args.format, listing, _columns(listing))
        return 0
    if page is None:
        raise UsageError(f"unknown rule, function, key or term `{args.code}`; {_hint(args.code)}")
    found = {"code": args.code, "page": page, "category": category_of(args.code), "since": since(args.code)}
    answer(args.format, found, _fitted([*page.rstrip().split("\n"), "", category_line(args.code)]))
    return 0


def _term(name: str) -> dict[str, str]:
    """What a word of reports means, and where to read on; empty for any other word."""
    term = term_named(name)
    return {} if term is None else {f"{', '.join(term.names)} (term)": f"{term.meaning}; see {term.guide}"}


def _keys(name: str) -> dict[str, str]:
    """What the keys of that name mean, and those below them."""
    found = [*keys_named(name), *keys_below(name)]
    return {f"{path} ({title})": each.about() for title, path, each in found}


def _hint(name: str) -> str:
    """What may be meant: a ready check without its folder, a similar name, or one of the lists."""
    if ready_check(f"library/{name}") is not None:
        return f"did you mean `library/{name}`?"
    plug_ins = {each.name for each in installed(FUNCTIONS)}
    return (
        did_you_mean(
            name,
            {*pages(), *function_names(), *key_names(), *(word for term in terms() for word in term.names), *plug_ins},
        )
        or LISTS
    )


def _plug_in_page(name: str) -> FunctionPage | None:
    """The page of an installed plug-in function; None for any other name. Raises PlugInError if it can't be loaded."""
    if not any(each.name == name for each in installed(FUNCTIONS)):
        return None
    plug_in = named(FUNCTIONS, name)
    about = (getdoc(plug_in.load()) or "").replace("\n\n", "\n").split("\n")
    origin = f"A plug-in of {plug_in.about}: a project that calls it has `plugins: [{plug_in.distribution}]`"
    return FunctionPage((f"{name}{declared(plug_in).signature}",), (" ".join(filter(None, about)), origin), ())


def _columns(listing: dict[str, str]) -> Iterator[str]:
    """Names with their summaries, in two columns; after a long name its summary begins on the next line."""
    width = min(max(map(len, listing)), WIDEST)
    room = max(width_for(sys.stdout) - width - 2, NARROWEST)
    for name, summary in listing.items():
        head, *rest = wrapped(summary, room)
        if len(name) > width:
            yield name
        yield f"{name if len(name) <= width else '':<{width}}  {head}"
        yield from (f"{'':<{width}}  {line}" for line in rest)


def _ready_checks(name: str, format: str) -> int:
    """Print the list of ready checks, or one of them."""
    found = ready_checks()
    if name in ("library", "library/"):
        listing = {each: text(root, "pass_rule") for each, root in found.items()}
        answer(format, listing, _columns(listing))
        return 0
    root = ready_check(name)
    if root is None:
        raise UsageError(f"unknown ready check `{name}`; {like_ready_check(name)}")
    answer(format, plain(root), _fitted(_page(name, root)))
    return 0


def _fitted(page: Iterable[str]) -> Iterator[str]:
    """The lines of a page, with its prose wrapped to the terminal and its code as it is."""
    for line in page:
        yield from [line] if line.startswith(CODE) else wrapped_lines([line], width_for(sys.stdout))


def _page(name: str, root: Mapping) -> list[str]:
    """The page of a ready check, in Markdown like those of rules."""
    lines = [f"It passes when: {text(root, 'pass_rule')}", "", f"    id: {text(root, 'id')}", f"    use: {name}"]
    declared: dict[str, Any] = plain(parameters_of(root)) or {}
    required = {each: plain(root)["params"][each] for each, about in declared.items() if "default" not in about}
    if required:
        lines += ["    params:", *(f"      {each}: {json.dumps(value)}" for each, value in required.items())]
    if declared:
        lines += ["", "Parameters:"]
    for each, about in declared.items():
        default = f"; by default {json.dumps(about['default'])}" if "default" in about else "; required"
        lines.append(f"  {each}: {about['type']}, {about.get('description', '')}{default}")
    judged = "a judge decides" if "prompt" in root else "no judge is asked"
    examples = items(root, "examples")
    return [*lines, "", f"Verified by {plural(len(examples), 'example')}; {judged}."]
