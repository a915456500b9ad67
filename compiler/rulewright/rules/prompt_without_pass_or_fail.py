"""Rule: a prompt that mentions some verdicts, but not PASS or not FAIL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument
from rulewright_runtime.plan.part import VERDICTS


def prompt_without_pass_or_fail(check: CheckDocument) -> Iterator[Diagnostic]:
    """A prompt mentions some of the verdicts, but not PASS or not FAIL.

    Why it matters: a judge uses the verdicts that the prompt mentions, so the check passes, or fails, every time.
    Instead: say when the missing verdict is given, or correct its spelling.
    """
    prompt = check.prompt
    if prompt is None or not isinstance(prompt.value, str):
        return
    named = {word for word in VERDICTS if re.search(rf"\b{word}\b", prompt.value)}
    for word in ("PASS", "FAIL"):
        if len(named) > 1 and word not in named:
            yield warning(prompt, f"the prompt mentions {' and '.join(sorted(named))}, but not {word}")
