"""`explain`: the page of a diagnostic or of a ready check is printed."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from rulewright.categories import MEANINGS, category_of, since
from rulewright.documents.base import items, text
from rulewright.documents.library import parameters_of, ready_check, ready_checks
from rulewright.errors import UsageError
from rulewright.load import plain
from rulewright.manual import explain, pages
from rulewright.spelling import did_you_mean, suggest
from rulewright_runtime.terminal import say

if TYPE_CHECKING:
    from rulewright.load import Mapping


def run(args: argparse.Namespace) -> int:
    """Print one page, or the list."""
    if args.code is None:
        listing = {code: page.strip().partition("\n")[0] for code, page in sorted(pages().items())}
        if args.format == "json":
            print(json.dumps(listing, ensure_ascii=False))
        else:
            width = max(map(len, listing))
            print("\n".join(f"{code:<{width}}  {summary}" for code, summary in listing.items()))
        return 0
    if args.code.startswith("library"):
        return _ready_checks(args.code, args.format)
    page = explain(args.code)
    if page is None:
        near = suggest(args.code, pages())
        hint = f"; did you mean `{near}`?" if near else "; `rulewright explain` lists them"
        raise UsageError(f"unknown diagnostic `{args.code}`{hint}")
    category = category_of(args.code)
    if args.format == "json":
        print(json.dumps({"code": args.code, "page": page, "category": category, "since": since(args.code)}))
    else:
        print(page.rstrip(), end="\n\n")
        say(f"Category: {category} ({MEANINGS[category]}). Since: {since(args.code)}.")
    return 0


def _ready_checks(name: str, format: str) -> int:
    """Print the list of ready checks, or one of them."""
    found = ready_checks()
    if name in ("library", "library/"):
        listing = {each: text(root, "pass_rule") for each, root in found.items()}
        width = max(map(len, listing))
        lines = [f"{each:<{width}}  {summary}" for each, summary in listing.items()]
        print(json.dumps(listing, ensure_ascii=False) if format == "json" else "\n".join(lines))
        return 0
    root = ready_check(name)
    if root is None:
        hint = did_you_mean(name, found) or "`rulewright explain library` lists them"
        raise UsageError(f"unknown ready check `{name}`; {hint}")
    if format == "json":
        print(json.dumps(plain(root), ensure_ascii=False))
    else:
        print(_page(name, root))
    return 0


def _page(name: str, root: Mapping) -> str:
    """What a ready check does, in Markdown as the pages of diagnostics are."""
    lines = [f"It passes when: {text(root, 'pass_rule')}", "", f"    id: {text(root, 'id')}", f"    use: {name}"]
    declared: dict[str, Any] = plain(parameters_of(root)) or {}
    required = {each: plain(root)["params"][each] for each, about in declared.items() if "default" not in about}
    if required:
        lines += ["    params:", *(f"      {each}: {json.dumps(value)}" for each, value in required.items())]
    if declared:
        lines += ["", "Parameters:"]
    for each, about in declared.items():
        default = f"; by default {json.dumps(about['default'])}" if "default" in about else "; it has to be given"
        lines.append(f"  {each}: {about['type']}, {about.get('description', '')}{default}")
    judged = "a judge decides" if "prompt" in root else "no judge is asked"
    examples = items(root, "examples")
    return "\n".join([*lines, "", f"Verified by {len(examples)} examples; {judged}."])
