import re
from collections import Counter
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.prompt_prose import VERDICT, explained_verdicts
from rulewright.load import place
from rulewright_runtime.plan.part import VERDICTS

LABELLED: Final = re.compile(r"\b([A-Z_]{3,}):")  # one of them may be a misspelt verdict


def prompt_without_pass_or_fail(check: CheckDocument) -> Findings:
    """A prompt mentions or explains some of the verdicts, but not PASS or not FAIL, or is a question without them.

    Why it matters: a judge uses the verdicts that the prompt mentions, so the check passes, or fails, every time. A
    verdict explained twice usually takes the place of the missing one. A question alone leaves the judge to guess
    whether yes means PASS.
    Instead: say when the missing verdict is given, or correct its spelling.
    """
    prompt = check.prompt
    if prompt is None:
        return
    is_alone = {"pass", "fail", "routing", "pass_rule", "fail_rule"}.isdisjoint(check.node.keys)
    if is_alone and not re.search("pass|fail", prompt.text, re.IGNORECASE):
        help = "say what both mean, as in `FAIL: one reply is rude. PASS: none is.`"
        yield warning(prompt, "the prompt does not say when the verdict is PASS and when it is FAIL", help=help)
    places = explained_verdicts(prompt.text)
    explained = Counter(word for word, _ in places)
    twice = next((word for word, _ in places if explained[word] > 1), None)
    is_apart = twice is not None and twice * explained[twice] not in "".join(word for word, _ in places)
    lacking = [word for word in ("PASS", "FAIL", "UNCLEAR") if word not in explained]
    is_known = len(explained) > 1 or (lacking and not _mentions(prompt.text, lacking[0]))
    is_labelled = re.search(f"{VERDICT}:", prompt.text) is not None
    if not is_labelled and (lacking == ["UNCLEAR"] or (lacking and _is_the_rest(prompt.text, lacking[0]))):
        twice = None  # `FAIL if one is rude. FAIL if one is late. PASS otherwise.`
    if is_known and twice is not None and lacking and (is_apart or lacking != ["UNCLEAR"]):
        offsets = [at for word, at in places if word == twice]
        first, last = (place(prompt, at, at + len(twice)) for at in (offsets[0], offsets[-1]))
        message = f"the prompt explains {twice} twice, but not {lacking[0]}"
        yield warning(last, message, notes=[(first, "explained here first")])
        return
    unnamed = [word for word in ("PASS", "FAIL") if not _mentions(prompt.text, word)]
    named = sorted(word for word in VERDICTS if unnamed and _mentions(prompt.text, word))
    labelled = LABELLED.findall(prompt.text) if unnamed else ()
    for word in unnamed if len(named) > 1 or set() < set(named) < set(labelled) else ():
        other = re.search(rf"\b{word}\w+(?=:)", prompt.text)
        where = prompt if other is None else place(prompt, *other.span())
        message = f"the prompt mentions {' and '.join(named)}, but not {word}"
        yield warning(where, message, help=None if other is None else Guess(word))


def _is_the_rest(prompt: str, word: str) -> bool:
    """Whether a verdict is given in every other case, or explained with another word than `if`."""
    after = "else|except|for|in|otherwise|to|unless|when|where"
    return (
        re.search(rf"\b{word}\b,? (?:{after})\b|\b(?:else|otherwise)\b[^.]{{0,300}}\b{word}\b", prompt, re.IGNORECASE)
        is not None
    )


def _mentions(prompt: str, word: str) -> bool:
    return re.search(rf"{word}(?<!\w{word})\b|{(low := word.lower())}(?<!\w{low})(?:s|es|ed)\b", prompt) is not None
