"""The arguments of the commands for writing rules: each function's docstring is the help of its command."""

from __future__ import annotations

import argparse

# The same as in `categories`, which takes longer to import.
CATEGORIES = ("correctness", "suspicious", "completeness", "style", "pedantic")
FORMATS = ("human", "json", "sarif", "github", "junit", "checkstyle")


def lint_arguments(parser: argparse.ArgumentParser) -> None:
    """Find mistakes before anything runs, and show the exact column of each.

    PATHS are projects, folders or single files; the default is the project of the working folder. `-` reads one
    document from standard input (name it with --stdin-name). Single files use the settings and `accept` entries of
    the nearest project file in a parent folder; findings that need the whole project are reported only for projects.
    Results are cached in the user's cache folder until a file, an option or the program changes.
    """
    parser.add_argument("paths", nargs="*", metavar="PATH", help="projects, folders or files; - for standard input")
    parser.add_argument("--format", choices=FORMATS, default="human")
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="CODES",
        help="report only these codes or categories, e.g. lexicon-*",
    )
    parser.add_argument("--extend-select", action="append", default=[], metavar="CODES", help="report these as well")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="do not report these")
    parser.add_argument(
        "--category",
        action="append",
        default=[],
        choices=CATEGORIES,
        metavar="NAME",
        help=f"report only this category: {', '.join(CATEGORIES)}",
    )
    parser.add_argument("--preview", action="store_true", help="also report rules that are in preview")
    parser.add_argument(
        "--fail-level",
        choices=("error", "warning", "advice"),
        default="warning",
        help="exit 1 if a finding has this or a higher severity (default: warning)",
    )
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    parser.add_argument("--quiet", action="store_true", help="report errors only")
    parser.add_argument("--baseline", metavar="FILE", help="ignore the findings recorded in FILE; created if missing")
    parser.add_argument(
        "--output-file", metavar="FILE", help="write the findings, or the diff, to FILE and print a summary"
    )
    parser.add_argument("--add-allow", metavar="REASON", help="suppress the findings by comments with this reason")
    parser.add_argument("--fix", action="store_true", help="apply safe fixes")
    parser.add_argument("--unsafe-fixes", action="store_true", help="include unsafe fixes in --fix or --diff")
    parser.add_argument("--diff", action="store_true", help="show the changes of --fix without applying them")
    parser.add_argument("--statistics", action="store_true", help="count the findings by code")
    parser.add_argument("--watch", action="store_true", help="lint again whenever a file changes, until interrupted")
    parser.add_argument("--no-cache", action="store_true", help="disable the cache")
    parser.add_argument("--stdin-name", default="stdin.yaml", metavar="NAME", help="file name of standard input")


def lsp_arguments(parser: argparse.ArgumentParser) -> None:
    """Run a language server for editors over standard input and output.

    Editors start it themselves: name `rulewright lsp` as the command in their settings. It needs the extra `lsp`.
    """
    parser.add_argument("--stdio", action="store_true", help="the only transport; for editors that require the option")


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Print the manual page of a rule of `lint`, a function, a ready check or a key; without a name, list the rules.

    `functions` lists the functions of expressions and `library` the ready checks; `library/NAME` prints one: when it
    passes, its parameters, and its examples. The name of a key, such as `severity` or `rate.empty`, shows what it
    means in each kind of document; that of a kind, such as `project`, `check` or `scenario`, lists its keys.
    """
    parser.add_argument(
        "code", nargs="?", metavar="NAME", help="such as `unknown-key`, `contains_any` or `library/tool-call-valid`"
    )
    parser.add_argument("--format", choices=("human", "json"), default="human")


def eval_arguments(parser: argparse.ArgumentParser) -> None:
    """Evaluate one expression on a JSON or YAML context.

    The variables of the context need no declaration: an unknown path is an absent value, and an unknown word with an
    upper-case letter on the right of a comparison is a constant. `--as` evaluates the expression as a condition of
    that kind: an absent value counts as not met in permitting and exempting conditions, and as met in guarding ones.
    """
    parser.add_argument("expression", metavar="EXPR", help="the expression, for instance 'review.decision == GO'")
    parser.add_argument("--context", metavar="FILE", help="a JSON or YAML file of values; - reads JSON from stdin")
    parser.add_argument("--strict", action="store_true", help="plain CEL, without the profile")
    parser.add_argument(
        "--as",
        dest="place",
        choices=("permitting", "guarding", "exempting"),
        help="decide the expression as a condition of this kind",
    )
    parser.add_argument("--format", choices=("human", "json"), default="human")


def prove_arguments(parser: argparse.ArgumentParser) -> None:
    """Prove properties of documents for every input, or show a counterexample.

      scorecard over cases     every case gets a label; every row decides some case;
                               no case both passes and fails a metric
      scorecard over verdicts  every condition can hold; no verdict both fails a
                               gate and leaves it undecided
      policy                   every row decides some input
      workflow                 the guarantees of every task's state machine
      check                    its `when` can hold; it can give FAIL, and PASS, each
                               shown by a conversation

    Every counterexample was run through the evaluator. Lines marked `note` do not affect the exit code.
    """
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="scorecards, policies, workflows, checks, or folders of them (default: the nearest project)",
    )
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set one parameter")
    parser.add_argument(
        "--config", metavar="FILE", help="the settings file, or the declarations of a policy's variables"
    )
    parser.add_argument("--format", choices=("human", "json"), default="human")


def policy_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Show the inputs for which two policies decide differently, or prove that there are none.

    ONE and TWO are two scorecards, CEL policies, checks, lexicons or workflows. Every region of inputs on which they
    differ is shown in the terms of the documents, with an example input on which both were executed: a row of
    verdicts for a scorecard, a text for a lexicon. --run lists the transcripts of a finished run that would change,
    or the cases of a JSON report of `score`.
    """
    parser.add_argument("one", metavar="ONE", help="a scorecard, a policy, a check, a lexicon or a workflow")
    parser.add_argument("two", metavar="TWO", help="another one of the same kind")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of both")
    parser.add_argument(
        "--config", metavar="FILE", help="the settings file, or the declarations of a policy's variables"
    )
    parser.add_argument("--run", metavar="RUN", help="list what would change in this run or report")
    parser.add_argument(
        "--project", metavar="PATH", help="the project of the checks (default: the project around ONE or TWO)"
    )
    parser.add_argument("--format", choices=("human", "json"), default="human")
