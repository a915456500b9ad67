"""The exit codes of every command: one table, the source of each `--help` and of the reference page."""

MET, FAILED, UNDECIDED, REFUSED = 0, 1, 2, 3
INTERRUPTED = 130

_RUN = {
    MET: "every gate passed; without gates, no check failed",
    FAILED: "a gate failed; without gates, a check failed",
    UNDECIDED: "a gate is undecided, too few checks were decided, or no check applied",
}
_SCAN = {
    **_RUN,
    UNDECIDED: "a gate is undecided, too few checks were decided, no check applied, or a limit ended the run",
    REFUSED: "refused input, an unreachable judge or one without verdicts, errors in project or plan, or bad usage",
}
EXIT_CODES: dict[str, dict[int, str]] = {
    "init": {
        MET: "written",
        FAILED: "written, but a part of the configuration is not translated",
        REFUSED: "a file already exists, or bad usage",
    },
    "demo": {MET: "the demo ran", REFUSED: "the demo failed, or bad usage"},
    "inspect-data": {MET: "shown", REFUSED: "an input was refused, or bad usage"},
    "convert": {MET: "written", REFUSED: "an input was refused or missing, a file already exists, or bad usage"},
    "completion": {MET: "printed", REFUSED: "an unknown shell, or bad usage"},
    "lint": {MET: "no finding fails", FAILED: "findings at or above --fail-level", REFUSED: "bad usage"},
    "lsp": {
        MET: "the editor closed the session",
        FAILED: "the editor disconnected",
        REFUSED: "the extra is missing, or bad usage",
    },
    "explain": {MET: "printed", REFUSED: "an unknown name, or bad usage"},
    "eval": {
        MET: "a value; with --as: met",
        FAILED: "no value; with --as: not met",
        REFUSED: "an expression with mistakes, or bad usage",
    },
    "prove": {
        MET: "everything is proved",
        FAILED: "something is refuted",
        UNDECIDED: "something is neither proved nor refuted, or nothing is claimed (see --allow-no-claims)",
        REFUSED: "a document with mistakes, or bad usage",
    },
    "policy-diff": {
        MET: "the two are proved equivalent",
        FAILED: "an input or a stored row shows a difference",
        UNDECIDED: "neither a difference nor a proof was found",
        REFUSED: "a document with mistakes, two that can't be compared, or bad usage",
    },
    "compile": {MET: "compiled", REFUSED: "the project has errors, or bad usage"},
    "plan": {MET: "planned", REFUSED: "the project has errors, an input was refused, or bad usage"},
    "scan": _SCAN,
    "run": _SCAN,
    "questions": {MET: "written", REFUSED: "the project has errors, an input was refused, or bad usage"},
    "record": {MET: "written", REFUSED: "a run that can't be read or has no replies, or bad usage"},
    "models": {MET: "the model answers with a verdict", REFUSED: "the model gives no verdict, or bad usage"},
    "cache": {
        MET: "done",
        FAILED: "a file still names the transcript, or can't be searched",
        REFUSED: "no such ledger or transcript, or bad usage",
    },
    "harness": {
        MET: "every scenario was played to its end",
        FAILED: "a turn was not answered",
        REFUSED: "an error in a scenario, a model that can't be opened, or bad usage",
    },
    "why": {MET: "explained", REFUSED: "no such verdict, a run that can't be read, or bad usage"},
    "report": {**_RUN, REFUSED: "the scan refused input, a run that can't be read, or bad usage"},
    "serve": {MET: "stopped", REFUSED: "a run that can't be read, a port that is taken, or bad usage"},
    "adjudicate": {
        MET: "nothing waits for a person, and the run passed",
        FAILED: "the run failed, and nothing waits for a person or a decision was recorded",
        UNDECIDED: "a verdict waits for a person, or the run is undecided",
        REFUSED: "the scan refused input, a decision that was refused, a run that can't be read, or bad usage",
    },
    "diff": {
        MET: "not worse",
        FAILED: "worse",
        UNDECIDED: "inconclusive",
        REFUSED: "a run that can't be read, runs with nothing in common, or bad usage",
    },
    "whatif": {
        MET: "no transcript and no gate with a pass rate would change",
        FAILED: "a transcript or a gate with a pass rate would change",
        UNDECIDED: "unknown: a check was never asked",
        REFUSED: "a run that can't be read, an unknown parameter or scorecard, or bad usage",
    },
    "rescore": {**_RUN, REFUSED: "the scan refused input, a check that was never asked, or bad usage"},
    "leaderboard": {
        MET: "every model is ranked",
        FAILED: "a model is not ranked, a scan refused input, or a failure is unconfirmed",
        UNDECIDED: "every model is ranked, but transcripts wait for a person",
        REFUSED: "runs that can't be read or compared, or bad usage",
    },
    "gold": {MET: "drawn", REFUSED: "a run that can't be read, a file already exists, or bad usage"},
    "calibrate": {
        MET: "every gate fails at most as often as --require allows",
        FAILED: "a gate fails more often",
        UNDECIDED: "inconclusive: an interval contains the limit, or no label can be compared",
        REFUSED: "unreadable labels, a threshold reported on its own split, or bad usage",
    },
    "export": {MET: "written", REFUSED: "a run that can't be read or was changed, pyarrow is missing, or bad usage"},
    "score": {
        MET: "every case passes",
        FAILED: "a case fails, or the run is worse than its baseline",
        UNDECIDED: "a case needs review, or the judge gave no usable reply",
        REFUSED: "a case could not be scored (see --allow-errors), an error, or bad usage",
    },
    "workflow": {
        MET: "completed (check: no errors)",
        FAILED: "failed (check: errors)",
        UNDECIDED: "waiting for a person, or paused",
        REFUSED: "refused, or bad usage",
    },
    "hil": {MET: "done", FAILED: "the decision was refused", REFUSED: "bad usage"},
}


def table() -> str:
    """Return the exit codes of all commands as the Markdown table of the reference page."""
    lines = ["| command | 0 | 1 | 2 | 3 |", "| --- | --- | --- | --- | --- |"]
    for command, codes in EXIT_CODES.items():
        cells = (codes.get(code, "") for code in (MET, FAILED, UNDECIDED, REFUSED))
        lines.append(f"| `{command}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
