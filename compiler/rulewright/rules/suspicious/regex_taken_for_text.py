import re
from typing import Final

from rulewright.diagnostics import Findings, Fix, replace, warning
from rulewright.documents.lexicon import LexiconDocument, MarkerSet
from rulewright.load import Scalar
from rulewright.rules.suspicious.short_word_hits_inside_others import plain_texts

OF_REGEX: Final = re.compile(
    r"\(\?[a-zA-Z:=!<]|\\[bBdDsSwW]|\.[*+]|\\[.?()\[\]]|\[\^?\w-\w\]|\((?:[\w ]+\|)+[\w ]*\)|\w\)\?"
)


def regex_taken_for_text(document: LexiconDocument | MarkerSet) -> Findings:
    """A pattern looks like a regular expression, but is searched for literally.

    Why it matters: nobody says `\\b` or `(?i)`, so the pattern never hits, and the check passes.
    Instead: write `regex: '...'`, or, in a marker set, the words themselves.
    """
    for scalar in plain_texts(document):
        found = OF_REGEX.search(scalar.text)
        if found is not None:
            message = f"`{found[0]}` is searched for literally: the pattern is a text"
            fix = _as_regex(scalar) if isinstance(document, LexiconDocument) else None
            yield warning(scalar, message, help="write `regex:` before it, or write the words themselves", fix=fix)


def _as_regex(scalar: Scalar) -> Fix:
    escaped = scalar.text.replace("'", "''")
    written = f"{{regex: '{escaped}'}}"
    return replace(scalar, written, f"write `{written}`", safe=False)
