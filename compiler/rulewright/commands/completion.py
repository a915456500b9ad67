"""`completion`: print a completion script generated from the parsers of all commands."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from rulewright.cli import COMMANDS, parser_of


class Option(NamedTuple):
    """An option of a command: its names, its help, and its allowed words (empty: any)."""

    names: tuple[str, ...]
    about: str
    words: tuple[str, ...]


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    print(_fish() if args.shell == "fish" else _bash(zsh=args.shell == "zsh"))
    return 0


def options_of(name: str) -> Iterator[Option]:
    """The options of a command and its subcommands; positional arguments have no names."""
    waiting: list[argparse.ArgumentParser] = [parser_of(name)]
    while waiting:
        for action in waiting.pop()._actions:
            words = tuple(map(str, action.choices)) if action.choices is not None else ()
            if isinstance(action.choices, dict):
                waiting += [each for each in action.choices.values() if isinstance(each, argparse.ArgumentParser)]
            if (action.option_strings or words) and action.help != argparse.SUPPRESS:
                yield Option(tuple(action.option_strings), str(action.help or ""), words)


def _bash(*, zsh: bool) -> str:
    """The script for bash, which zsh runs through `bashcompinit`."""
    names = " ".join(COMMANDS)
    cases = []
    for name in COMMANDS:
        options = list(options_of(name))
        after = [
            f"      {'|'.join(each.names)}) words='{' '.join(each.words)}';;"
            for each in options
            if each.names and each.words
        ]
        plain = " ".join(dict.fromkeys(word for each in options for word in each.names or each.words))
        chosen = "\n".join(["    case $before in", *after, f"      *) words='{plain}';;", "    esac;;"])
        cases.append(f"    {name})\n{chosen}")
    body = "\n".join(cases)
    head = "autoload -U +X bashcompinit && bashcompinit\n" if zsh else ""
    return (
        f"{head}_rulewright() {{\n"
        '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words\n'
        f"  if [ \"$COMP_CWORD\" -eq 1 ]; then words='{names} --help --version --color'\n"
        f'  else case "${{COMP_WORDS[1]}}" in\n{body}\n  esac; fi\n'
        '  COMPREPLY=($(compgen -W "$words" -- "$current"))\n'
        "}\n"
        "complete -o default -F _rulewright rulewright"
    )


def _fish() -> str:
    lines = []
    for name, summary in COMMANDS.items():
        lines.append(f"complete -c rulewright -n __fish_use_subcommand -a {name} -d '{_quoted(summary)}'")
        for each in options_of(name):
            where = f"complete -c rulewright -n '__fish_seen_subcommand_from {name}'"
            short = "".join(f" -s {word[1:]}" for word in each.names if not word.startswith("--"))
            long = "".join(f" -l {word[2:]}" for word in each.names if word.startswith("--"))
            words = f" {'-x ' if each.names else ''}-a '{' '.join(each.words)}'" if each.words else ""
            lines.append(f"{where}{short}{long}{words} -d '{_quoted(each.about)}'")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text escaped for single quotes in fish; argparse doubles per cent signs."""
    return text.replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'")
