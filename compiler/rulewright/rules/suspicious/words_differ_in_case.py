from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, repeated, text_scalars
from rulewright.project import Project


def words_differ_in_case(project: Project) -> Findings:
    """A list of a project's `vocabulary` contains two words that differ only in case.

    Why it matters: both words are valid everywhere, so checks fall into two groups that readers take for one.
    Instead: keep one of them, and use it everywhere.
    """
    for entry in () if project.file is None else entries(project.file.node, "vocabulary"):
        for word, first in repeated(text_scalars(entry.value), lambda each: str(each.value).casefold()):
            if first.value != word.value:
                message = f"`{word.value}` differs from `{first.value}` only in case"
                yield warning(word, message, notes=[(first, "the other one")])
