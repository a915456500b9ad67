import json
import re
from typing import Final

from rulewright.diagnostics import Findings, error, replace
from rulewright.documents.base import scalar
from rulewright.documents.suggestions import DEGREES, by_degree
from rulewright.documents.vocabulary import invisiblebench
from rulewright.fixes import as_text
from rulewright.project import Project
from rulewright.spelling import did_you_mean, suggest

PARTS: Final = (("buckets", "primary_bucket"), ("severities", "severity"))
WORD: Final = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)  # what the schema of `vocabulary` allows
SHOWN: Final = 4  # words in the message


def words_without_vocabulary(project: Project) -> Findings:
    """Several checks use buckets or severities of their own, but the project file has no `vocabulary`.

    Why it matters: only the words of the shipped vocabulary are known then, so every one of these checks is refused.
    Instead: declare the words, the mildest severity first: `vocabulary: {buckets: [...], severities: [...]}`.
    """
    if project.file is None or len(project.checks) < 2:
        return
    if any(key == "vocabulary" or suggest(key, ["vocabulary"]) for key in project.file.node.keys):
        return
    own = {part: words for part, key in PARTS if (words := _own(project, part, key))}
    name = scalar(project.file.node, "project")
    words = [f"`{word}`" for part in own for word in own[part]]
    if len(words) > 1 and name is not None:  # one word may be a slip
        more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
        message = f"no `vocabulary` declares the words of the checks: {', '.join(words[:SHOWN])}{more}"
        lines = [f"  {part}: [{', '.join(map(as_text, own[part]))}]" for part in own]
        written = "\n".join([name.raw, "vocabulary:", *lines])
        if project.file.node.source.text[project.file.node.start] == "{":  # JSON
            written = f'{name.raw}, "vocabulary": {json.dumps(own)}'
        fix = replace(name, written, "declare them in `vocabulary`", safe=False) if name.raw.isprintable() else None
        help = "declare them: `vocabulary: {buckets: [...], severities: [...]}`, the mildest severity first"
        yield error(name, message, help=None if fix else help, fix=fix)


def _own(project: Project, part: str, key: str) -> list[str]:
    """The words of a part that the checks use, the mildest first; empty if one of them can't be declared, or is or
    resembles a known one."""
    known = invisiblebench().words(part)
    used = dict.fromkeys(word.text for check in project.checks if (word := scalar(check.node, key)) is not None)
    if not all(map(WORD.fullmatch, used)) or any(
        word in known or did_you_mean(word, known) or by_degree(word, known) for word in used
    ):
        return []
    return sorted(used, key=lambda word: next((n for n, words in enumerate(DEGREES) if word.casefold() in words), 0))
