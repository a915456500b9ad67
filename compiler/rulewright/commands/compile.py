"""Compile a project into one plan file.

The plan is one JSON document with a hash over its content. It runs wherever the runtime is installed:
`python -m rulewright_runtime run plan.json DATA --out RUN`. Without -o it goes to standard output.

exit codes: 0 compiled, 2 bad usage, 3 the project has errors
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rulewright.commands.project_options import add_project_options, compile_chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("path", nargs="?", metavar="PROJECT", help="the same as --project")
    add_project_options(parser)
    parser.add_argument("-o", "--out", metavar="FILE", help="where the plan goes (default: standard output)")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="how -o reports what it wrote")


def run(args: argparse.Namespace) -> int:
    """Compile and write the plan, whole or not at all."""
    import json

    from rulewright_runtime.plan import encode

    args.project = args.project or args.path
    _, plan = compile_chosen(args)
    data = encode(plan)
    if args.out is None:
        sys.stdout.buffer.write(data + b"\n")
        return 0
    target = Path(args.out)
    part = target.with_name(target.name + ".part")
    part.write_bytes(data)
    os.replace(part, target)
    facts = {"plan": str(target), "hash": plan.hash, "profile": plan.profile, "checks": len(plan.checks)}
    if args.format == "json":
        print(json.dumps(facts))
    else:
        print(f"{target}: {len(plan.checks)} checks, profile {plan.profile}, hash {plan.hash[:16]}")
    return 0
