import re
from typing import Final

from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.base import optional_text
from rulewright.documents.check import CheckDocument
from rulewright.load import Scalar, place
from rulewright.project import Project

_SENTENCE: Final = re.compile(r"[^\s.?!][^.?!]*[.?!](?=\s|$)")
_QUESTION: Final = re.compile(r"\?$|\bquestion\b.*:", re.DOTALL)
# Words of any prompt.
_COMMON: Final = frozenset({"answ", "assi", "deci", "does", "fail", "only", "pass", "ques", "repl", "user"})
_STEM: Final = 4  # letters of a word without its ending
_NAME: Final = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+")


def prompt_names_another_check(project: Project) -> Findings:
    """A prompt names another check or asks its question, instead of its own.

    Why it matters: a judge that sees several checks by name may answer for the other one, and readers of the recorded
    prompt can't tell which check was asked.
    Instead: write the check's full id, or `{{ check.id }}`, and the check's own question.
    """
    yield from _questions_of_others(project)
    ids = {check.id for check in project.checks}
    for check in project.checks:
        if check.prompt is None or check.id in check.prompt.text:
            continue
        for found in _NAME.finditer(check.prompt.text):
            name = found.group()
            span = place(check.prompt, found.start(), found.end())
            sharing = sorted(each for each in ids if each.startswith(f"{name}-"))
            if name in ids:
                yield error(span, f"this prompt of `{check.id}` names the check `{name}`", help=f"write `{check.id}`")
                break
            if len(sharing) > 1 and check.id not in sharing:  # its own id, cut off, misleads nobody
                yield warning(span, f"`{name}` could be any of {len(sharing)} checks", help=f"write `{check.id}`")
                break


def _questions_of_others(project: Project) -> Findings:
    """The questions that two prompts ask, with words of the name of only one of the checks."""
    asked: dict[str, list[tuple[CheckDocument, Scalar, re.Match[str]]]] = {}
    for check in project.checks:
        prompt = check.prompt
        found = () if prompt is None else _SENTENCE.finditer(prompt.text)
        for sentence in found:
            if prompt is not None and _QUESTION.search(sentence[0]):
                asked.setdefault(" ".join(sentence[0].lower().split()), []).append((check, prompt, sentence))
    for question, places in asked.items():
        words = _stems(question)
        own = [check for check, _, _ in places if words & _stems(f"{check.id} {optional_text(check.node, 'name')}")]
        for check, prompt, sentence in places if len(own) == 1 and len(places) == 2 else ():
            if check is not own[0]:
                span = place(prompt, *sentence.span())
                notes = [(own[0].key_place("prompt"), "the same question")]
                yield warning(span, f"this prompt of `{check.id}` asks the question of `{own[0].id}`", notes=notes)


def _stems(text: str) -> set[str]:
    return {each[:_STEM].lower() for each in re.findall(rf"[A-Za-z]{{{_STEM},}}", text)} - _COMMON
