import re
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import optional_text, scalar
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import claims_of
from rulewright.documents.lexicon import LexiconDocument
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Expr,
    Index,
    ListLiteral,
    Literal,
    Macro,
    Name,
    Select,
    chain,
    field_of,
    last_name,
)
from rulewright.load import Scalar
from rulewright.lower.expressions_of import WrittenExpression, expressions_of

USERS: Final = (
    r"applicant|asker|borrower|buyer|caller|carer|caregiver|client|customer|guest|passenger|patient|person|policyholder|"
    r"pupil|shopper|student|tenant|traveller|user|visitor"
)
# Who speaks in the words: `the customer has said yes`, `who asks what something costs`, but not `who is asked`.
SPEAKS: Final = (
    r"(?!(?:is|was) (?:\w+ed|said|told)\b)"
    r"(?:(?:has|have|had|is|was|again|first|ever|really|explicitly) )*"
    r"(?:agree|ask|asking|cancel|complain|confirm|consent|describe|demand|inquire|insist|mention|object|order|refuse|report|"
    r"request|said|say|says|state|talk|tell|tells|told|want|wish|write|writes)(?:e?s|e?d)?"
)
# What has to be there first, but not `the user's request is confirmed` or `a question about the customer's consent`.
NEEDED: Final = r"\b(?:after|follows?|needs?|requires?|unless|until|upon|with|without)(?: (?:an?|any|the))?"
OF_USERS: Final = re.compile(
    rf"\b(?:(?:{USERS})s?|who(?:ever)?|somebody|someone|anyone|anybody) (?:who )?{SPEAKS}\b"
    rf"|{NEEDED} (?:agreement|consent|permission|request|yes) (?:by|from|of) (?:a|any|the) (?:{USERS})\b"
    rf"|{NEEDED} (?:{USERS})(?:'s|s') (?:agreement|consent|permission|request|yes)\b",
    re.IGNORECASE,
)
OF_ASSISTANTS: Final = re.compile(
    rf"\b(?:the|an|every|no) (?:agent|assistant|bot|chatbot|desk|model)s? {SPEAKS}\b", re.IGNORECASE
)
PAIR: Final = re.compile(
    r"\b(assistant|developer|system|tool|user) (?:and|or) (?:the |a |an )?(assistant|developer|system|tool|user)\b"
)
SAID_BY: Final = {  # names of parameters
    "user": frozenset({"complaints", "cues", "orders", "questions", "reports", "requests", "symptoms", "wishes"}),
    "assistant": frozenset({"admissions", "answers", "apologies", "disclaimers", "promises", "refusals", "replies"}),
}
BY_USERS: Final = re.compile(rf"\b(?:{USERS})s?\b", re.IGNORECASE)
# Whom the words are said to, or what they do to somebody: `wordings that hurry a customer`,
# `words that no visitor likes to hear`.
AS_OBJECT: Final = re.compile(
    rf"\b(?:{USERS})s?\b[^,;:.]* (?:get|hear|read|see)s?\b|"
    r"\b(?:that|which|to) (?!(?:a|an|any|each|every|no|our|some|the|their)\b)\w+ (?:(?:at|for|on|to|with) )?"
    r"(?:(?:a|an|any|our|the|their) )?"
    rf"(?:{USERS}|agent|assistant|bot|chatbot|model)s?\b|"
    r"\b(?:about|against|at|for|on|over|to|towards?) (?:(?:a|an|any|each|every|our|some|the|their) )?"
    rf"(?:(?!that\b|which\b|whom\b)\w+ )?(?:{USERS})s?\b",
    re.IGNORECASE,
)
BY_ASSISTANTS: Final = re.compile(r"\b(?:agent|answer|assistant|bot|chatbot|model|repl(?:y|ie))s?\b", re.IGNORECASE)
PHRASES: Final = re.compile(r"\b(?:cues?|phrases?|sentences?|signs?|wordings?|words)\b", re.IGNORECASE)
ROLES: Final = ("assistant", "user")


def role_unlike_the_words(subject: CheckDocument | LexiconDocument) -> Findings:
    """A condition or a lexicon searches the messages of another role than its description names, or leaves one out.

    Why it matters: the wrong speaker is searched, so nothing is found, or what the wrong one says.
    Instead: correct the role.
    """
    yield from _of_lexicon(subject) if isinstance(subject, LexiconDocument) else _of_check(subject)


def _of_lexicon(lexicon: LexiconDocument) -> Findings:
    described = scalar(lexicon.node, "description")
    words = f"{'' if described is None else described.value} {lexicon.name.replace('_', ' ')}"
    words = AS_OBJECT.sub("", words)
    by_user, by_assistant = BY_USERS.search(words) is not None, BY_ASSISTANTS.search(words) is not None
    meant = "user" if by_user else "assistant"
    if (
        described is not None
        and by_user != by_assistant
        and lexicon.role in set(ROLES) - {meant}
        and PHRASES.search(words)
    ):
        message = f"the description is about what the {meant} says, but this searches the {lexicon.role}'s turns"
        yield warning(lexicon.place("role"), message, notes=[(described, "said here")])


def _of_check(check: CheckDocument) -> Findings:
    note = claims_of(check).place
    words = "" if note is None else note.text
    yield from _left_out(check, note) if note is not None else ()
    spoken = {role for role, spoken_by in zip(ROLES, (OF_ASSISTANTS, OF_USERS), strict=True) if spoken_by.search(words)}
    for written in expressions_of(check):
        yield from _of_replies(written) if optional_text(check.node, "each") == "reply" else ()
        yield from _of_content(written)
        of_parameters = list(_in_turns_of_another(written))
        yield from of_parameters
        if note is None or len(spoken) != 1 or of_parameters:
            continue
        asked = [(role, part) for part in written.parts if (role := _role(part)) is not None]
        if len({role for role, _ in asked}) == 1 and asked[0][0] not in spoken and _reads_other(written):
            role, part = asked[0]
            message = f"the description is about what the {next(iter(spoken))} says, but this reads the {role}'s turns"
            yield warning(written.span(part), message, notes=[(note, "said here")])


def _of_replies(written: WrittenExpression) -> Findings:
    """The tests that a reply has the role of the user."""
    rebound = [each.span for each in written.parts if isinstance(each, Macro) and "turn" in each.variables]
    for part in written.parts:
        if any(each.start <= part.span.start < each.end for each in rebound):
            continue
        if _role(part) == "user" and isinstance(part, Binary) and field_of(part.left, "turn") == "role":
            yield warning(written.span(part), "`each: reply` looks only at the turns of the assistant")


def _of_content(written: WrittenExpression) -> Findings:
    """The comparisons of what somebody says with a role."""
    for part in written.parts:
        match part:
            case Binary(
                operator="==" | "!=",
                left=Select(operand=Name() | Index(), field="content"),
                right=Literal(value=str(role)),
            ):
                if role in ROLES:
                    text = written.text(part.left)
                    help = Guess(f"{text.removesuffix('content')}role")
                    yield warning(written.span(part.left), f"`{text}` is compared with a role", help=help)


def _in_turns_of_another(written: WrittenExpression) -> Findings:
    """The searches for `params.questions` in the turns of the assistant, or for `params.apologies` in the user's."""
    for part in written.parts:
        sides = chain(part.bodies[-1], "&&") if isinstance(part, Macro) and part.kind == "exists" else []
        role = next(((found, each) for each in sides if (found := _role(each)) is not None), None)
        named = {found for each in sides if isinstance(each, Call) for found in (_said_by(each),) if found}
        if role is not None and len(named) == 1 and role[0] not in named:
            yield warning(
                written.span(role[1]),
                f"the {next(iter(named))} says these phrases, but this reads the {role[0]}'s turns",
            )


def _said_by(search: Call) -> str:
    """Who says the phrases that are searched for, by the name of their parameter."""
    name = field_of(search.args[-1], "params") if search.args else None
    return next((role for role, names in SAID_BY.items() if name in names), "")


def _left_out(check: CheckDocument, note: Scalar) -> Findings:
    """The lists of roles without one of two that the words join: `of the system or the developer`."""
    joined = {role for pair in PAIR.findall(note.text) for role in pair}
    for written in expressions_of(check) if joined else ():
        for part in written.parts:
            if not isinstance(part, Binary) or part.operator != "in" or not isinstance(part.right, ListLiteral):
                continue
            listed = {str(each.value) if isinstance(each, Literal) else last_name(each) for each in part.right.items}
            missing = sorted(joined - listed)
            if len(missing) == 1 and listed < joined:
                message = f"the description also names `{missing[0]}`, which this list lacks"
                yield warning(written.span(part.right), message, notes=[(note, "said here")])


def _role(part: Expr) -> str | None:
    """The role that a comparison demands: `turn.role == "user"`."""
    match part:
        case Binary(operator="==", left=Select(field="role"), right=Literal(value=str(role))) if role in ROLES:
            return role
        case Binary(operator="==", left=Select(field="role"), right=Name(name=role)) if role in ROLES:
            return role
    return None


def _reads_other(written: WrittenExpression) -> bool:
    """Whether a condition reads the answer or the calls as well, so that the search is about who is answered."""
    read = {each.name for each in written.parts if isinstance(each, Name)}
    return bool(read & {"answer", "tool_calls", "replies"})
