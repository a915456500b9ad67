import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.load import place

STEP: Final = re.compile(r"(?im)^[ \t]*(?P<name>(?:step|phase|part|stage) (?P<number>\d{1,4}))\b")


def step_skipped(check: CheckDocument) -> Findings:
    """The numbered steps of a prompt skip a number.

    Why it matters: the missing step was probably removed or is yet to be written, and the judge may look for it.
    Instead: write the missing step, or number the others again.
    """
    prompt = check.prompt
    if prompt is None:
        return
    steps = list(STEP.finditer(prompt.text))
    kinds = {step["name"].split()[0].lower() for step in steps}
    if len(kinds) != 1:
        return
    numbers = [int(step["number"]) for step in steps]
    for step, number, before in zip(steps, numbers, [0, *numbers], strict=False):
        if number > before + 1:
            message = f"`{step['name']}` follows {before or 'nothing'}; {before + 1} is missing"
            yield warning(place(prompt, *step.span("name")), message)
            return
