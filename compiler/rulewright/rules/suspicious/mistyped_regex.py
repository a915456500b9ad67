from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, Guess, replace, warning
from rulewright.documents.base import Document, descend, items, scalar, text_scalars, texts
from rulewright.documents.check import CheckDocument
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.expression.syntax_tree import Call, Name
from rulewright.load import Mapping, Node, Scalar, place, scalars_below, walk
from rulewright.lower.expressions_of import parts_of
from rulewright.rules.correctness.bad_schema import schemas_of
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import PlanError
from rulewright_runtime.matching import unspaced
from rulewright_runtime.regex import compile_regex

if TYPE_CHECKING:
    from rulewright.project import Project

DIGIT: Final = r"(?:\[0-9\]|\\d)"
DOT: Final = rf"{DIGIT}\+?\.(?={DIGIT})"  # between digits; several of them may be meant: `\d\d\d.\d\d\d.\d\d\d\d`
# What is written by mistake, what it means, and what was probably meant: in a character class, and elsewhere.
IN_CLASS: Final = (
    (rf"^((?:(?!{DOT}).)*{DIGIT}\+?)\.(?={DIGIT})(?!.*{DOT})", "contains a dot that is any character", r"\1\."),
    (r"^(\[0-9\]|\\d)\*(?=[ a-zA-Z%]|\\s)", "may be no digit, and then excludes nothing", r"\1+"),
    (r"(?<![\\\[])\[:(\w+):\]", "is a class of these letters", r"[[:\1:]]"),
    (r"(?<!\\)\[(?=[a-z]{3,}\[\^)", "starts a class, in which `[^` is two of the characters", r"\["),
    (r"(?<!\\)\[A-z", "contains characters between `Z` and `a`", "[A-Za-z"),
    (r"(?<!\\)\[(\w{2,}(?:\|\w{2,})+)\](?![*+{])", "is a single one of these characters", r"(?:\1)"),
    (r"(?<!\\)(\[[^\[\]]{2,}[^\[\]\\])(?:(?<=[+*?])|(?<=\d\}))(.?)(?=\[(?!:)[^\]]*\])", "is a class without `]`", ""),
)
AGAIN: Final = r"(?=(?:[+*]|\{\d+(?:,\d*)?\})\??(?![a-zA-Z]))"  # repeated, and no letter follows
LETTER: Final = r"[^\x00-\x7f\W_]"  # that is not ASCII
UNSPACED: Final = f"[{unspaced.LETTERS}]"  # of a script without spaces, in which words have no edges
OF_UNSPACED: Final = rf"\((?:\?:)?[^()a-zA-Z]*{UNSPACED}[^()a-zA-Z]*\)"  # a group without words that have edges
NOT_ASCII: Final = "isn't an edge of a word: `\\b` knows ASCII letters only"
OUTSIDE: Final = (
    (r"(?<!\\)\(:\?", "starts a group with an optional colon", "(?:"),
    (r"(?<!\\)\(:(?=[a-z][^()|:]*(?:\|[^:)]| ))", "starts a group with a colon", "(?:"),
    (r"^\(([ims])\?\)", "is an optional letter", r"(?\1)"),
    # No English word starts or ends with these letters, but `bday`, `bcuz`, `bwahaha` and names of databases do.
    (
        (
            r"(?:^|(?<=^\(\?i\)))b(?!day|c(?:ause|o[sz]|uz)|wa)"
            r"(?=(?:\((?:\?:)?)?[cdfgjkmnpqstvwxz][b-df-hj-np-tv-xz]{0,2}[aeiouy])"
        ),
        "is a letter",
        r"\\b",
    ),
    (r"(?:(?<=[a-z]{2}[cdfghjknpqstvwxz])(?<!god)(?<!mod)(?<!iad)(?<!edd)|(?<=[a-z]\)))b$", "is a letter", r"\\b"),
    (r"(?<=[\w)?*+\]}])\\b['\"]$", "ends with a quote", r"\\b"),
    ("\b", "in double quotes is a backspace", r"\\\\b"),
    (r"(?<!\\)\{(\d+) ?- ?(\d+)\}", "is not a repetition", r"{\1,\2}"),
    (r"(?<!\\)\{\d*[OolI]\d*(?:,\d*)?\}|(?<!\\)\{\d+,\d*[OolI]\d*\}|(?<!\\)\{\d+, \d+\}", "is not a repetition", ""),
    (r"(?<=[\w\])])(?<!\\p)\{(\d+(?:,\d*)?)(?![\d,}]| -|-(?![\\[(]))", "is not a repetition", r"{\1}"),
    (r"(?:(?<=[^\\]\])|(?<=\\[dws]))\((\d+(?:,\d*)?)\)", "is not a repetition", r"{\1}"),
    (r"(?<=[|(])([dws])(?=[+*]|\{\d)", "is a letter", r"\\\1"),
    # A repeated letter next to no other one: `\bs+orry` is a word that is drawn out, and `euro)s*` a plural.
    (rf"(?:^|(?<=[^\\\w)\]}}+*?'’])|(?<=\\[bdsw]))([dws]){AGAIN}", "is a letter", r"\\\1"),
    (rf"(?:(?<=[)\]])|(?<=[^a-zA-Z][+*?])|(?<=\\[bdsw][+*?]))(d)(?!\*){AGAIN}", "is a letter", r"\\\1"),
    (rf"(?:^|(?<=[^\\\w])|(?<=\\[bdsw]))([dw])\1{AGAIN}", "is two letters", r"\\\1\\\1"),
    (r"(?<=[a-z])s(?=[+*]-)", "is a letter", r"\\s"),
    (r"(\((?:\?:)?[a-z']+(?: [a-z']+)*),([a-z']+(?: [a-z']+)*\))", "is one phrase with a comma", r"\1|\2"),
    (r"\((?:\?:)?[a-z']+(?:,[a-z']+){2,}\)", "is one phrase with commas", ""),
    (r"(?<=[a-z)])(?<!\\)\\n$", "is a line break", r"\\b"),
    (r"(?:^|(?<=^\(\?i\)))\\n(?=[a-z(])", "is a line break", r"\\b"),
    (r"(?<=\w)\\\|(?=\w(?:\\s\+|[\w -])*(?<!\\)\|)", "is the character itself", "|"),
    (r"(?<=[\w)]) {2,}(?=[\w(])", "matches exactly as many spaces", " "),
    (r"(?<=\w) \| (?=\w)", "has spaces that belong to the alternatives", "|"),
    (r"(?:^|(?<=\)))\\\\b(?=\w|\()|(?<=[\w)])\\\\b$", "is a backslash and a letter", r"\\b"),
    (r"(?:^|(?<=\(\?i\)))/b(?=\w|\()|(?<=[\w)\]])/b$", "is a slash and a letter", r"\\b"),
    (r"\\\\([dsw])(?=[+*{])", "is a backslash and a letter", r"\\\1"),
    (r"(?<!\\)([%€£!,;])\\b(?=$|[)| ]|\\s)", "matches nothing before a space or the end", r"\1"),
    (
        r"(\((?:\?:)?(?:[^()]*\|)?[^()|]*(?<!\\)[%€£!](?:\|[^()]*)?\))\\b(?=$|[)| ]|\\s)",
        "matches the sign only before a letter",
        r"\1",
    ),
    (r"(?:^|(?<=[(| ]))\\b(\\\$|[€£#@])", "matches the sign only after a letter", r"\1"),
    # `\b` of RE2 knows only ASCII: next to any other letter it is a boundary where an ASCII letter follows or precedes.
    (rf"\\b({UNSPACED}|{OF_UNSPACED})", NOT_ASCII, r"\1"),
    (rf"({UNSPACED}|{OF_UNSPACED})\\b", NOT_ASCII, r"\1"),
    (
        rf"\\b((?:\((?:\?:)?(?:[^()|]*\|)*)?{LETTER})",
        NOT_ASCII,
        r"(?:^|\\PL)\1",
    ),
    (rf"({LETTER}(?:(?:\|[^()]*)?\))?)\\b", NOT_ASCII, r"\1(?:\\PL|$)"),
    (r"(?<!\\)\$(?=\d|\\d|[a-z])", "is the end of the text, and nothing comes after it", r"\$"),
)
# A group in the place of a word, and its empty alternative at the end, at the start and between two others.
BEFORE: Final = r"(?:^|(?<=^\(\?i\))|(?<=\\b)|(?<= )|(?<=\\s)|(?<=\\s\+))"
AFTER: Final = r"(?=$|\\b|(?: |\\s)(?![?*{]))"
WORDS: Final = r"[^()|\[\]]+(?:\|[^()|\[\]]+)"
EMPTY: Final = tuple(
    (group, "has an empty alternative", meant)
    for group, meant in (
        (rf"{BEFORE}(\((?:\?:)?{WORDS}+)\|\){AFTER}", r"\1)"),
        (rf"{BEFORE}(\((?:\?:)?)\|({WORDS}+\)){AFTER}", r"\1\2"),
        (rf"{BEFORE}(\((?:\?:)?{WORDS}*\|)\|({WORDS}*\)){AFTER}", r"\1\2"),
        (rf"(\((?:\?:)?{WORDS}{{2,}})\|\)(?![?*])", r"\1)"),
    )
)
CLASS: Final = re.compile(r"(?<!\\)\[\^?\]?(?:\\.|[^\]\\])*\]")
CASED: Final = re.compile(r"(?<!\\)[^\W\d_]")  # a letter that an expression matches, not `\d`
MATCHES: Final = re.compile(r"\bmatches\([^()]*\bparams\.(\w+)\)")
GROUP: Final = re.compile(r"\((?:\?:)?((?:[^()\[\]\\]|\\.)*)\)")  # without another group or a class in it
BETWEEN_WORDS: Final = re.compile(r"(?<=[a-z]{3})s(?=[+*][a-z]{3})")  # in an expression with `\\s+`, a space
BLANKS: Final = re.compile(r"\\s[+*]")
SAMPLE: Final = "\u2603"  # a character that no author searches for
WORD: Final = "qzq"  # likewise
MOST: Final = 2  # expressions of a lexicon that say little about the habit of its author
THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
FORBIDDEN: Final = "forbidden"  # the kind of rule that is a list of expressions
KEYS: Final = frozenset({"regex", "named", "figure"})  # of corpora and state machines
# An assertion that is not at an end of an expression: without one, every expression matches something.
ASSERTED: Final = re.compile(r"(?<!^)(?<!^\(\?[ims]\))(?:\\[bA]|(?<![\[\\])\^)|(?:\\[bz]|(?<!\\)\$)(?!$)", re.DOTALL)


def mistyped_regex(subject: LexiconDocument | ScenarioDocument | CheckDocument | Project) -> Findings:
    """A regular expression contains a typical mistake, matches every text, or matches none.

    Why it matters: it is valid, so nothing refuses it, but it matches less or more than was meant: `(:?a|b)` is a group
    with an optional colon, `[yes|no]` one character, `{1-3}` the five characters themselves, and `$5` matches nothing.
    `d+` matches the letter. An expression that matches every text, such as `yes|`, makes every answer a hit.
    An empty alternative in the place of a word, as in `you (must|should|) pay`, matches no word there. `pin\\bcode`
    matches nothing: no word ends between two letters. `\\b` knows ASCII letters only, so
    `\\bübernehmen` does not match that word.
    Instead: write `(?:a|b)`, `(?:yes|no)`, `{1,3}`, `\\d+`, `\\$5`, no empty alternative, `\\b` at the edge of a word;
    before a letter that is not ASCII `(?:^|\\PL)`, after one `(?:\\PL|$)`, nothing in a script without spaces, such as
    Japanese, or a phrase in place of the expression.
    """
    for written in _expressions(subject):
        if "\b" not in written.text or not isinstance(subject, Document):
            yield from _slips(written)  # else `yaml-trap` reports it
    for literal, is_replaced in _literals(subject) if isinstance(subject, CheckDocument) else ():
        if "\b" not in literal.text:  # else `backspace-in-expression` reports it
            yield from _slips(literal, is_literal=True, is_replaced=is_replaced)
    if isinstance(subject, LexiconDocument):
        yield from _case_of_letters(_of_lexicon(subject), "the lexicon")
    elif not isinstance(subject, Document):
        own = [_of_lexicon(each) for each in subject.lexicons.values()]
        few = [each for written in own if len(written) <= MOST for each in written]
        yield from _case_of_letters(few, "the lexicons")
        for corpus in subject.corpora.values():
            searched = [each for node in walk(corpus.node) for each in _below(node, ["regex"])]
            yield from _case_of_letters(searched, "the corpus")
            yield from _whole_matches(corpus.node)


def _slips(written: Scalar, *, is_literal: bool = False, is_replaced: bool = False) -> Findings:
    """The finding for a regular expression. A literal of an expression has no fix: how its quotes and backslashes are
    written depends on those around the expression. What is replaced may also be nothing: `\\s*`."""
    text = written.text
    slip = _slip(text)
    if slip is not None:
        start, end, meant, message = slip
        part = place(written, start, end)
        is_escaped = is_literal or ("\\" in meant and written.style in ("j", '"'))
        fix = None if is_escaped or not meant else replace(part, meant, f"write `{meant}`", safe=False)
        yield warning(part, message, help=f"write `{meant}`" if is_escaped and meant else None, fix=fix)
    elif not is_replaced and _finds_always(text):
        yield warning(written, f"`{text}` matches every text", help="remove the part that may be empty")
    elif ASSERTED.search(text) and _is_without_match(text):
        yield warning(written, f"`{text}` matches no text", help=_conflict(text))


def _of_lexicon(lexicon: LexiconDocument) -> list[Scalar]:
    return [each.scalar for each in lexicon.patterns if each.mode == "regex"]


def _case_of_letters(written: list[Scalar], whose: str) -> Findings:
    """The only expression of some that does not ignore case."""
    exact = [each for each in written if _is_exact(each.text)]
    others = sum(each.text.startswith("(?i)") for each in written)
    if len(exact) == 1 and others >= MOST and _slip(exact[0].text) is None:
        message = f"this expression does not ignore case, but the others of {whose} do"
        yield warning(exact[0], message, help="begin it with `(?i)`")


def _is_exact(text: str) -> bool:
    """Whether a valid expression matches letters in one case only."""
    return not text.startswith("(?i)") and CASED.search(text) is not None and _compiled(text) is not None


def _whole_matches(corpus: Node) -> Findings:
    """The figures of a fact that its expression never captures, or the expression if it has no group and captures none
    of them."""
    for fact in walk(corpus):
        written, figures = scalar(fact, "figure"), text_scalars(fact, "figures")
        if written is not None and _slip(written.text) is not None:
            continue
        for each in (each for each in figures if THOUSANDS.fullmatch(each.text)):
            meant = Guess(each.text.replace(",", ""))
            yield warning(each, f"`{each.value}` equals no figure: they are compared without commas", help=meant)
        group = None if written is None or not figures else _first_group(written.text)
        if group is None or written is None:
            continue
        never = [each for each in figures if not group.fullmatch(each.text)]
        is_wordy = any(map(str.isdecimal, texts(fact, "figures"))) and not group.search("0123456789")
        if len(never) == len(figures) and (is_wordy or group.pattern == written.value):
            what = "match" if group.pattern == written.value else "group"
            message = f"the {what} of `{written.value}` is never one of the figures {ticked(texts(fact, 'figures'))}"
            yield warning(written, message, help="put the part that is the figure in a group: `(\\d+)`")
            continue
        for each in never if group.pattern != written.value else ():
            help = "let the group match it, or remove the figure"
            yield warning(each, f"`{written.value}` never captures `{each.value}`", help=help)


def _first_group(text: str) -> re.Pattern[str] | None:
    """What the first capturing group of an expression finds, or the whole expression without one."""
    outside = re.sub(r"\\.", "..", CLASS.sub(lambda found: "." * len(found[0]), text))
    start = re.search(r"\((?!\?)", outside)
    if start is None:
        return _compiled(text)
    depths = itertools.accumulate({"(": 1, ")": -1}.get(each, 0) for each in outside[start.start() :])
    end = start.start() + next((at for at, depth in enumerate(depths) if not depth), 0)
    return _compiled(("(?i)" if text.startswith("(?i)") else "") + text[start.start() : end + 1])


def _slip(text: str) -> tuple[int, int, str, str] | None:
    """The first slip in an expression: its offsets, what was meant, and the message."""
    outside = CLASS.sub(lambda found: "[" + " " * (len(found[0]) - 2) + "]", text)
    for slips, searched in ((IN_CLASS, text), (OUTSIDE + EMPTY, outside)):
        for slip, meaning, meant in slips:
            found = re.search(slip, searched)  # compiled when it is first needed
            if found is not None:
                shown = found[0].replace("\b", r"\b")
                return *found.span(), found.expand(meant), f"`{shown}` in a regular expression {meaning}"
    found = BETWEEN_WORDS.search(outside) if BLANKS.search(outside) else None
    if found is not None:
        return *found.span(), r"\s", "`s` in a regular expression is a letter"
    return _listed_twice(text)


def _listed_twice(text: str) -> tuple[int, int, str, str] | None:
    """The first alternative of a group that is there twice."""
    for group in GROUP.finditer(text):
        alternatives = re.split(r"(?<!\\)\|", group[1])
        if text.startswith("(?i)") and "\\" not in group[1]:
            alternatives = [each.lower() for each in alternatives]
        again = next((each for at, each in enumerate(alternatives) if each in alternatives[:at]), "")
        if again:
            return *group.span(), "", f"`{again}` is twice in `{group[0]}`"
    return None


def _finds_always(text: str) -> bool:
    searched = _compiled(text)
    if searched is None:
        return False
    in_word = searched.search(WORD)
    return all(map(searched.search, ("", SAMPLE))) or (in_word is not None and not in_word[0])


def _is_without_match(text: str) -> bool:
    from rulewright.proving.re2_syntax import is_without_match  # few expressions have such an assertion

    return is_without_match(text)


def _conflict(text: str) -> str:
    """What to correct in an expression that matches nothing."""
    if r"\b" in text:
        return r"`\b` is only between a letter, digit or `_` and something else: remove the one in the wrong place"
    return "`^` belongs at the start and `$` at the end"


def _compiled(text: str) -> re.Pattern[str] | None:
    try:
        return compile_regex(text)
    except PlanError:
        return None


def _expressions(subject: LexiconDocument | ScenarioDocument | CheckDocument | Project) -> Iterator[Scalar]:
    if isinstance(subject, LexiconDocument):
        yield from _of_lexicon(subject)
    elif isinstance(subject, ScenarioDocument):
        branches = (branch for turn in subject.turns for branch in turn.branches if branch.type == "regex")
        yield from filter(None, (scalar(branch.node, "condition", "pattern") for branch in branches))
    elif isinstance(subject, CheckDocument):
        yield from _searched_by(subject)
    else:
        for document in (*subject.corpora.values(), *subject.state_machines.values()):
            yield from (each for node in walk(document.node) for each in _below(node, KEYS))
        read = {check.routing.rule_path for check in subject.checks if check.routing.rule == FORBIDDEN}
        paths = [path.split(".") for path in {FORBIDDEN, *filter(None, read)}]
        for root in subject.rule_files.values():
            yield from scalars_below(*(descend(root, *path) for path in paths))
        redacted = items(subject.file.node, "redact") if subject.file is not None else ()
        yield from (each for item in redacted for each in _below(item, ["pattern"]))
        if subject.file is not None:
            yield from text_scalars(subject.file.node, "workflow", "security", "secret_patterns")


def _below(node: Node, keys: Iterable[str]) -> Iterator[Scalar]:
    for entry in node.entries if isinstance(node, Mapping) else ():
        if entry.name in keys and isinstance(entry.value, Scalar):
            yield entry.value


def _searched_by(check: CheckDocument) -> Iterator[Scalar]:
    """The parameters of a check that a `matches` of its conditions reads, and the patterns of its schemas."""
    read = {name for each in check.verdict_conditions for name in MATCHES.findall(each.text)}
    params = check.get("params")
    yield from _below(params, read) if params is not None else ()
    for is_literal, schema in schemas_of(check):
        yield from _patterns(schema) if not is_literal else ()


def _literals(check: CheckDocument) -> Iterator[tuple[Scalar, bool]]:
    """The regular expressions in the conditions of a check, the patterns of searches and of schemas, and whether what
    they match is replaced."""
    for written, part in parts_of(check):
        if isinstance(part, Call) and part.args:
            is_of_regex = isinstance(part.target, Name) and part.target.name == "regex"
            at = 1 if is_of_regex else -1  # `regex.extract(text, pattern)`, `text.matches(pattern)`
            is_pattern = part.function == "matches" or (is_of_regex and len(part.args) > 1)
            pattern = written.node(part.args[at]) if is_pattern else None
            yield from [(pattern, part.function == "replace")] if isinstance(pattern, Scalar) else ()
    for is_literal, schema in schemas_of(check):
        yield from ((each, False) for each in _patterns(schema)) if is_literal else ()


def _patterns(schema: Node) -> Iterator[Scalar]:
    return (each for node in walk(schema) for each in _below(node, ["pattern"]))
