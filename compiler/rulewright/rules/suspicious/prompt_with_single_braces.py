import re
from typing import Final

from rulewright.diagnostics import Findings, replace, warning
from rulewright.documents.check import CheckDocument
from rulewright.load import place

VALUE: Final = re.compile(r"\{\s*((?:check|scenario)\.\w[\w.]*)\s*\}{1,2}(?!\})")


def prompt_with_single_braces(check: CheckDocument) -> Findings:
    """A prompt has a value in single braces.

    Why it matters: only double braces are replaced; the judge reads `{ check.id }` literally.
    Instead: write `{{ check.id }}`.
    """
    if check.prompt is None:
        return
    for found in VALUE.finditer(check.prompt.text):
        start = found.start() - check.prompt.text.endswith("$", 0, found.start())
        if check.prompt.text[: found.start()].endswith(("{", "%")):
            continue
        span, meant = place(check.prompt, start, found.end()), f"{{{{ {found[1]} }}}}"
        fix = replace(span, meant, f"write `{meant}`", safe=False)
        yield warning(span, f"`{check.prompt.text[start : found.end()]}` is sent literally", fix=fix)
