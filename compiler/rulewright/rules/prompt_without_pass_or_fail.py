"""Rule: a prompt that explains some verdicts, and not PASS or not FAIL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument
from rulewright_runtime.plan.part import VERDICTS


def prompt_without_pass_or_fail(check: CheckDocument) -> Iterator[Diagnostic]:
    """A prompt names some of the verdicts, and never PASS or never FAIL.

    Why it matters: a judge gives the verdicts that it was told of, so the check passes, or fails, every time.
    Instead: say when the verdict is given; look for the word misspelt.
    """
    prompt = check.prompt
    if prompt is None or not isinstance(prompt.value, str):
        return
    named = {word for word in VERDICTS if re.search(rf"\b{word}\b", prompt.value)}
    for word in ("PASS", "FAIL"):
        if len(named) > 1 and word not in named:
            yield warning(prompt, f"the prompt names {' and '.join(sorted(named))}, and never {word}")
