"""The argument parser of commands, with our error format and each command's exit codes."""

from __future__ import annotations

import argparse
from functools import partial
from itertools import takewhile
from textwrap import dedent, fill

from rulewright.exit_codes import EXIT_CODES, REFUSED
from rulewright_runtime.english import either
from rulewright_runtime.terminal import one_line

TYPE_CHECKING = False  # importing `typing` takes as long as building a parser
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import NoReturn

CODES = "exit codes:"
# As argparse begins and ends its messages.
UNKNOWN = "unrecognized arguments: "
MISSING = "the following arguments are required: "
ONE_OF = "one of the arguments ", " is required"
OTHER_COMMANDS = {  # that do what an unknown option asks for
    ("rulewright convert", "--out"): "rulewright convert IN OUT",
    ("rulewright scan", "--baseline"): "rulewright diff BEFORE AFTER",
    ("rulewright scan", "--compare"): "rulewright diff BEFORE AFTER",
    ("rulewright scan", "--dry-run"): "rulewright plan",
}


class Parser(argparse.ArgumentParser):
    """An argument parser that exits with the code for bad usage."""

    meant: str | None = None  # the option or choice that was probably meant by a wrong one
    example = ""  # a use of the command, as help after an unknown argument
    words: Sequence[str] = ()  # what is parsed

    def error(self, message: str) -> NoReturn:
        """Print the error, what was probably meant or an example, and where to find help; exit the process. An unknown
        option is the error, also where the word after it is refused as an argument."""
        words = () if self._subparsers else self.words  # those of an action have options of their own
        given = (each.partition("=")[0] for each in takewhile(lambda word: word != "--", words))
        wrong = next((each for each in given if each[:2] == "--" and each not in self._option_string_actions), None)
        if wrong is not None and not message.startswith(UNKNOWN):
            message, self.meant = f"unknown option `{wrong}`", self._meant_by(wrong)
        if message.startswith(MISSING):
            self.example = self._example(self.prog.partition(" ")[2])
        help = f"did you mean `{self.meant}`? " if self.meant else self.example
        message = one_line(self._in_words(message))
        self.exit(REFUSED, f"error: {message}\nhelp: {help}`{self.prog} --help` lists the arguments\n")

    def _in_words(self, message: str) -> str:
        """A message of argparse about unknown or missing arguments in our form."""
        if message.startswith(UNKNOWN):
            return f"unknown arguments: `{message.removeprefix(UNKNOWN)}`"
        if message.startswith(ONE_OF[0]):
            names = message.removeprefix(ONE_OF[0]).removesuffix(ONE_OF[1]).split()
            return f"{either([f'`{name}`' for name in names])} is missing"
        if not message.startswith(MISSING):
            return message
        names = message.removeprefix(MISSING).split(", ")
        choices = [
            choice for each in self._actions if (each.metavar or each.dest) in names for choice in each.choices or ()
        ]
        expected = f"; expected {either([f'`{choice}`' for choice in choices])}" if choices else ""
        return f"missing argument{'s' * (len(names) > 1)}: {', '.join(f'`{name}`' for name in names)}{expected}"

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # overloads of argparse
        """Parse as argparse does; keep the option probably meant by the first unknown word, and an example."""
        self.words = args or ()
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            if unknown[0].startswith("--"):
                self.meant = self._meant_by(unknown[0].partition("=")[0])
            self.example = self._example(f"{self.prog.split()[1]} {getattr(known, 'action', '')}")
        return known, unknown

    def _example(self, tried: str) -> str:
        """An example of the command, if possible one that begins with the words `tried`."""
        examples = EXAMPLES[self.prog.split()[1]]
        example = next((each for each in examples if each.startswith(tried)), examples[0])
        return f"for example `rulewright {example}`; "

    def _meant_by(self, option: str) -> str | None:
        """The option that was probably meant by an unknown one, or the command that does what it asks for."""
        return OTHER_COMMANDS.get((self.prog, option)) or suggestion(option, self._option_string_actions)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            self.meant = suggestion(str(value), action.choices)
            expected = either([f"`{each}`" for each in action.choices])
            raise argparse.ArgumentError(action, f"unknown value `{value}`; expected {expected}")

    def format_help(self) -> str:
        """Return the help, with the epilog's paragraphs wrapped to the width that argparse uses."""
        from shutil import get_terminal_size  # importing it takes longer than building a parser

        width = get_terminal_size().columns - 2
        self.description, self.epilog = wrapped(self.description or "", width), wrapped(self.epilog or "", width)
        return super().format_help()


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, or None."""
    from rulewright.spelling import suggest  # only a mistake needs it

    return suggest(word, known)


def wrapped(text: str, width: int) -> str:
    """Return `text` with its paragraphs and exit codes wrapped to a width, except paragraphs with indented lines."""
    whole = partial(fill, width=width, break_long_words=False, break_on_hyphens=False)
    return "\n\n".join(
        "\n".join(whole(line, subsequent_indent=" " * 5) for line in paragraph.split("\n"))
        if paragraph.startswith(CODES)
        else paragraph
        if "\n " in paragraph
        else whole(paragraph)
        for paragraph in text.split("\n\n")
    )


def _exit_codes(name: str) -> str:
    return "\n".join((CODES, *(f"  {code}  {meaning}" for code, meaning in EXIT_CODES[name].items())))


def _examples(name: str) -> str:
    return "\n  ".join(("examples:", *(f"rulewright {each}" for each in EXAMPLES[name])))


def parser_of(name: str, declare: Callable[[argparse.ArgumentParser], None]) -> Parser:
    """Return a command's parser; its help is the docstring of `declare`, examples, and the command's exit codes."""
    summary, _, rest = (declare.__doc__ or "").partition("\n\n")
    parser = Parser(
        prog=f"rulewright {name}",
        description=" ".join(summary.split()),
        epilog="\n\n".join(filter(None, (dedent(rest).strip("\n"), _examples(name), _exit_codes(name)))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    declare(parser)
    return parser


EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": ("init my-checks", "init support --from chats.jsonl"),
    "demo": ("demo -o runs/demo",),
    "inspect-data": ("inspect-data chats", "inspect-data faq.csv --columns user=frage,assistant=antwort"),
    "convert": ("convert logs/today.eval today.jsonl", "convert chats messages.jsonl --to openai"),
    "completion": ("completion bash",),
    "lint": ("lint", "lint checks/brief.yaml", "lint --fix", "lint --format sarif --output-file lint.sarif"),
    "lsp": ("lsp --stdio",),
    "explain": ("explain unknown-key", "explain contains_any", "explain library/no-refusal"),
    "eval": ("eval \"size('hello') > 3\"", "eval 'review.decision == GO' --context review.json"),
    "prove": ("prove", "prove checks/brief.yaml"),
    "policy-diff": ("policy-diff scorecards/release.yaml scorecards/strict.yaml",),
    "compile": ("compile -o plan.json", "compile my-checks --scorecard release -o plan.json"),
    "plan": ("plan chats", "plan chats --judge openai:gpt-5 -o planned"),
    "scan": (
        "scan chats.jsonl",
        "scan chats --judge openai:gpt-5 -o runs/first",
        "scan chats --judge openai:qwen3@http://127.0.0.1:8000/v1",
        "scan chats --judge replay:replies.json --fail-on S4",
    ),
    "run": ("run plan.json chats --judge replay:replies.json -o runs/first",),
    "questions": ("questions chats -o questions.jsonl --batch b.jsonl --model gpt-5",),
    "record": ("record runs/first -o replies.json",),
    "models": ("models check openai:qwen3@http://127.0.0.1:8000/v1",),
    "cache": ("cache stats", "cache export -o calls.jsonl", "cache prune --transcript monday"),
    "harness": ("harness scenarios --model openai:gpt-5 -o played --dry-run",),
    "why": ("why runs/first", "why runs/first monday no-promises"),
    "report": ("report runs/first", "report runs/first -o report.html --no-conversations"),
    "serve": ("serve runs",),
    "adjudicate": ("adjudicate runs/first", "adjudicate runs/1 --decide monday polite PASS --by Ana --why polite"),
    "diff": ("diff runs/before runs/after", "diff runs/before runs/after --format html -o diff.html"),
    "whatif": ("whatif runs/first --set minimum_coverage=0.9", "whatif runs/first --sweep minimum_coverage"),
    "rescore": ("rescore runs/first --set minimum_coverage=0.9 -o runs/rescored",),
    "leaderboard": ("leaderboard runs/model-a runs/model-b",),
    "gold": ("gold runs/first --draw 50 -o gold.csv",),
    "calibrate": ("calibrate runs/first --gold gold.csv --require release=0.1",),
    "export": ("export runs/first --format otel -o events.jsonl",),
    "score": ("score --cases cases.csv --concern I25", 'score --concern I25 --batch "I25_batch_*" --output I25.html'),
    "workflow": ("workflow check", "workflow run --dry-run", "workflow run", "workflow run --resume"),
    "hil": ("hil list", 'hil resolve run-1-write-1 --by ana --why "tried it"', "hil serve"),
}
