"""The arguments of the commands that read finished runs: each function's docstring is the help of its command."""

import argparse

from rulewright.arguments.shared_options import (
    add_fail_on,
    add_finished_run,
    add_policy_options,
    add_sources,
    at_least,
    flag,
    formats,
    number,
    option,
    output,
    printed,
    repeated,
    whole,
)


def why_arguments(parser: argparse.ArgumentParser) -> None:
    """Explain one verdict of a run: the question, the judge's replies, the evidence, and the effect on the gates.

    Without CHECK, the verdicts on TRANSCRIPT are listed; without TRANSCRIPT, every FAIL and UNCLEAR of the run, or of
    CHECK. A first word that is not a folder names a transcript or a check of the latest run. Everything is read from
    the folder RUN; nothing is run again.
    """
    add_finished_run(parser)
    option(parser, "transcript", "TRANSCRIPT", "the id of a transcript", nargs="?")
    option(parser, "check", "CHECK", "the id of a check", nargs="?")
    flag(parser, "--prompt", "also print the prompt of the judge")
    formats(parser, "human", "json")


def report_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run as a page: its result, what waits for a person, and every failure in its conversation.

    Everything is read from the folder RUN, and the conversations from their original files; nothing is run again.
    With more than 200 transcripts, the conversations are written to linked pages in a folder next to the page. The
    pages need no network and work without their script.
    """
    add_finished_run(parser)
    output(parser, "FILE", "write the report to FILE; - prints it (default: report.html in RUN)")
    formats(parser, "html", "json", "junit", "sarif", "github", "markdown", note="others are printed without --out")
    flag(parser, "--one-file", "write all conversations into one file, regardless of their number")
    flag(parser, "--no-conversations", "omit the conversations")
    add_sources(parser)
    add_fail_on(parser)


def serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Show finished runs as pages for a browser, on this machine only, and take people's decisions and labels.

    RUNS are folders of runs, or folders that contain runs. Decisions about waiting verdicts are written to
    RUN/adjudicated, as by `rulewright adjudicate`; labels are written to RUN/labels/CHECK.csv (id, target, annotator,
    split), and annotators do not see the verdict of the check. --workflow adds the queue of a workflow to the same
    site.

    The printed address contains a key; without it nothing is shown.
    """
    option(parser, "runs", "RUNS", "folders that are runs or contain some (default: runs)", nargs="*", default=["runs"])
    option(
        parser,
        "--port",
        "PORT",
        "the port (default: 8643); 0 selects a free one",
        type=at_least(0, 65535),
        default=8643,
    )
    add_sources(parser)
    option(parser, "--workflow", "FILE", "also show the queue of this workflow")


def adjudicate_arguments(parser: argparse.ArgumentParser) -> None:
    """List the verdicts of a run that wait for a person, record decisions, and recompute the run with them.

    Without decisions, the command lists the waiting verdicts; `--format jsonl` prints them as lines to fill in
    (`verdict`, `why`) and to read back with --file, and `serve` shows them with their conversations. The run itself is
    not changed: the recomputed run is written to RUN/adjudicated (or --out), and `report`, `leaderboard` and `diff`
    read it like any other run.
    """
    add_finished_run(parser)
    parser.add_argument(
        "--decide",
        nargs=3,
        action="append",
        default=[],
        metavar=("TRANSCRIPT", "CHECK", "VERDICT"),
        help="decide one verdict: PASS, FAIL or NOT_APPLICABLE (repeatable)",
    )
    option(parser, "--why", "TEXT", "the reason, needed by --decide")
    option(parser, "--file", "FILE", "read decisions from FILE, one JSON object per line")
    option(parser, "--by", "NAME", "who decides, needed by --decide and --file", default="")
    output(parser, "FOLDER", "write the recomputed run to FOLDER (default: RUN/adjudicated)")
    formats(parser, "human", "jsonl")


def diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Compare two finished runs: what flipped, worst first, why, and whether the second is worse.

    The causes of a flipped verdict (transcript, judge reply, rule, scenario) and of a flipped outcome (verdicts,
    scorecard, threshold) are found by recombining the two runs, without asking a judge. To separate several changes,
    the conversations are read again from their original files or from --transcripts, and recorded replies from
    --replies.

    AFTER is worse if a transcript newly fails, a check fails significantly more often, or the mean score is lower
    beyond the margin and beyond chance. It is not worse if all of that can be ruled out; otherwise the result is
    inconclusive.
    """
    option(parser, "before", "BEFORE", "the folder of the run to compare with")
    option(parser, "after", "AFTER", "the folder of the run to compare")
    parser.add_argument(
        "--pair",
        choices=("transcript", "scenario"),
        help="how transcripts are paired (default: by their ids; by scenario if no id is in both)",
    )
    add_sources(parser)
    option(
        parser, "--margin", "D", "largest drop of the mean score that is still not worse (default: 0.05)", type=number
    )
    flag(parser, "--across-judges", "compare runs of different judges")
    printed(parser, "the comparison")
    formats(parser, "human", "markdown", "html", "json")


def whatif_arguments(parser: argparse.ArgumentParser) -> None:
    """Show how other parameters, another scorecard or another profile would change a finished run.

    The recorded verdicts are scored again; no judge is asked, and nothing is written. --set changes a parameter of
    the scorecard, and --scorecard selects another scorecard of the project. --profile, --votes and --majority-of
    count the recorded replies again. --sweep finds every value of a parameter at which a transcript changes, or the
    result of a gate with that pass rate; `--sweep votes` does the same for the number of votes. A verdict that needs a
    question that was never asked is listed as unknown. `rulewright rescore` writes the changed run. If RUN is a JSON
    report of `rulewright score`, its cases are labelled again from their recorded scores.
    """
    add_policy_options(parser, "the folder that a scan wrote, or a JSON report of `score`")
    option(parser, "--sweep", "NAME", "find the values of this parameter at which transcripts change")
    formats(parser, "human", "json")


def rescore_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run again under other parameters, another scorecard or another profile.

    The recorded verdicts are scored again; no judge is asked. --profile, --votes and --majority-of count the recorded
    replies again. The new run holds its plan, verdicts, scores and a summary that names the original run under
    `rescored`. If a verdict needs a question that was never asked, nothing is written.
    """
    add_policy_options(parser)
    output(parser, "FOLDER", "write the new run to FOLDER", required=True)


def leaderboard_arguments(parser: argparse.ArgumentParser) -> None:
    """Rank the models of finished runs that have the same plan and scenarios.

    All runs must have the same plan, parameters and judge. A transcript without a score counts as 0 and is listed as
    unscored. If answers are missing, a score is the interval between the worst and the best completion. A rank is the
    range of places that paired tests can't exclude.
    """
    option(parser, "runs", "RUN", "folders that scans wrote", nargs="+")
    parser.add_argument(
        "--harness",
        action="append",
        metavar="NAME",
        help="also rank transcripts of this harness (default: llm/raw; `unrecorded`: those that name none)",
    )
    output(parser, "FILE", "write the leaderboard to FILE as JSON; - prints only that")
    formats(parser, "human", "json", "markdown")


def gold_arguments(parser: argparse.ArgumentParser) -> None:
    """Draw items of a run for people to label.

    The CSV has the columns `id,target,annotator,split`. Items are balanced over the verdicts of the checks that a
    judge decides or a gate contains, in an order given by the seed, and do not show the verdicts. Write PASS, FAIL or
    NOT_APPLICABLE under `target` and your name under `annotator`; add a line for each further annotator.
    `rulewright calibrate` reads the file.
    """
    add_finished_run(parser)
    option(parser, "--draw", "N", "number of items (default: 50)", type=whole, default=50)
    option(parser, "--seed", "N", "seed of the order (default: 1)", type=whole, default=1)
    repeated(parser, "--check", "ID", "draw only items of this check")
    repeated(parser, "--split", "NAME", "the split of the items, alternating if several are given (default: report)")
    option(parser, "--known", "FILE", "skip the items in this CSV")
    flag(parser, "--fingerprint", "add a column by which `calibrate` refuses labels of changed conversations")
    printed(parser, "the CSV")


def calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    """Compare a run's verdicts with human labels, and propagate the judge's errors to rates and gates.

    For every check, it reports precision, recall, balanced accuracy and kappa against the labels, and the corrected
    share of failures, with 95% intervals. For every gate, it estimates through the scorecard how often the gate truly
    fails; --require GATE=SHARE sets the limit. A gate whose interval contains the limit is inconclusive.

    --measured-on uses the labels of another run of the same judge. --choose-on SPLIT chooses the confidence threshold
    of a FAIL on one split; report on another with --split. Labels by `model:` annotators are counted separately and
    are never gold.
    """
    add_finished_run(parser)
    option(parser, "--gold", "FILE", "read labels from FILE, as `rulewright gold` writes it", required=True)
    option(parser, "--split", "NAME", "report on this split only")
    option(parser, "--measured-on", "RUN", "use labels of this other run of the same judge")
    option(parser, "--choose-on", "SPLIT", "choose a confidence threshold on this split")
    repeated(parser, "--require", "GATE=SHARE", "the largest share of transcripts that may fail the gate")
    formats(parser, "human", "json")


def export_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run as Parquet, CSV, OpenTelemetry events or Every Eval Ever reports.

    `csv` writes verdicts.csv and scores.csv, which spreadsheets open. `parquet` writes verdicts.parquet and
    scores.parquet next to the run's JSON lines and needs `pip install 'rulewright[data]'`. `otel` writes a file of
    `gen_ai.evaluation.result` events that a collector can read. `every-eval-ever` writes a folder with one report per
    model.
    """
    add_finished_run(parser)
    formats(parser, "parquet", "csv", "otel", "every-eval-ever")
    output(parser, "PATH", "write to PATH, a folder or a file of events; - prints events (default: in RUN)")
    reported = parser.add_argument_group("Every Eval Ever reports")
    option(reported, "--dataset", "NAME", "the name of the dataset (default: the name of RUN)")
    option(reported, "--organization", "NAME", "who evaluated (default: unknown)", default="unknown")
    option(
        reported,
        "--relationship",
        "KIND",
        "who evaluated the model: `first_party`, `third_party`, `collaborative` or `other` (default)",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
    )
