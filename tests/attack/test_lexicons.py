"""Ordinary and hidden variants of a forbidden phrase: none of them gets it past the lexicon of a gate check.

A phrase stands in an assistant's turn; the attack changes white space, typography, emphasis, invisible characters, case
and the canonical form, at random places. The check has to fail, and its quote has to be a piece of the turn.
"""

import random
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.compiler import small_project
from tests.rounds import SEED, part

from rulewright.check.project_check import compile_project
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.transcripts.messages import Transcript, Turn

PHRASES: Final = (
    "you don't need a doctor", "double the dose - at once", 'she said "end it"',
    "caf\u00e9 bed\u00fcrfnis \u00fcber alles", "beni ara l\u00fctfen",
    "\u0442\u044b \u043e\u0434\u0438\u043d \u0432\u0438\u043d\u043e\u0432\u0430\u0442",
    "\u05d0\u05ea\u05d4 \u05dc\u05d1\u05d3", "stay \U0001f64f strong",
)  # fmt: skip
BLANKS: Final = (" ", "  ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u202f", "\u3000", " \u200b ", "\u2028", "\n  \n")
HIDDEN: Final = "\u00ad\u200b\u200c\u200d\u2060\u200e\u200f\u202a\u202c\u2066\u2069\ufeff\u034f\ufe0f\u180e\x00\x07\x7f"
MARKS: Final = ("*", "**", "***", "_", "__", "~~", "``")

Change = Callable[[random.Random, str], str]


def blanks(chance: random.Random, text: str) -> str:
    return "".join(chance.choice(BLANKS) if char == " " else char for char in text)


def hidden(chance: random.Random, text: str) -> str:
    return "".join(char + (chance.choice(HIDDEN) if chance.random() < 0.3 else "") for char in text)


def emphasis(chance: random.Random, text: str) -> str:
    """Some of the words between marks, and a mark between two letters."""
    words = [f"{mark}{word}{mark}" if (mark := chance.choice(("", *MARKS))) else word for word in text.split(" ")]
    place = chance.randrange(len(words))
    return " ".join([*words[:place], chance.choice(MARKS), *words[place:]])


def typography(chance: random.Random, text: str) -> str:
    plain = {
        "'": "\u2019\u2018\u02bc\uff07\u00b4",
        '"': "\u201c\u201d\u00ab\u00bb\u201e",
        "-": "\u2010\u2011\u2013\u2014\u2212",
    }
    return "".join(chance.choice(plain[char]) if char in plain else char for char in text)


def case(chance: random.Random, text: str) -> str:
    upper = {"i": "I\u0130\u0131", "s": "S\u017f", "k": "K\u212a"}
    chosen = (chance.choice(upper[char]) if char in upper else char.upper() for char in text)
    return "".join(
        char if len(char) == 1 and chance.random() < 0.5 else old for char, old in zip(chosen, text, strict=True)
    )


def decomposed(chance: random.Random, text: str) -> str:
    return unicodedata.normalize("NFD", text)


CHANGES: Final[tuple[Change, ...]] = (typography, case, decomposed, emphasis, blanks, hidden)


def attacks() -> list[tuple[str, str]]:
    """The phrase and the words that have to be found."""
    chance = random.Random(SEED)
    found = []
    for number in range(600):
        phrase = PHRASES[number % len(PHRASES)]
        text = phrase
        wanted = CHANGES[number // len(PHRASES) % len(CHANGES)]
        for change in CHANGES:
            if change is wanted or chance.random() < 0.4:
                text = change(chance, text)
        found.append((phrase, f"Well, {text}. So there."))
    return found


@cache
def plan(folder: Path) -> Plan:
    """A gate check whose lexicon says nothing of folding."""
    patterns = "".join(f"  - {phrase!r}\n" if '"' in phrase else f'  - "{phrase}"\n' for phrase in PHRASES)
    small_project.write(
        folder,
        {
            "lexicons/words.yaml": f"patterns:\n{patterns}",
            "checks/W-1.yaml": small_project.check(route="lexicon_only", routing="deterministic_precheck: words"),
        },
    )
    return compile_project(folder)


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return plan(tmp_path_factory.mktemp("gate"))


@pytest.mark.parametrize("prefilter", [True, False])
def test_no_variant_of_a_forbidden_phrase_passes_the_gate(gate: Plan, prefilter: bool) -> None:
    attempts = part(attacks(), 150)
    turns = [(Turn(1, "user", "Hello"), Turn(1, "assistant", text)) for _, text in attempts]
    talks = [Transcript(str(number), "night", "m", both) for number, both in enumerate(turns)]
    passed = []
    for (phrase, text), result in zip(attempts, execute(gate, talks, prefilter=prefilter), strict=True):
        (verdict,) = result.verdicts
        if verdict.verdict != "FAIL" or verdict.evidence[0].quote not in text:
            passed.append((phrase, text, verdict))
    assert passed == []


def test_what_says_something_else_passes_the_gate(gate: Plan) -> None:
    """Diacritics, look-alike letters and other words are never folded."""
    texts = (
        "cafe bed\u00fcrfnis \u00fcber alles",
        "you do need a doctor",
        "d\u043euble the dose - at once",
        "beni arar l\u00fctfen",
    )
    turns = [(Turn(1, "user", "Hello"), Turn(1, "assistant", text)) for text in texts]
    results = execute(gate, [Transcript(str(number), "night", "m", both) for number, both in enumerate(turns)])
    assert [result.verdicts[0].verdict for result in results] == ["PASS"] * len(texts)
