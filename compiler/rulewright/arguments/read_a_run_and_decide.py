"""The arguments of the commands that read finished runs: each function's docstring is the help of its command."""

from __future__ import annotations

import argparse

from rulewright.arguments.shared_options import add_fail_on, add_finished_run, add_policy_options, add_sources


def why_arguments(parser: argparse.ArgumentParser) -> None:
    """Explain one verdict of a run: the question, the judge's replies, the evidence, and the effect on the gates.

    Without CHECK, the verdicts on TRANSCRIPT are listed; without TRANSCRIPT, every FAIL and UNCLEAR of the run. A first
    word that is not a folder names a transcript of the latest run. Everything is read from the folder RUN; nothing is
    run again.
    """
    add_finished_run(parser)
    parser.add_argument("transcript", metavar="TRANSCRIPT", nargs="?", help="a transcript's id")
    parser.add_argument("check", metavar="CHECK", nargs="?", help="a check's id")
    parser.add_argument("--prompt", action="store_true", help="also print the prompt of the judge")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def report_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run as a page: its result, what waits for a person, and every failure in its conversation.

    Everything is read from the folder RUN, and the conversations from their original files; nothing is run again.
    With more than 200 transcripts, the conversations are written to linked pages in a folder next to the page. The
    pages need no network and work without their script.
    """
    add_finished_run(parser)
    parser.add_argument("-o", "--out", metavar="FILE", help="where to write (default: report.html in RUN; - prints)")
    parser.add_argument(
        "--format",
        choices=("html", "json", "junit", "sarif", "github", "markdown"),
        default="html",
        help="all but html print unless --out is given",
    )
    parser.add_argument(
        "--one-file", action="store_true", help="write all conversations into one file, regardless of their number"
    )
    parser.add_argument("--no-conversations", action="store_true", help="omit the conversations")
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
    parser.add_argument(
        "runs", nargs="*", default=["runs"], metavar="RUNS",
        help="folders of runs, or folders that hold some (default: runs)",
    )  # fmt: skip
    parser.add_argument("--port", type=int, default=8643, metavar="PORT", help="0 selects a free port")
    add_sources(parser)
    parser.add_argument("--workflow", metavar="FILE", help="also show the queue of this workflow")


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
    parser.add_argument("--why", metavar="TEXT", help="the reason for --decide")
    parser.add_argument("--file", metavar="FILE", help="decisions as lines of JSON")
    parser.add_argument("--by", metavar="NAME", default="", help="the person who decides")
    parser.add_argument(
        "-o", "--out", metavar="FOLDER", help="where the recomputed run goes (default: RUN/adjudicated)"
    )
    parser.add_argument("--format", choices=("human", "jsonl"), default="human", help="format of the list")


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
    parser.add_argument("before", metavar="BEFORE", help="the folder of the run to compare with")
    parser.add_argument("after", metavar="AFTER", help="the folder of the run to compare")
    parser.add_argument(
        "--pair",
        choices=("transcript", "scenario"),
        default="transcript",
        help="how transcripts are paired (default: transcript)",
    )
    add_sources(parser)
    parser.add_argument(
        "--margin", type=float, metavar="D", help="largest decrease of the mean score that is not worse (default: 0.05)"
    )
    parser.add_argument("--across-judges", action="store_true", help="compare runs of different judges")
    parser.add_argument("-o", "--out", metavar="FILE", help="write the comparison to FILE")
    parser.add_argument("--format", choices=("human", "markdown", "html", "json"), default="human")


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
    parser.add_argument("--sweep", metavar="NAME", help="find the values of this parameter at which transcripts change")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def rescore_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run again under other parameters, another scorecard or another profile.

    The recorded verdicts are scored again; no judge is asked. --profile, --votes and --majority-of count the recorded
    replies again. The new run holds its plan, verdicts, scores and a summary that names the original run under
    `rescored`. If a verdict needs a question that was never asked, nothing is written.
    """
    add_policy_options(parser)
    parser.add_argument("-o", "--out", required=True, metavar="FOLDER", help="where the new run goes")


def leaderboard_arguments(parser: argparse.ArgumentParser) -> None:
    """Rank the models of finished runs that have the same plan and scenarios.

    All runs must have the same plan, parameters and judge. A transcript without a score counts as 0 and is listed as
    unscored. If answers are missing, a score is the interval between the worst and the best completion. A rank is the
    range of places that paired tests can't exclude.

    --out writes the leaderboard as JSON, the same bytes for the same runs.
    """
    parser.add_argument("runs", nargs="+", metavar="RUN", help="folders that scans wrote")
    parser.add_argument(
        "--harness",
        action="append",
        metavar="NAME",
        help="also rank transcripts of this harness (default: llm/raw; `unrecorded`: transcripts that name none)",
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="write the leaderboard as JSON")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def gold_arguments(parser: argparse.ArgumentParser) -> None:
    """Draw items of a run for people to label.

    The CSV has the columns `id,target,annotator,split`. Items are balanced over the verdicts of the checks that a
    judge decides or a gate contains, in an order given by the seed, and do not show the verdicts. Write PASS, FAIL or
    NOT_APPLICABLE under `target` and your name under `annotator`; add a line for each further annotator.
    `rulewright calibrate` reads the file.
    """
    add_finished_run(parser)
    parser.add_argument("--draw", type=int, default=50, metavar="N", help="how many items (default: 50)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the order (default: 1)")
    parser.add_argument("--check", action="append", default=[], metavar="ID", help="only this check (repeatable)")
    parser.add_argument(
        "--split",
        action="append",
        default=[],
        metavar="NAME",
        help="the split of the items (default: report); several alternate",
    )
    parser.add_argument("--known", metavar="FILE", help="skip the items in this CSV")
    parser.add_argument(
        "--fingerprint",
        action="store_true",
        help="add the column `conversation`, so that `calibrate` refuses labels of conversations that have changed",
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="write the CSV there (default: print it)")


def calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    """Compare a run's verdicts with human labels, and propagate the judge's errors to rates and gates.

    For every check, it reports precision, recall, balanced accuracy and kappa against the labels, and the corrected
    share of failures, with 95 % intervals. For every gate, it estimates through the scorecard how often the gate truly
    fails; --require GATE=SHARE sets the limit. A gate whose interval contains the limit is inconclusive.

    --measured-on uses the labels of another run of the same judge. --choose-on SPLIT chooses the confidence threshold
    of a FAIL on one split; report on another with --split. Labels by `model:` annotators are counted separately and
    are never gold.
    """
    add_finished_run(parser)
    parser.add_argument("--gold", required=True, metavar="FILE", help="labels, as `rulewright gold` draws them")
    parser.add_argument("--split", metavar="NAME", help="report on this split only")
    parser.add_argument("--measured-on", metavar="RUN", help="use labels of this other run of the same judge")
    parser.add_argument("--choose-on", metavar="SPLIT", help="choose a confidence threshold on this split")
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="GATE=SHARE",
        help="the largest share of transcripts that may truly fail the gate",
    )
    parser.add_argument("--format", choices=("human", "json"), default="human")


def export_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run as Parquet, OpenTelemetry events or Every Eval Ever reports.

    `parquet` writes verdicts.parquet and scores.parquet beside the run's JSON lines and needs `rulewright[data]`.
    `otel` writes a file of `gen_ai.evaluation.result` events that a collector can read. `every-eval-ever` writes a
    folder with one report per model.
    """
    add_finished_run(parser)
    parser.add_argument(
        "--format",
        choices=("parquet", "otel", "every-eval-ever"),
        default="parquet",
        help="the format (default: parquet)",
    )
    parser.add_argument("-o", "--out", metavar="PATH", help="a folder, or a file of events (default: in RUN)")
    reported = parser.add_argument_group("Every Eval Ever reports")
    reported.add_argument("--dataset", metavar="NAME", help="the name of the dataset (default: the name of RUN)")
    reported.add_argument("--organization", metavar="NAME", default="unknown", help="who evaluated (default: unknown)")
    reported.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        metavar="KIND",
        help="who evaluated the model: `first_party`, `third_party`, `collaborative` or `other` (default)",
    )
