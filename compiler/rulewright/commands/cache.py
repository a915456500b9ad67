"""`cache`: inspect, export or prune the ledger of calls."""

import argparse
import json
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from rulewright.arguments.shared_options import LEDGER
from rulewright.commands.output import answer, hand_over
from rulewright.documents.layout import nearest_project
from rulewright.errors import UsageError
from rulewright.project import load_project
from rulewright.reporting.forget import forget, summary_lines
from rulewright_runtime.calls.ledger import Ledger, LedgerError
from rulewright_runtime.english import plural
from rulewright_runtime.models.call import Usage
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import say

DAY = 86400.0
_COUNTED = ("calls", "answered", "input_tokens", "output_tokens", "uncounted")


class _Answered(msgspec.Struct):
    """What the figures read of an answer."""

    usage: Usage = Usage()


def run(args: argparse.Namespace) -> int:
    """Run the action; return the exit code. Raises UsageError."""
    path = Path(args.ledger) if args.ledger else _root() / LEDGER
    if args.action == "prune" and args.transcript is not None:
        return _forget(path, args)
    if path.is_dir():
        raise UsageError(f"`{path}` is a folder; name the file of a ledger")
    if not path.is_file():
        raise UsageError(f"ledger not found: `{path}`; a scan with a model as judge creates it")
    with closing(Ledger(path)) as ledger, _readable(path):
        {"stats": _stats, "export": _export, "prune": _prune_older}[args.action](ledger, args)
    return 0


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """Raises LedgerError for rows with other values than a ledger stores."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise LedgerError(f"the ledger `{path}` contains a row that can't be read: {error}") from error


def _root(ledger: str | None = None) -> Path:
    """The folder of the project of a ledger, else of the nearest project, else the working folder."""
    if ledger is not None and Path(ledger).resolve().parent.name == Path(LEDGER).parent.name:
        return Path(ledger).resolve().parent.parent
    found = nearest_project()
    return load_project(found).root if found is not None else Path()


def _stats(ledger: Ledger, args: argparse.Namespace) -> None:
    found = _figures(ledger)
    answer(args.format, found, _shown(found))


def _shown(found: JsonMapping) -> Iterator[str]:
    yield f"ledger      {found['ledger']}, {found['bytes']} bytes"
    for model, row in found["models"].items():
        usd = "" if row["usd"] is None else f", ${row['usd']}"
        lacking = f" ({plural(row['uncounted'], 'answer')} without a count)" if row["uncounted"] else ""
        tokens = f"{row['input_tokens']} tokens in, {row['output_tokens']} out{lacking}"
        yield f"model       {model}: {row['answered']} of {plural(row['calls'], 'call')} answered, {tokens}{usd}"
    yield f"attempts    {', '.join(f'{number} {kind}' for kind, number in found['attempts'].items()) or 'none'}"
    yield f"runs        {found['runs']} with {plural(found['transcripts'], 'transcript')}"


def _figures(ledger: Ledger) -> dict[str, Any]:
    models: dict[str, Counter[str]] = {}
    for identity, state, answered in ledger.rows("select identity, state, answer from calls"):
        who = json.loads(identity)
        counts = models.setdefault(f"{who['provider']}:{who['model']}", Counter(dict.fromkeys(_COUNTED, 0)))
        usage = None if answered is None else msgspec.json.decode(answered, type=_Answered).usage
        counts.update(
            calls=1,
            answered=state == "done",
            input_tokens=(usage and usage.input_tokens) or 0,
            output_tokens=(usage and usage.output_tokens) or 0,
            uncounted=usage is not None and None in (usage.input_tokens, usage.output_tokens),
        )
    spent: dict[str, Decimal] = {}
    for identity, usd in ledger.rows("select identity, usd from attempts join calls using (key) where usd is not null"):
        who = json.loads(identity)
        name = f"{who['provider']}:{who['model']}"
        spent[name] = spent.get(name, Decimal()) + Decimal(usd)
    attempts = ledger.rows("select outcome, count(*) from attempts group by outcome order by 2 desc, 1")
    ((runs, transcripts),) = ledger.rows("select count(distinct run), count(distinct transcript_id) from uses")
    return {
        "ledger": ledger.path,
        "bytes": Path(ledger.path).stat().st_size,
        "models": {
            name: {**counts, "usd": str(spent[name]) if name in spent else None}
            for name, counts in sorted(models.items())
        },
        "attempts": dict(attempts),
        "runs": runs,
        "transcripts": transcripts,
    }


def _export(ledger: Ledger, args: argparse.Namespace) -> None:
    lines = list(_lines(ledger))
    hand_over("".join(lines), args.out, f"wrote {plural(len(lines), 'call')} to {args.out}")


def _lines(ledger: Ledger) -> Iterator[str]:
    for key, state, identity, call, reply in ledger.rows(
        "select key, state, identity, call, answer from calls order by key"
    ):
        places = ledger.rows(
            "select run, transcript_id, check_id, purpose, window, repetition, attempt from uses where key = ?"
            " order by run, transcript_id, check_id, purpose, window, repetition, attempt",
            key,
        )
        names = ("run", "transcript_id", "check_id", "purpose", "window", "repetition", "attempt")
        row = {
            "key": key,
            "state": state,
            "identity": json.loads(identity),
            "call": json.loads(call),
            "answer": None if reply is None else json.loads(reply),
            "uses": [dict(zip(names, place, strict=True)) for place in places],
        }
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _prune_older(ledger: Ledger, args: argparse.Namespace) -> None:
    say(f"removed {plural(ledger.prune_older(time.time() - args.older_than * DAY), 'call')}")


def _forget(path: Path, args: argparse.Namespace) -> int:
    """Remove a transcript everywhere."""
    removed, runs = 0, []
    if path.is_file():
        with closing(Ledger(path)) as ledger:
            runs = [Path(each) for each in ledger.runs_of(args.transcript)]
    searched = [_root(args.ledger), *map(Path, args.folders), *(each for each in runs if each.is_dir())]
    done = forget(args.transcript, searched)
    if path.is_file():  # the ledger last, because it knows where the runs are
        with closing(Ledger(path)) as ledger:
            removed = ledger.prune(args.transcript)
    if removed or runs:
        done.changed.insert(0, path)
        say(f"removed {plural(removed, 'call')} of `{args.transcript}`")
    say(*summary_lines(done, args.transcript))
    return 0 if done.is_whole else 1
