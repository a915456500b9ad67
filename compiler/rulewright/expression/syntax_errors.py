"""Messages of syntax errors: a table of cases, their messages and help, and the broken examples that test them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

from rulewright.diagnostics import Guess
from rulewright.errors import Reason
from rulewright_runtime.english import either

if TYPE_CHECKING:
    from lark import Token

END = "$END"  # Lark's token type for the end of the text


def start_of(token: Token) -> int:
    """The start of a token. Our tokens always have one; Lark's type makes it optional."""
    assert token.start_pos is not None
    return token.start_pos


def end_of(token: Token) -> int:
    assert token.end_pos is not None
    return token.end_pos


OPENERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
CLOSERS = {"RPAR": ")", "RSQB": "]", "RBRACE": "}"}
NUMBERS = ("INT", "UINT", "DOUBLE")
_VALUES = frozenset(
    ("IDENT", "INT", "UINT", "DOUBLE", "STRING", "BYTES", "TRUE", "FALSE", "NULL", "LPAR", "LSQB", "LBRACE", "DOT")
)
_GLUED = re.compile(
    r"(?!index|info|init|inner|input|inside|instance|int|order|organ|origin|android)(andnot|ornot|and|or|not|in)([A-Za-z_]\w*)"
)


class Trouble(NamedTuple):
    """A token that is not allowed where it is: its neighbours, the expected token types and the bracket around it."""

    text: str
    profile: bool
    before: Token | None
    token: Token
    after: Token | None
    expected: frozenset[str]
    opened: Token | None
    conditional: bool  # whether a `?` is open, without its `:`

    @property
    def value_due(self) -> bool:
        """Whether a value is expected here."""
        return "INT" in self.expected

    @property
    def operator_due(self) -> bool:
        """Whether an operator is possible here, after a complete value."""
        return "PLUS" in self.expected

    @property
    def value_here(self) -> bool:
        """Whether the token can start a value."""
        return self.token.type in _VALUES

    @property
    def touching(self) -> bool:
        """Whether the token directly follows the previous one."""
        return self.before is not None and self.before.end_pos == self.token.start_pos

    def spelt(self, token: Token | None) -> str:
        """The token in backticks as the author wrote it, shortened; `the end` without one."""
        if token is None or token.start_pos == token.end_pos:
            return "the end"
        text = self.text[start_of(token) : end_of(token)].replace("\n", " ")
        return f"`{text if len(text) <= 30 else text[:27] + '…'}`"

    def is_word(self, *words: str) -> bool:
        """Whether the token is one of `words`, in any case."""
        return self.token.type in ("IDENT", "NOT", "AND", "OR") and self.token.lower() in words


class Explanation(NamedTuple):
    """One row of the table: a case, its message and help (format strings), broken examples and the reason."""

    when: Callable[[Trouble], bool]
    message: str
    help: str | None
    examples: tuple[str, ...]
    reason: Reason = Reason.OTHER


def _kind_before(*kinds: str) -> Callable[[Trouble], bool]:
    return lambda t: t.before is not None and t.before.type in kinds


def _glued(t: Trouble) -> bool:
    return t.operator_due and t.token.type == "IDENT" and _GLUED.fullmatch(t.token) is not None


def _is_prefix(before: Token | None) -> bool:
    return before is not None and before.type == "IDENT" and len(before) <= 2


def _is_triple(t: Trouble) -> bool:
    before = t.before
    return before is not None and t.text[start_of(before) : start_of(before) + 3] in ('"""', "'''")


EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        lambda t: t.token.type == END and t.before is None,
        "the expression is empty",
        None,
        ("", "  ", "// only a comment"),
    ),
    Explanation(
        lambda t: t.is_word("not") and t.operator_due and t.after is not None and t.after.type == "IN",
        "`not in` isn't an operator",
        "write `!({left} in …)`",
        ("a not in b", "a == 1 && x not in [1]"),
    ),
    Explanation(
        lambda t: t.token.type == "IN" and t.before is not None and str(t.before) == "not" and t.value_due,
        "`in` has no value on its left, and `not in` isn't an operator",
        "write `!(x in …)`",
        ("not in b",),
    ),
    Explanation(
        _glued, "`{token}` is one word", Guess("{split}"), ("a andb", "a inb", "a orb", "x == 1 andnot y", "a in_list")
    ),
    Explanation(
        lambda t: t.operator_due and not t.profile and t.is_word("and", "or"),
        "`{token}` is an operator of the profile, not of strict CEL",
        "write `{cel}`",
        (),
    ),
    Explanation(
        lambda t: t.operator_due and t.profile and t.is_word("and", "or"),
        "`{token}` isn't an operator",
        Guess("{lower}"),
        ("a AND b", "a Or b"),
    ),
    Explanation(
        lambda t: t.operator_due and t.value_here and t.before is not None and t.before.lower() == "not",
        "`{before}` isn't an operator here",
        Guess("!"),
        ("NOT a", "Not x == 1"),
    ),
    Explanation(
        lambda t: t.token.type == "NOT" and t.value_due,
        "`not` binds looser than the operator on its left",
        "put parentheses around it, as in `a == (not b)`, or write `!`",
        ("a == not b", "1 + not x", "!not x"),
    ),
    Explanation(
        lambda t: t.operator_due and t.is_word("is", "equals", "eq"),
        "`{token}` isn't an operator",
        "write `==`, or `!=` for its opposite",
        ("a is b", "a is not null"),
    ),
    Explanation(
        lambda t: t.operator_due and t.is_word("contains", "matches", "startswith", "endswith", "contains_ci"),
        "`{token}` is a function, not an operator",
        "write it with a dot and parentheses, as in `text.contains('x')`",
        ("a contains 'x'", "text matches '^a'"),
    ),
    Explanation(
        lambda t: t.operator_due and t.is_word("if", "then", "else"),
        "`{token}` isn't part of the language",
        "write `condition ? value : other`",
        ("a if b else c", "a then b"),
    ),
    Explanation(
        lambda t: t.operator_due and t.is_word("mod", "div", "xor"),
        "`{token}` isn't an operator",
        "use `%` for the remainder, `/` for division, `!=` for exclusive or",
        ("5 mod 2",),
    ),
    Explanation(
        lambda t: t.touching and t.operator_due and t.token.type == "IDENT" and _kind_before(*NUMBERS)(t),
        "a number can't run on into {spelt}",
        "a number ends with its digits, `0x` begins a hexadecimal number, `u` ends an unsigned one",
        ("5x", "1_000", "0X1F", "10uz", "x == 3px"),
    ),
    Explanation(
        lambda t: t.touching and t.operator_due and t.token.type == "DOUBLE" and t.text[start_of(t.token)] == ".",
        "an element can't be selected with a dot",
        "write `[0]` for the first element",
        ("xs.0", "1.2.3", "xs[0].1"),
    ),
    Explanation(
        lambda t: t.touching and t.operator_due and t.token.type in ("STRING", "BYTES") and _is_prefix(t.before),
        "{before_spelt} is not allowed before a string",
        "the prefixes are `r` for raw strings, `b` for bytes and `br` for raw bytes",
        ('rb"x"', "f'{x}'", "u'x'"),
    ),
    Explanation(
        lambda t: t.touching and t.token.type == "STRING" and _is_triple(t),
        "the text in triple quotes is never closed",
        "end it with the same three quotes",
        ('"""abc"', "'''abc'"),
        Reason.UNCLOSED,
    ),
    Explanation(
        lambda t: t.operator_due and t.token.type == "STRING" and _kind_before("STRING")(t),
        "two strings follow each other without an operator",
        "join them with `+`; a quote within a string is written `\\'` or `\\\"`",
        ("'a' 'b'", "x == 'it''s'"),
    ),
    Explanation(
        lambda t: t.token.type == "COLON" and t.opened is not None and t.opened.type == "LSQB" and not t.conditional,
        "slices are not supported",
        "write `xs.slice(from, to)`, or `text.substring(from, to)`",
        ("xs[1:2]", "xs[:2]"),
    ),
    Explanation(
        lambda t: t.token.type == "GT" and t.touching and _kind_before("LT")(t),
        "`<>` isn't an operator",
        Guess("!="),
        ("a <> b",),
    ),
    Explanation(
        lambda t: t.token.type == "STAR" and t.touching and _kind_before("STAR")(t),
        "`**` isn't an operator",
        "write the product out, as in `x * x`",
        ("a ** 2",),
    ),
    Explanation(
        lambda t: t.token.type == "PLUS" and t.value_due,
        "`+` needs a value on its left",
        "unary `+` and `++` are not supported",
        ("+1", "a++", "(+b)"),
    ),
    Explanation(
        lambda t: t.token.type in ("BANG", "MINUS") and t.value_due,
        "`!` and `-` don't mix",
        "put parentheses around the inner one, as in `-(!x)`",
        ("-!a", "!-a"),
    ),
    Explanation(
        lambda t: t.token.type == "RPAR" and _kind_before("COMMA")(t) and t.value_due,
        "a value is missing after `,`",
        "the arguments of a call don't end with a comma",
        ("f(a,)", "x.f(1, 2,)"),
    ),
    Explanation(
        lambda t: (
            t.token.type in ("TRUE", "FALSE", "NULL", "IN")
            and _kind_before("DOT", "QUESTION")(t)
            and "IDENT" in t.expected
            and not t.value_due
        ),
        "{spelt} is a keyword and can't be a field name",
        "write it in backticks, as in `x.`{written}``, or as a key, as in `x['{written}']`",
        ("self.true == 1", "a.in", "a.?null"),
    ),
    Explanation(
        lambda t: t.token.type == "STRING" and _kind_before("DOT")(t),
        "a string can't follow a dot",
        "write `x['key']`, or a plain name after the dot",
        ('{"a": 1}."a"', "x.'b'"),
    ),
    Explanation(
        lambda t: t.token.type == END and t.opened is not None,
        "{opened}{opened_at} is never closed",
        "{missing}",
        ("(a", "f(1, 2", "[1, [2]", "{'a': 1", "(a +", "{", "xs.all(x, x > 1"),
        Reason.UNCLOSED,
    ),
    Explanation(
        lambda t: t.token.type in CLOSERS and t.opened is not None and OPENERS[t.opened.type] != t.token.type,
        "{spelt} doesn't close {opened} at column {opened_column}",
        "write `{closer}` first",
        ("(a]", "[1, 2)", "f(x}"),
    ),
    Explanation(
        lambda t: t.token.type in CLOSERS and t.opened is None,
        "{spelt} closes nothing",
        "remove it, or open a bracket before it",
        ("a)", "]", "f(x))", "{}}"),
        Reason.UNCLOSED,
    ),
    Explanation(
        lambda t: t.token.type == "RBRACE" and t.text.lstrip().startswith("{{") and "COLON" in t.expected,
        "an expression is written without braces",
        "remove `{{{{` and `}}}}`; only prompts are templates",
        ("{{ a }}", "{{ scenario.title }} == 'x'"),
    ),
    Explanation(
        lambda t: (
            t.opened is not None
            and t.opened.type == "LBRACE"
            and "COLON" in t.expected
            and not t.conditional
            and t.token.type in ("RBRACE", "COMMA")
        ),
        "a map's entry needs a value",
        "write `key: value`",
        ("{a}", "{'a', 'b'}", "{1: 2, 3}"),
    ),
    Explanation(
        lambda t: (
            t.token.type == "COLON"
            and t.value_due
            and t.opened is not None
            and t.opened.type == "LBRACE"
            and not t.conditional
        ),
        "a map's entry needs a key",
        "write `key: value`",
        ("{:a}", "{1: 2, : 3}"),
    ),
    Explanation(
        lambda t: t.conditional and "COLON" in t.expected and t.token.type in ("$END", "COMMA", *CLOSERS),
        "`?` needs a `:` and the other value",
        "write `condition ? value : other`",
        ("a ? b", "f(a ? b)", "[a ? b, c]"),
    ),
    Explanation(
        lambda t: t.token.type == "COLON" and t.operator_due,
        "unexpected `:`",
        "`:` is part of `condition ? value : other` and of map entries",
        ("a : b", "f(a: 1)"),
    ),
    Explanation(
        lambda t: t.token.type == "LPAR" and t.operator_due,
        "only a name can be called",
        "a call is written `name(…)` or `value.name(…)`",
        ("TestAllTypes{}()", "xs[0](1)", "f(1)(2)", "a.`b`(1)"),
    ),
    Explanation(
        lambda t: t.token.type == "LBRACE" and t.operator_due,
        "`{{` is not allowed after a value",
        "only the name of a type takes fields in braces",
        ("f(1){}", "xs[0]{a: 1}"),
    ),
    Explanation(
        lambda t: not t.value_due and "IDENT" in t.expected and _kind_before("DOT")(t),
        "a field's name is missing after `.`",
        None,
        ("a.", "a. + 1", "a..b", "f(a.)"),
    ),
    Explanation(
        lambda t: not t.value_due and "IDENT" in t.expected,
        "expected the name of a field here, not {spelt}",
        "write `Type{{field: value}}`",
        ("x{.", "T{1: 2}"),
    ),
    Explanation(
        lambda t: t.value_due and t.token.type == END,
        "a value is missing after {before_spelt}",
        None,
        ("a &&", "1 +", "--", "a or", "not"),
    ),
    Explanation(
        lambda t: t.value_due and t.before is not None,
        "a value is missing between {before_spelt} and {spelt}",
        None,
        ("a + * b", "a && || b", "f(, 1)", "[1, , 2]", "a == == b", "()"),
        Reason.MISSING_PART,
    ),
    Explanation(lambda t: t.value_due, "a value is missing before {spelt}", None, ("* a", "&& b", ", 1")),
    Explanation(
        lambda t: t.operator_due and t.token.type == "COMMA",
        "unexpected `,`",
        "`,` separates arguments, elements and entries; an expression is one value",
        ("a, b", "(a, b)"),
    ),
    Explanation(
        lambda t: t.operator_due and t.value_here,
        "an operator is missing between {before_spelt} and {spelt}",
        "{join}",
        ("a b", "1 2", "f(x y)", "'a' == b c", "x 'a'"),
        Reason.MISSING_PART,
    ),
    Explanation(lambda t: True, "{spelt} is not allowed here", "{expected}", ("T{a b}",)),
)


def explain(trouble: Trouble) -> tuple[str, str | None, Reason]:
    """The message, the help and the reason for a token that is not allowed where it is."""
    row = next(row for row in EXPLANATIONS if row.when(trouble))
    values = _format_values(trouble)
    if isinstance(row.help, Guess):
        return row.message.format_map(values), Guess(row.help.meant.format_map(values)), row.reason
    return row.message.format_map(values), row.help.format_map(values) if row.help else None, row.reason


def _format_values(t: Trouble) -> dict[str, str]:
    token, before = t.token, t.before
    value = str(token)
    closer = CLOSERS[OPENERS[t.opened.type]] if t.opened else ""
    return {
        "token": value,
        "written": t.spelt(token).strip("`"),
        "spelt": t.spelt(token),
        "before": str(before) if before is not None else "",
        "before_spelt": t.spelt(before),
        "left": t.spelt(before).strip("`"),
        "lower": value.lower(),
        "cel": "&&" if value.lower() == "and" else "||",
        "split": split_word_operator(value, profile=t.profile) or value,
        "opened": t.spelt(t.opened)[:2] + "`" if t.opened else "",
        "opened_at": "" if t.profile or t.opened is None else f" at column {_column(t.text, t.opened)}",
        "opened_column": str(_column(t.text, t.opened)) if t.opened else "",
        "closer": closer,
        "missing": f"a value and `{closer}` are missing" if t.value_due else f"`{closer}` is missing",
        "expected": "expected " + _expected_tokens(t),
        "join": "two values are joined by an operator such as `&&`, `==` or `+`",
    }


def _column(text: str, token: Token) -> int:
    return start_of(token) - text.rfind("\n", 0, start_of(token))


def _expected_tokens(t: Trouble) -> str:
    parts = ["a value"] if t.value_due else ["a name"] if "IDENT" in t.expected else []
    if t.operator_due:
        parts.append("an operator")
    signs = {"COMMA": "`,`", "COLON": "`:`", "RPAR": "`)`", "RSQB": "`]`", "RBRACE": "`}`", "$END": "the end"}
    parts += [sign for kind, sign in signs.items() if kind in t.expected]
    return either(parts)


def split_word_operator(word: str, *, profile: bool = True) -> str | None:
    """`word` split into an operator and a name, or None: `notx` gives `not x`, in strict CEL `!x`."""
    match = _GLUED.fullmatch(word)
    if match is None:
        return None
    operator, name = match.groups()
    if profile:
        return f"{operator.replace('not', ' not').strip()} {name}"
    cel = {"and": "&& ", "or": "|| ", "not": "!", "in": "in ", "andnot": "&& !", "ornot": "|| !"}
    return cel[operator] + name


_LITERALS = {"true": "true", "false": "false", "none": "null", "null": "null", "nil": "null"}


def unknown_name_help(word: str, known: Collection[str], *, profile: bool) -> str | None:
    """The help for an unknown name that is a literal in another language's spelling, or a word operator and a known
    name without a space between them. None for any other name."""
    split = split_word_operator(word, profile=profile)
    name = re.split(r"[ !]", split)[-1] if split else ""
    guess = _LITERALS.get(word.lower()) or (split if name in known else None)
    return Guess(guess) if guess else None
