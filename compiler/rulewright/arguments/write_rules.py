"""The arguments of the commands for writing rules: each function's docstring is the help of its command."""

import argparse

from rulewright.arguments.shared_options import (
    existing,
    existing_file,
    existing_or_standard_input,
    file_to_write,
    flag,
    formats,
    option,
    repeated,
)

# The same as in `categories`, which takes longer to import.
CATEGORIES = ("correctness", "suspicious", "completeness", "style", "pedantic")
FORMATS = ("human", "json", "sarif", "github", "junit", "checkstyle")


def lint_arguments(parser: argparse.ArgumentParser) -> None:
    """Find mistakes before anything runs, and show the exact column of each.

    Each PATH is a project, a folder or a single file; the default is the project of the working folder. `-` reads one
    document from standard input (name it with --stdin-name). Single files use the settings and `accept` entries of
    the nearest project file in a parent folder; findings that need the whole project are reported only for projects.
    Results are cached in the user's cache folder until a file, an option or the program changes.
    """
    about = "projects, folders or files; - for standard input"
    option(parser, "paths", "PATH", about, nargs="*", type=existing_or_standard_input)
    formats(parser, *FORMATS)
    repeated(parser, "--select", "CODES", "report only these codes or categories, e.g. lexicon-*")
    repeated(parser, "--extend-select", "CODES", "also report these codes or categories")
    repeated(parser, "--ignore", "CODES", "do not report these codes or categories")
    repeated(parser, "--category", "NAME", f"report only this category: {', '.join(CATEGORIES)}", choices=CATEGORIES)
    flag(parser, "--preview", "also report rules that are in preview")
    parser.add_argument(
        "--fail-level",
        choices=("error", "warning", "advice"),
        default="warning",
        help="exit with 1 if a finding has this or a higher severity (default: warning)",
    )
    flag(parser, "--exit-zero", "exit with 0 even if there are findings")
    flag(parser, "--quiet", "report errors only")
    option(parser, "--baseline", "FILE", "ignore the findings recorded in FILE; created if missing")
    about = "write the findings, or the diff, to FILE and print a summary; - prints them (default: -)"
    option(parser, "--output-file", "FILE", about, type=file_to_write)
    option(parser, "--add-allow", "REASON", "suppress the findings by comments with this reason")
    flag(parser, "--fix", "apply safe fixes")
    flag(parser, "--unsafe-fixes", "include unsafe fixes in --fix or --diff")
    flag(parser, "--diff", "show the changes of --fix without applying them")
    flag(parser, "--statistics", "count the findings by code")
    flag(parser, "--watch", "lint again whenever a file changes, until interrupted")
    flag(parser, "--no-cache", "disable the cache of results")
    option(parser, "--stdin-name", "NAME", "file name of standard input (default: stdin.yaml)", default="stdin.yaml")


def lsp_arguments(parser: argparse.ArgumentParser) -> None:
    """Run a language server for editors over standard input and output.

    Editors start it themselves: name `rulewright lsp` as the command in their settings. It needs the extra `lsp`.
    """
    flag(parser, "--stdio", "the only transport; for editors that require the option")


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Print the manual page of a rule of `lint`, a function, a ready check or a key, or what a word of reports means;
    without a name, list the rules.

    `functions` lists the functions of expressions and `library` the ready checks; `library/NAME` prints one: when it
    passes, its parameters, and its examples. The name of a key, such as `severity`, `check.severity` or `rate.empty`,
    shows what it means in each kind of document; that of a kind, such as `project`, `check` or `scenario`, lists its
    keys. A word that reports print, such as `UNCLEAR`, `coverage` or `two-tier`, is explained with the guide to it.
    """
    option(
        parser,
        "code",
        "NAME",
        "what to explain, such as `unknown-key`, `contains_any` or `library/tool-call-valid`",
        nargs="?",
    )
    formats(parser, "human", "json")


def eval_arguments(parser: argparse.ArgumentParser) -> None:
    """Evaluate one expression on a JSON or YAML context.

    The variables of the context need no declaration: an unknown path is an absent value, and an unknown word with an
    upper-case letter on the right of a comparison is a constant. `--as` evaluates the expression as a condition of
    that kind: an absent value counts as not met in permitting and exempting conditions, and as met in guarding ones.
    """
    option(parser, "expression", "EXPR", "the expression, for instance 'review.decision == GO'")
    option(parser, "--context", "FILE", "a JSON or YAML file of values; - reads JSON from standard input")
    flag(parser, "--strict", "evaluate plain CEL, without the profile")
    parser.add_argument(
        "--as",
        dest="place",
        choices=("permitting", "guarding", "exempting"),
        help="decide the expression as a condition of this kind",
    )
    formats(parser, "human", "json")


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
    option(
        parser,
        "paths",
        "PATH",
        "scorecards, policies, workflows, checks or folders (default: the nearest project)",
        nargs="*",
        type=existing,
    )
    repeated(parser, "--set", "NAME=VALUE", "set a parameter")
    flag(parser, "--allow-no-claims", "exit with 0 if nothing is claimed")
    _add_config(parser)
    formats(parser, "human", "json")


def _add_config(parser: argparse.ArgumentParser) -> None:
    about = "the settings file, or the declarations of a policy's variables"
    option(parser, "--config", "FILE", about, type=existing_file)


def policy_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Show the inputs for which two policies decide differently, or prove that there are none.

    ONE and TWO are two scorecards, CEL policies, checks, lexicons or workflows. Every region of inputs on which they
    differ is shown in the terms of the documents, with an example input on which both were executed: a row of
    verdicts for a scorecard, a text for a lexicon. --run lists the transcripts of a finished run that would change,
    or the cases of a JSON report of `score`.
    """
    option(parser, "one", "ONE", "a scorecard, a policy, a check, a lexicon or a workflow", type=existing_file)
    option(parser, "two", "TWO", "another one of the same kind", type=existing_file)
    repeated(parser, "--set", "NAME=VALUE", "set a parameter of both documents")
    _add_config(parser)
    option(parser, "--run", "RUN", "list what would change in this run or report")
    option(parser, "--project", "PATH", "the project of the checks (default: the project around ONE or TWO)")
    formats(parser, "human", "json")
