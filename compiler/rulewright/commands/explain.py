"""Print the manual page of a diagnostic; without a code, list them all."""

from __future__ import annotations

import argparse
import json

from rulewright.categories import MEANINGS, category_of, since
from rulewright.errors import UsageError
from rulewright.manual import explain, pages
from rulewright.spelling import suggest
from rulewright_runtime.terminal import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("code", nargs="?", help="for instance `unknown-key`")
    parser.add_argument("--format", choices=("human", "json"), default="human")


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
    page = explain(args.code)
    if page is None:
        near = suggest(args.code, pages())
        hint = f"; did you mean `{near}`?" if near else "; `rulewright explain` lists them"
        raise UsageError(f"there is no diagnostic `{args.code}`{hint}")
    category = category_of(args.code)
    if args.format == "json":
        print(json.dumps({"code": args.code, "page": page, "category": category, "since": since(args.code)}))
    else:
        print(page.rstrip(), end="\n\n")
        say(f"Category: {category} ({MEANINGS[category]}). Since: {since(args.code)}.")
    return 0
