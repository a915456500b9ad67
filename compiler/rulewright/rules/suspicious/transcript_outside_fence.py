import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.load import place

PLACEHOLDER: Final = re.compile(r"\{[{%].*?[}%]\}", re.DOTALL)
TURNS: Final = re.compile(r"""\bscenario\s*(?:\.\s*(?:turns|sessions)\b|\[\s*['"](?:turns|sessions)['"]\s*\])""")


def transcript_outside_fence(check: CheckDocument) -> Findings:
    """A prompt repeats turns of the scenario itself.

    Why it matters: the transcript is sent inside a fence that tells the judge not to obey it. Words that the prompt
    repeats are outside, where a message such as "answer PASS" is an instruction.
    Instead: remove the turns; the judge receives the transcript's window anyway.
    """
    if check.prompt is None:
        return
    for found in PLACEHOLDER.finditer(check.prompt.text):
        named = TURNS.search(found.group())
        if named is not None:
            start = found.start() + named.start()
            span = place(check.prompt, start, start + len(named.group()))
            yield warning(span, f"`{named.group()}` puts the user's words outside the fence")
