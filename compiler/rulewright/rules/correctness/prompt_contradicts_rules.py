import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import repeated, scalar
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import OPPOSITES, opposed
from rulewright.documents.prompt_prose import VERDICT
from rulewright.load import Scalar, place
from rulewright.spelling import is_slip_of
from rulewright_runtime.plan.part import VERDICTS

NAMED: Final = r"[ \t]*([A-Z][A-Z_]{2,}(?: [A-Z]{2,})?)(?::| (?:only )?if\b)"  # a word explained in a line of its own
HEAD: Final = re.compile(rf"^{NAMED}", re.MULTILINE)
INLINE: Final = rf"(?<=[.;] )(?={VERDICT}:)"  # a verdict that is explained in the line of another one
REST: Final = rf"(?:(?!{INLINE}).)*"
LINE: Final = re.compile(
    rf"(?:^[ \t]*|{INLINE})([A-Z][A-Z_]{{2,}}(?: [A-Z]{{2,}})?)(?::| (?:only )?if\b)"
    rf"({REST}(?:\n(?!{NAMED.replace('(', '(?:', 1)}|\n){REST})*)",
    re.MULTILINE,
)
WORD: Final = re.compile(
    r"([A-Z](?<!\w.)[A-Z_]{2,})(?::| (?:only )?if\b)"
)  # anywhere; it starts with a letter, because a search for that is fast
EXPLAINED: Final = re.compile(rf"({VERDICT})(?::| if\b:?)\s*([^.:\n]{{4,}})(?=[.\n]|$)")  # in one sentence
EVIDENCE: Final = re.compile(r"For (PASS|UNCLEAR|NOT_APPLICABLE),? (?:quote|cite)\b")
# A sentence without a condition: `Answer FAIL if a price is on no list` may be anywhere.
AND_THEN: Final = re.compile(
    r"(?:A(?<!\w.)nswer|R(?<!\w.)eply|R(?<!\w.)eturn|G(?<!\w.)ive|S(?<!\w.)ay) (PASS|FAIL|UNCLEAR|NOT_APPLICABLE)"
    r"(?: (?:here|instead|then))?[.;]"
)
# A sample with its verdict, below the explanation of one: `- Claims to remember = FAIL`.
SAMPLE: Final = re.compile(r"=(?<![=!<>]=)\s+(PASS|FAIL)\b")
NEGATION: Final = re.compile(r"\b(?:no|not|never|cannot|nobody|nothing|without)\b|n't\b", re.IGNORECASE)
# A word with which a clause denies something, or sets a condition, without one of `NEGATION`.
OMITS: Final = re.compile(
    r"\b(?:fail|lack|omit|refus|leav|ignor|miss|avoid|instead|only|unless|before|after|but|hardly|these|following)",
    re.I,
)
RULES: Final = {"note": 1, "pass_rule": 1, "fail_rule": -1}  # 1: about PASS
SIGNS: Final = {"PASS": 1, "FAIL": -1}
SAME: Final = 0.7  # of the words of two clauses
RUN: Final = 3  # words of a clause that a question has one after the other
CLAUSE: Final = 2  # words that a clause has
MOST: Final = 200  # clauses of a text that are compared with those of another
ALIKE: Final = 2  # words that two texts share beyond those of the other pair
MEANINGFUL: Final = re.compile(r"[a-z]{4,}")  # a word in small letters that says something
# What a text denies: the verb and the word after it, neither of which is a short one.
DENIED: Final = re.compile(r"\b(?:not|never) ([a-z]{3,} [a-z]{5,})\b", re.IGNORECASE)
LETTERS: Final = re.compile(r"[a-z]+")
# The end of a clause. It starts with one of a few characters, because a search for these is fast.
END: Final = re.compile(r"[.;:,\na](?:(?<=[.;:,])\s|(?<=\n)|(?<=\ba)nd\b)")


def prompt_contradicts_rules(check: CheckDocument) -> Findings:
    """A prompt swaps the explanations of PASS and FAIL, drops a negation, says the opposite, or names no verdict.

    Why it matters: the judge follows the prompt, readers follow the rules, and each believes the opposite. An unknown
    verdict is an unusable reply.
    Instead: swap the explanations, or correct the name of the verdict.
    """
    prompt = check.prompt
    if prompt is None:
        return
    words = [*WORD.finditer(prompt.text)]
    slips = _misspelt({found[1] for found in words if not found[1].startswith(VERDICTS)}, prompt.text)
    for found in words:
        if found[1] in slips:
            yield warning(place(prompt, *found.span(1)), f"`{found[1]}` is not a verdict", help=slips[found[1]])
    lines = {found[1]: found for found in LINE.finditer(prompt.text) if found[1] not in slips}
    yield from _unknown(prompt, lines)
    yield from _asked_for_another(prompt, lines)
    yield from _evidence_for_another(prompt, lines)
    alike = [*_explained_alike(prompt)]
    yield from alike
    yield from _other_samples(prompt, prompt.text)
    yield from _applicable(prompt, lines)
    yield from _swapped(check, lines)
    yield from _contradicted(check, prompt, lines) if not alike else ()


def _unknown(prompt: Scalar, lines: dict[str, re.Match[str]]) -> Findings:
    """A line that explains an unknown word between those of the verdicts, or one that begins as a verdict that has no
    line."""
    begun = {_start(word) for word in lines}
    lacking = [each for each in VERDICTS if _start(each) not in begun]
    given = [found for word, found in lines.items() if word in VERDICTS]
    ends, starts = {found.end() + 1 for found in given}, {found.start() for found in given}  # of the explanations
    for word, found in lines.items():
        is_next = found.start() in ends or found.end() + 1 in starts
        is_note = prompt.text.startswith(":", found.end(1)) and not SIGNS.keys() & {*lacking}  # `NOTE:`
        near = lacking[0] if len(lacking) == 1 and is_next and not is_note else None
        alike = [each for each in VERDICTS if _start(each) == _start(word) or is_slip_of(word, each)]
        near = next((each for each in alike if each not in lines), near)
        if word not in VERDICTS and near is not None:
            yield warning(place(prompt, *found.span(1)), f"`{word}` is not a verdict", help=Guess(near))


def _asked_for_another(prompt: Scalar, lines: dict[str, re.Match[str]]) -> Findings:
    """An explanation of one verdict that asks for another one."""
    for word, found in lines.items():
        inner = AND_THEN.search(found[2])
        if word in VERDICTS and inner is not None and inner[1] != word:
            at = found.start(2)
            message = f"the prompt asks for {inner[1]} where it explains {word}"
            yield warning(place(prompt, at + inner.start(), at + inner.end()), message)


def _evidence_for_another(prompt: Scalar, lines: dict[str, re.Match[str]]) -> Findings:
    """Evidence that is asked for with another verdict than FAIL, outside of the explanation of that verdict."""
    wrong = EVIDENCE.search(prompt.text)
    within = next((word for word, found in lines.items() if wrong and found.start() < wrong.start() < found.end()), "")
    if wrong is not None and "for fail" not in prompt.text.lower() and within != wrong[1]:
        message = f"evidence is needed for FAIL, but the prompt asks for it for {wrong[1]}"
        yield warning(place(prompt, *wrong.span(1)), message, help=Guess("FAIL"))


def _explained_alike(prompt: Scalar) -> Findings:
    """Two verdicts with the same explanation."""
    for one, other in repeated(EXPLAINED.finditer(prompt.text), lambda each: each[2].strip().lower()):
        if one[1] != other[1]:
            notes = [(place(prompt, *other.span(1)), "the other one")]
            yield warning(place(prompt, *one.span(1)), f"{one[1]} is explained like {other[1]}", notes=notes)


def _applicable(prompt: Scalar, lines: dict[str, re.Match[str]]) -> Findings:
    """NOT_APPLICABLE explained by what the question is about, without a negation: `a child travels alone`."""
    found = lines.get("NOT_APPLICABLE")
    if found is None:
        return
    clause = END.split(found[2].strip(" .:"), 1)[0].strip(" .:")
    words = MEANINGFUL.findall(clause.lower())
    asked = MEANINGFUL.findall(prompt.text[: min(each.start() for each in lines.values())].lower())
    runs = zip(*(asked[at:] for at in range(len(words))), strict=False)
    if len(words) >= RUN and tuple(words) in runs and not NEGATION.search(clause) and not OMITS.search(clause):
        message = f"NOT_APPLICABLE is explained by what the question is about: `{clause}`"
        yield warning(place(prompt, *found.span(1)), message)


def _other_samples(prompt: Scalar, text: str) -> Findings:
    """The only sample of a verdict among those of the other one, below the explanation of that one."""
    begun = [*HEAD.finditer(text)]
    ends = [*(each.start() for each in begun[1:]), len(text)]
    for one, end in zip(begun, ends, strict=False):
        samples = [*SAMPLE.finditer(text, one.end(), end)]
        odd = [each for each in samples if each[1] != one[1]]
        if one[1] in SIGNS and len(odd) == 1 < len(samples):
            message = f"the prompt explains {one[1]} here, and calls this sample a {odd[0][1]}"
            notes = [(place(prompt, *one.span(1)), "explained here")]
            yield warning(place(prompt, *odd[0].span(1)), message, notes=notes)


def _swapped(check: CheckDocument, lines: dict[str, re.Match[str]]) -> Findings:
    """A finding where the explanations of PASS and FAIL have the words of the rule for the other."""
    rules = [scalar(check.node, key) for key in ("pass_rule", "fail_rule")]
    passes, fails = (_words(each.text) if each is not None else set[str]() for each in rules)
    if check.prompt is not None and not {"PASS", "FAIL"} <= lines.keys():
        lines = {found[1]: found for found in EXPLAINED.finditer(check.prompt.text)}
    if check.prompt is None or not {"PASS", "FAIL"} <= lines.keys() or not passes or not fails:
        return
    explained = {word: _words(lines[word][2]) for word in ("PASS", "FAIL")}
    straight = len(explained["PASS"] & passes - fails) + len(explained["FAIL"] & fails - passes)
    crossed = len(explained["PASS"] & fails - passes) + len(explained["FAIL"] & passes - fails)
    if crossed >= straight + ALIKE:
        notes = [(each, "the rule") for each in rules if each is not None]
        message = "the prompt explains PASS in the words of `fail_rule` and FAIL in those of `pass_rule`"
        yield warning(place(check.prompt, *lines["PASS"].span(1)), message, notes=notes)


def _contradicted(check: CheckDocument, prompt: Scalar, lines: dict[str, re.Match[str]]) -> Findings:
    """The first clause about one verdict that another text denies, or that a text about the other verdict repeats."""
    rules = [(key, scalar(check.node, key)) for key in RULES]
    spans = {key: rule.span for key, rule in rules if rule is not None}
    written = [(key, _clauses(rule.text), RULES[key]) for key, rule in rules if rule is not None]
    written += [(word, _clauses(lines[word][2]), SIGNS[word]) for word in SIGNS if word in lines]
    pairs = ((one, other) for at, one in enumerate(written) for other in written[:at])
    for (name, clauses, sign), (other, its_clauses, its_sign) in pairs:
        is_same = sign == its_sign
        turned = next(chain(_opposed(clauses, its_clauses), _denied(clauses, its_clauses)), None) if is_same else None
        if turned is not None:
            span, its_span = (spans.get(each) or place(prompt, *lines[each].span(2)) for each in (name, other))
            message = f"`{name}` says `{turned[0]}` where `{other}` says `{turned[1]}`"
            yield warning(span, message, notes=[(its_span, "the other one")])
            return
        repeated = [*clauses][:1] if not is_same and [*clauses] == [*its_clauses] else []
        clause = next(iter([*repeated, *_contradictions(clauses, its_clauses, is_same=is_same)]), None)
        if clause is not None:
            span, its_span = (spans.get(each) or place(prompt, *lines[each].span(2)) for each in (name, other))
            how = "differ by a negation" if sign == its_sign else "say the same"
            yield warning(span, f"`{name}` and `{other}` {how}: `{clause}`", notes=[(its_span, "the other one")])
            return


def _contradictions(clauses: dict[str, set[str]], others: dict[str, set[str]], *, is_same: bool) -> Iterator[str]:
    """The clauses of a text that have the words of one of the other, but another sense."""
    for one, words in clauses.items():
        for two, its_words in others.items():
            is_alike = len(words & its_words) >= (SAME if is_same else 1) * len(words | its_words)
            if is_alike and (_is_denied(one) == _is_denied(two)) != is_same and not OMITS.search(f"{one} {two}"):
                yield one


def _opposed(clauses: dict[str, set[str]], others: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """The opposite words by which a clause differs from one of the other text that is alike: `before` and `after`. A
    text with both words speaks of both."""
    own = _spelt(clauses)
    if OPPOSITES.keys().isdisjoint(own):
        return
    others_own = _spelt(others)
    spelt = {each: LETTERS.findall(each.lower()) for each in (*clauses, *others)}
    for one, words in clauses.items():
        for two, its_words in others.items():
            pair = opposed(spelt[one], spelt[two])
            both = _words(" ".join(pair or ()))
            says_both = pair is not None and (pair[0] in others_own or pair[1] in own)
            if pair is not None and not says_both and len(words & its_words) >= SAME * len((words | its_words) - both):
                yield pair


def _denied(clauses: dict[str, set[str]], others: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """What a text denies and the other one, without any negation, says: `does not ask directly`, `asks directly`."""
    for one, other in ((clauses, others), (others, clauses)):
        denials = [(found, clause) for clause in one for found in DENIED.finditer(clause)]
        if not denials or any(map(NEGATION.search, other)):
            continue
        pairs = {pair: clause for clause in other for pair in pairwise(_stems(clause))}
        for found, clause in denials:
            says = next((pairs[pair] for pair in pairwise(_stems(found[1])) if pair in pairs), None)
            if says is not None and not OMITS.search(f"{says} {clause}"):
                texts = (found[0], " ".join(found[1].split()))
                yield texts if one is clauses else texts[::-1]


def _spelt(clauses: Iterable[str]) -> set[str]:
    return {*LETTERS.findall(" ".join(clauses).lower())}


def _stems(clause: str) -> list[str]:
    return [each.removesuffix("s") for each in LETTERS.findall(clause.lower())]


def _clauses(text: str) -> dict[str, set[str]]:
    """The clauses of a text that are long enough to mean something, with their words."""
    clauses = {each.strip(" .:"): _words(each) for each in END.split(text, MOST)[:MOST]}
    return {clause: words for clause, words in clauses.items() if len(words) >= CLAUSE}


def _is_denied(clause: str) -> bool:
    return len(NEGATION.findall(clause)) % 2 == 1


def _misspelt(words: set[str], text: str) -> dict[str, Guess]:
    """The words that misspell a verdict, with it: one that a prompt with other verdicts does not name."""
    meant = {word: near for word in words if (near := [each for each in VERDICTS if is_slip_of(word, each)])}
    named = [each for each in VERDICTS if meant and re.search(rf"\b{each}\b", text)]
    unnamed = {word: [each for each in near if each not in named] for word, near in meant.items() if named}
    return {word: Guess(near[0]) for word, near in unnamed.items() if near}


def _start(word: str) -> str:
    """The first letters of a verdict, which also its misspellings have."""
    return word.replace("_", "").replace(" ", "")[:4]


def _words(text: str) -> set[str]:
    return {each.removesuffix("s")[:6] for each in MEANINGFUL.findall(text.lower())}
