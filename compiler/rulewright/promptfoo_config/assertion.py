"""Assertions of promptfoo and the checks that decide the same."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import indent
from typing import Final

from rulewright.documents.base import items
from rulewright.expression.unparse import literal
from rulewright.load import Mapping as MappingNode
from rulewright.load import Node, Sequence, plain
from rulewright.spelling import question
from rulewright_runtime.errors import PlanError
from rulewright_runtime.regex import compile_regex

READ: Final = {"type", "value", "threshold", "metric"}
WITHOUT_EFFECT: Final = {"weight", "provider"}  # who judges is named when scanning; every check counts the same
# Types without a translation; a cell of a table that begins with any other word is an expected answer.
OTHERS: Final = {
    "agent-rubric", "answer-relevance", "bleu", "classifier", "contains-html", "contains-json", "contains-sql",
    "contains-xml", "context-faithfulness", "context-recall", "context-relevance", "conversation-relevance",
    "factuality", "finish-reason", "g-eval", "gleu", "guardrails", "human", "is-html", "is-sql",
    "is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call", "is-xml", "javascript",
    "max-score", "meteor", "model-graded-factuality", "moderation", "perplexity", "perplexity-score", "pi",
    "python", "rouge-n", "ruby", "search-rubric", "select-best", "similar", "tool-call-f1", "trace-error-spans",
    "trace-span-count", "trace-span-duration", "webhook", "word-count",
}  # fmt: skip
HINTS: Final = {
    **dict.fromkeys(("javascript", "python", "ruby", "webhook"), "code is not executed; write a check with `pass`"),
    "similar": "a threshold fits one model only; use `minilm.similarity` of the extra `embedding`, or ask a judge",
    **dict.fromkeys(
        ("agent-rubric", "factuality", "g-eval", "model-graded-factuality", "search-rubric"),
        "write a check with a `prompt`, which a judge answers",
    ),
    "bleu": "write a check with `bleu`",
    "rouge-n": "write a check with `rouge_l`",
    "word-count": "write a check with `word_count`",
    **dict.fromkeys(
        ("is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call"),
        "use `library/tool-call-valid`",
    ),
    "tool-call-f1": "use `library/required-tool` and `library/no-forbidden-tool`",
    "answer-relevance": "use `library/answer-is-relevant`",
    "context-faithfulness": "use `library/faithful-to-context`",
}


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion. `value` is plain data; equal assertions at different places are one check."""

    kind: str
    value: str  # as JSON
    threshold: float | None
    metric: str | None
    is_default: bool
    where: str = field(compare=False)

    @property
    def bare_kind(self) -> str:
        """The type without `not-`."""
        return self.kind.removeprefix("not-")

    @property
    def text(self) -> str:
        """The value as the expression of a text."""
        return as_expression(self.template)

    @property
    def template(self) -> str:
        """The value as a text."""
        return self._text(json.loads(self.value))

    @property
    def texts(self) -> str:
        """The value, a list of texts or texts between commas, as the expression of a list. Raises
        NotTranslatedError."""
        value = json.loads(self.value)
        if isinstance(value, str) and _MORE_THAN_COMMAS.search(value):
            raise NotTranslatedError(
                f"`{self.kind}` is only translated with variables or quotes if its `value` is a list"
            )
        parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if not isinstance(parts, list) or not parts:
            raise NotTranslatedError(f"`{self.kind}` is only translated with a list as its `value`")
        return f"[{', '.join(as_expression(self._text(part)) for part in parts)}]"

    def _text(self, value: object) -> str:
        """A text or a number as JavaScript writes it."""
        if isinstance(value, bool) or not isinstance(value, str | int | float) or str(value).startswith("file://"):
            raise NotTranslatedError(f"`{self.kind}` is only translated with texts in its `value`")
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    def limit(self, usual: float | None = None) -> float:
        """The threshold. Raises NotTranslatedError."""
        found = usual if self.threshold is None else self.threshold
        if found is None:
            raise NotTranslatedError(f"`{self.kind}` has no `threshold`")
        if not 0 <= found < math.inf:
            raise NotTranslatedError(f"`{self.kind}` is only translated with a `threshold` of 0 or more")
        return found

    def lacks_text(self, variables: Mapping[str, str]) -> bool:
        """Whether it looks for an empty text, which every answer holds, or asks a judge for nothing."""
        value = json.loads(self.value)
        listed = value.split(",") if isinstance(value, str) and self.bare_kind in _OF_LISTS else value
        parts = listed if isinstance(listed, list) else [listed]
        return self.bare_kind in _OF_TEXTS and any(is_blank(str(part), variables) for part in parts)


def _is_json(assertion: Assertion) -> str:
    if assertion.value == "null":
        return "is_json(answer)"
    if not isinstance(json.loads(assertion.value), dict):
        raise NotTranslatedError("`is-json` is only translated with a schema in the configuration itself")
    return "valid_against(answer, params.schema)"


_PATTERN: Final = "write a check with `answer.matches` and a pattern of RE2"


def _matches(assertion: Assertion) -> str:
    pattern = assertion.template
    if (found := _OTHER_IN_JAVASCRIPT.search(pattern)) is not None:
        reason = f"JavaScript reads `{found[0]}` of the regular expression `{pattern}` otherwise than RE2"
        raise NotTranslatedError(f"`{assertion.kind}` is not translated: {reason}; {_PATTERN}")
    try:
        compile_regex(pattern)
    except PlanError as error:
        raise NotTranslatedError(f"`{assertion.kind}` is not translated: {error}; {_PATTERN}") from None
    return f"answer.matches({assertion.text})"


EXPRESSIONS: Final[dict[str, Callable[[Assertion], str]]] = {
    "equals": lambda each: f"answer == {each.text}",
    "contains": lambda each: f"answer.contains({each.text})",
    "icontains": lambda each: f"contains_ci(answer, {each.text})",
    "contains-all": lambda each: f"{each.texts}.all(part, answer.contains(part))",
    "contains-any": lambda each: f"{each.texts}.exists(part, answer.contains(part))",
    "icontains-all": lambda each: f"{each.texts}.all(part, contains_ci(answer, part))",
    "icontains-any": lambda each: f"{each.texts}.exists(part, contains_ci(answer, part))",
    "starts-with": lambda each: f"answer.startsWith({each.text})",
    "regex": _matches,
    "is-json": _is_json,
    "is-refusal": lambda each: "is_refusal(answer)",
    "levenshtein": lambda each: f"edit_distance(answer, {each.text}) <= {int(each.limit(5))}",
    "cost": lambda each: f"usage.cost <= {float(each.limit())}",
    "latency": lambda each: f"usage.latency <= {each.limit() / 1000}",
}
JUDGED: Final = ("llm-rubric", "model-graded-closedqa")
_OF_LISTS: Final = frozenset(("contains-all", "contains-any", "icontains-all", "icontains-any"))
_OF_TEXTS: Final = _OF_LISTS | {"contains", "icontains", "starts-with", "regex", *JUDGED}
KNOWN: Final = OTHERS | EXPRESSIONS.keys() | set(JUDGED)
_IN_CELL: Final = re.compile(r"((?:not-)?[a-z][a-z-]*)(?:\((\d+(?:\.\d+)?)\))?(?::\s*(.*))?", re.DOTALL)
SHARED: Final = ("equals", "contains", "icontains", "starts-with", *JUDGED)
_LIMIT_IN_CELL: Final = {"levenshtein": 0.75}  # promptfoo's, in tables only
# Texts between commas in which promptfoo reads quotes, or fills in variables before it splits them.
_MORE_THAN_COMMAS: Final = re.compile(r"""["{]""")
# What RE2 reads and JavaScript refuses or takes for other characters.
_OTHER_IN_JAVASCRIPT: Final = re.compile(r"\\[AzQEpPCa]|\[\^?\]|\[\[:|\(\?(?:[imsU-]+[:)]|P)")
_ALIASES: Final = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}


def where_of(node: Node) -> str:
    """The place of a node, for messages."""
    return f"{node.span.path}:{node.span.line}:{node.span.column}"


def assertions_of(node: Node | None, notes: list[str], *, is_default: bool = False) -> Iterator[Assertion]:
    """The assertions of `assert`; those that are not translated are added to `notes`."""
    if node is not None and not isinstance(node, Sequence):
        notes.append(f"{where_of(node)}: `assert` is only translated as a list")
    for each in items(node):
        given = plain(each) if isinstance(each, MappingNode) else {}
        kind, unread = given.get("type"), sorted(given.keys() - READ - WITHOUT_EFFECT)
        if kind == "assert-set" and isinstance(each, MappingNode) and unread == ["assert"] and "threshold" not in given:
            yield from assertions_of(each.get("assert"), notes, is_default=is_default)
        elif not isinstance(kind, str) or unread:
            what = f"`{kind}` with the key `{unread[0]}`" if kind and unread else "an assertion without `type`"
            notes.append(f"{where_of(each)}: {what} is not translated")
        else:
            ignored = sorted(given.keys() & WITHOUT_EFFECT)
            notes += [f"{where_of(each)}: `{key}` of `{kind}` is ignored" for key in ignored]
            yield _assertion(kind, given, where_of(each), is_default=is_default)


def _number(value: object) -> float:
    """The number; NaN for anything else, which no assertion is translated with."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _assertion(kind: str, given: dict[str, object], where: str, *, is_default: bool = False) -> Assertion:
    threshold, metric = given.get("threshold"), given.get("metric")
    return Assertion(
        kind,
        json.dumps(given.get("value"), sort_keys=True),
        None if threshold is None else _number(threshold),
        str(metric) if metric else None,
        is_default,
        where,
    )


def assertion_in_cell(cell: str, column: str, where: str) -> tuple[Assertion, str]:
    """The assertion in a cell of a table, such as `contains: text`, and its value. The value is read from a variable
    with the name of the column where it can be, so that the cells of a column share a check."""
    found = _IN_CELL.fullmatch(cell := cell.strip())
    kind = _ALIASES.get(found[1], found[1]) if found else ""
    if found is None or kind.removeprefix("not-") not in KNOWN:
        found, kind = None, "equals"
    value = cell if found is None else found[3] or ""
    shared = kind.removeprefix("not-") in SHARED and "{{" not in value
    limit = float(found[2]) if found and found[2] else _LIMIT_IN_CELL.get(kind.removeprefix("not-"))
    return _assertion(
        kind, {"value": f"{{{{{column}}}}}" if shared else value or None, "threshold": limit}, where
    ), value


def check_body(assertion: Assertion) -> str:
    """What decides the check, as lines of YAML. Raises NotTranslatedError."""
    kind = assertion.bare_kind
    if kind in JUDGED:
        return _prompt(assertion)
    if kind not in EXPRESSIONS:
        hint = f": {HINTS[kind]}" if kind in HINTS else "" if kind in KNOWN else question(kind, KNOWN)
        raise NotTranslatedError(f"`{kind}` is not translated{hint}")
    condition = EXPRESSIONS[kind](assertion)
    params = f"params: {json.dumps({'schema': json.loads(assertion.value)})}\n" if "params.schema" in condition else ""
    return f"{params}{'fail' if kind != assertion.kind else 'pass'}: >-\n  {condition}\n"


def _prompt(assertion: Assertion) -> str:
    if assertion.threshold is not None:
        cure = "remove it, and let the `value` say what a good answer needs"
        raise NotTranslatedError(
            f"`{assertion.kind}` is not translated with a `threshold`: judges give verdicts, not scores; {cure}"
        )
    met, unmet = ("FAIL", "PASS") if assertion.kind != assertion.bare_kind else ("PASS", "FAIL")
    lines = "\n".join(as_prompt(assertion.template).strip().splitlines())
    verdicts = f"{met}: it does. {unmet}: it does not."
    text = f"Does the last answer of the assistant meet this criterion?\n\n{lines}\n\n{verdicts}\n"
    return f"prompt: |\n{indent(text, '  ')}"


VARIABLES: Final = "scenario.metadata.vars"
_PLACEHOLDER: Final = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}")
_TEMPLATE: Final = re.compile(r"\{[{%#]")


class NotTranslatedError(Exception):
    """A part of a configuration that has no translation; the message says why."""


def value_text(value: object) -> str:
    """The text of a variable's value in a message. Raises NotTranslatedError."""
    if value is None or (isinstance(value, str) and (value.startswith("file://") or _TEMPLATE.search(value))):
        raise NotTranslatedError(f"a variable with the value `{json.dumps(value)}` is not translated; write its text")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def filled(template: str, variables: Mapping[str, str]) -> str:
    """The template with the values of its variables."""
    require_variables(template, variables)
    return _each_piece(template, str, lambda name: variables[name], "")


def require_variables(template: str, variables: Mapping[str, str]) -> None:
    """Raises NotTranslatedError if the template reads a variable that there is not."""
    for name in _PLACEHOLDER.findall(template):
        if name not in variables:
            known = ", ".join(f"`{each}`" for each in variables) or "none"
            raise NotTranslatedError(f"unknown variable `{name}`; expected one of `vars`: {known}")


def is_blank(template: str, variables: Mapping[str, str]) -> bool:
    """Whether a template is nothing but spaces with the values of these variables."""
    return not _PLACEHOLDER.sub(lambda found: variables.get(found[1], found[0]), template).strip()


def as_expression(template: str) -> str:
    """The template as an expression over the variables of the scenario."""
    return _each_piece(template, literal, lambda name: f"string({VARIABLES}[{literal(name)}])", " + ") or "''"


def as_prompt(template: str) -> str:
    """The template as a part of a judge's prompt."""
    return _each_piece(template, str, lambda name: f"{{{{ {VARIABLES}[{json.dumps(name)}] }}}}", "")


def _each_piece(template: str, text: Callable[[str], str], variable: Callable[[str], str], between: str) -> str:
    """The translated texts and names of a template, joined."""
    pieces = _PLACEHOLDER.split(template)
    if any(_TEMPLATE.search(each) for each in pieces[::2]):
        raise NotTranslatedError("only `{{NAME}}` is translated of templates, without filters, fields and `{% %}`")
    translated = [(variable if index % 2 else text)(each) for index, each in enumerate(pieces) if each]
    return between.join(translated)
