"""The arguments of the commands that read finished runs: each function's docstring is the help of its command."""

from __future__ import annotations

import argparse

from rulewright.arguments.shared_options import add_fail_on, add_policy_options, add_sources


def why_arguments(parser: argparse.ArgumentParser) -> None:
    """Explain one verdict of a run: who was asked, about what, what came back, and what it did to the gates.

    Everything is read from the folder RUN; nothing is run again.
    """
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("transcript", metavar="TRANSCRIPT", help="a transcript's id")
    parser.add_argument("check", metavar="CHECK", help="a check's id")
    parser.add_argument("--prompt", action="store_true", help="also print the prompt of the judge")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def report_arguments(parser: argparse.ArgumentParser) -> None:
    """Show a finished run as a page: what it came to, what waits for people, and every failure with its conversation.

    Everything is read from the folder RUN, and the conversations from their original files; nothing is run again.
    With more than 200 transcripts, the conversations are on linked pages in a folder next to the page. The pages need
    no network and work without their script.
    """
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: report.html in RUN; - prints)")
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
    parser.add_argument("runs", nargs="+", metavar="RUNS", help="folders of runs, or folders that hold some")
    parser.add_argument("--port", type=int, default=8643, metavar="PORT", help="0 selects a free port")
    add_sources(parser)
    parser.add_argument("--workflow", metavar="FILE", help="also show the queue of this workflow")


def adjudicate_arguments(parser: argparse.ArgumentParser) -> None:
    """Show what of a run waits for a person, take decisions, and recompute the run with them.

    Without decisions, the command lists the waiting verdicts; `--format jsonl` prints them as lines to fill in
    (`verdict`, `why`) and to read back with --file. In a terminal, --ask goes through them one by one. The run itself
    is not changed: the recomputed run is written to RUN/adjudicated (or --out) and is a run like any other for
    `report`, `leaderboard` and `diff`.
    """
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument(
        "--decide",
        nargs=3,
        action="append",
        default=[],
        metavar=("TRANSCRIPT", "CHECK", "VERDICT"),
        help="decide one verdict: PASS, FAIL or NOT_APPLICABLE (may be repeated)",
    )
    parser.add_argument("--why", metavar="TEXT", help="why, for --decide")
    parser.add_argument("--file", metavar="FILE", help="decisions as lines of JSON")
    parser.add_argument("--ask", action="store_true", help="decide interactively in the terminal")
    parser.add_argument("--by", metavar="NAME", default="", help="the person who decides")
    parser.add_argument("--out", metavar="FOLDER", help="where the recomputed run goes (default: RUN/adjudicated)")
    parser.add_argument("--format", choices=("human", "jsonl"), default="human", help="format of the list")


def diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Compare two finished runs: what flipped, worst first, why, and whether the second is worse.

    The causes of a flip (transcript, judge reply, rule, scenario; of a transcript's outcome verdicts, scorecard,
    threshold) are found by recombining the two runs, without asking a judge. To separate several changes, the
    conversations are read again from their original files or from --transcripts, and recorded replies from --replies.

    AFTER is worse when a transcript fails that did not, a check fails significantly more often, or the mean score is
    lower beyond the margin and beyond chance. It is not worse when all of that can be ruled out; otherwise the result
    is inconclusive.
    """
    parser.add_argument("before", metavar="BEFORE", help="the folder of the run to compare with")
    parser.add_argument("after", metavar="AFTER", help="the folder of the run in question")
    parser.add_argument(
        "--pair", choices=("transcript", "scenario"), default="transcript", help="how transcripts are paired"
    )
    add_sources(parser)
    parser.add_argument(
        "--margin", type=float, metavar="D", help="largest decrease of the mean score that is not worse (default: 0.05)"
    )
    parser.add_argument("--across-judges", action="store_true", help="compare runs of different judges")
    parser.add_argument("--out", metavar="FILE", help="write the comparison to FILE")
    parser.add_argument("--format", choices=("human", "markdown", "html", "json"), default="human")


def whatif_arguments(parser: argparse.ArgumentParser) -> None:
    """Show how other parameters, another scorecard or another profile would change a finished run.

    The recorded verdicts are scored again; no judge is asked, and nothing is written. --set changes a parameter of
    the scorecard, --scorecard selects another scorecard of the project, and --profile another profile, with whose
    votes recorded replies are counted again. --votes and --majority-of count them again by other rules.
    --sweep finds every value of a parameter at which a transcript changes, or with `votes` every number of votes.
    Verdicts that would need a question that was never asked are named, not guessed. `rulewright rescore` writes such
    a run. Of a JSON report of `rulewright score` the cases are labelled again by their recorded scores.
    """
    add_policy_options(parser, "the folder that a scan wrote, or a JSON report of `score`")
    parser.add_argument("--sweep", metavar="NAME", help="find the values of this parameter at which transcripts change")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def rescore_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run again under other parameters, another scorecard or another profile.

    The recorded verdicts are scored again; no judge is asked. Under another profile recorded replies are counted again
    by its votes, and with --votes or --majority-of by these. The new run holds its plan, its verdicts, new scores and
    a new summary, which says under `rescored` what it came from. Where a verdict would need a question that was never
    asked, nothing is written.
    """
    add_policy_options(parser)
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the new run goes")


def leaderboard_arguments(parser: argparse.ArgumentParser) -> None:
    """Rank the models of finished runs: the same plan, the same scenarios, raw transcripts only.

    Every RUN is a folder that a scan wrote; all must have run the same plan with the same parameters and judge. A
    transcript without a score counts as 0 and is listed as unscored. If answers are missing, a score is the interval
    between the worst and the best completion. A rank is the range that paired tests leave possible.

    --out writes the leaderboard as JSON, the same bytes for the same runs.
    """
    parser.add_argument("runs", nargs="+", metavar="RUN", help="folders that scans wrote")
    parser.add_argument(
        "--harness",
        action="append",
        metavar="NAME",
        help="also rank transcripts of this harness (default: llm/raw; `unrecorded`: transcripts that name none)",
    )
    parser.add_argument("--out", metavar="FILE", help="write the leaderboard as JSON")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def gold_arguments(parser: argparse.ArgumentParser) -> None:
    """Draw items of a run for people to label.

    The CSV has the columns `id,target,annotator,split`. Items are balanced over checks and verdicts, in an order
    given by the seed, and do not show the verdicts. Write PASS, FAIL or NOT_APPLICABLE under `target` and a name
    under `annotator`; add a line for each further annotator. `rulewright calibrate` reads the file.
    """
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--draw", type=int, default=50, metavar="N", help="how many items (default: 50)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the order (default: 1)")
    parser.add_argument("--check", action="append", default=[], metavar="ID", help="draw of this check (repeatable)")
    parser.add_argument(
        "--split",
        action="append",
        default=[],
        metavar="NAME",
        help="split of the items (report); several alternate",
    )
    parser.add_argument("--known", metavar="FILE", help="skip items that this CSV contains")
    parser.add_argument(
        "--fingerprint",
        action="store_true",
        help="add the column `conversation`: labels of a conversation that has changed since are then refused",
    )
    parser.add_argument("--out", metavar="FILE", help="write the CSV there (default: print it)")


def calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    """Compare a run's verdicts with human labels, and propagate the judge's errors to rates and gates.

    For every check: precision, recall, balanced accuracy and kappa against the labels, and the share of failures
    corrected by them, with 95 % intervals. For every gate: how often it truly fails, computed through the scorecard;
    --require GATE=SHARE sets the limit. A gate whose interval contains the limit is inconclusive.

    --measured-on uses labels of another run of the same judge. --choose-on SPLIT chooses the confidence threshold of
    a FAIL; report on another --split. Labels by `model:` annotators are counted separately and are never gold.
    """
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--gold", required=True, metavar="FILE", help="labels, as `rulewright gold` draws them")
    parser.add_argument("--split", metavar="NAME", help="report on this split only")
    parser.add_argument("--measured-on", metavar="RUN", help="the labels belong to this other run")
    parser.add_argument("--choose-on", metavar="SPLIT", help="choose a threshold of confidence on this split")
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="GATE=SHARE",
        help="largest share that may truly fail the gate",
    )
    parser.add_argument("--format", choices=("human", "json"), default="human")


def export_arguments(parser: argparse.ArgumentParser) -> None:
    """Write a finished run as Parquet, as events of OpenTelemetry, or as reports of Every Eval Ever.

    `parquet` writes verdicts.parquet and scores.parquet beside the run's JSON lines (`rulewright[data]`), `otel` a
    file of `gen_ai.evaluation.result` events as a collector takes them, `every-eval-ever` a folder with a report for
    each model.
    """
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument(
        "--format",
        choices=("parquet", "otel", "every-eval-ever"),
        default="parquet",
        help="format (parquet)",
    )
    parser.add_argument("-o", "--out", metavar="PATH", help="a folder, or a file of events (in RUN)")
    reported = parser.add_argument_group("reports of Every Eval Ever")
    reported.add_argument("--dataset", help="name of the dataset (the name of RUN)")
    reported.add_argument("--organization", default="unknown", help="who evaluated")
    reported.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        help="the evaluator's relationship to the model's developer (other)",
    )
