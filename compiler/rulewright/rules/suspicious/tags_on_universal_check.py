import re

from rulewright.diagnostics import Findings, Span, warning
from rulewright.documents.check import CheckDocument
from rulewright.load import place


def tags_on_universal_check(check: CheckDocument) -> Findings:
    """A check with `scope: universal` lists tags or has an `eligibility.when`.

    Why it matters: a universal check applies everywhere, so they restrict nothing. If they were meant to, the check
    fails transcripts it was never made for.
    Instead: remove them, or set `scope: trigger`.
    """
    if check.is_universal and check.when is not None:
        notes = [(check.when, "this restricts nothing")]
        yield warning(check.place("scope"), "a universal check does not read its `eligibility.when`", notes=notes)
    tags = check.tags or ()
    if check.is_universal and tags and tags != ("any",):
        mention = _mention_in_prompt(check, tags)
        yield warning(
            check.key_place("eligibility", "scenario_tags_any"),
            "these tags restrict nothing: the check is universal",
            notes=[
                (check.place("scope"), "the scope is set here"),
                *([(mention, "the prompt tells the judge that they do")] if mention else []),
            ],
        )


def _mention_in_prompt(check: CheckDocument, tags: tuple[str, ...]) -> Span | None:
    """The place of the first tag in a prompt that names all of them, so that the judge takes them for a restriction."""
    prompt = "" if check.prompt is None else check.prompt.text
    if check.prompt is None or not all(tag in prompt for tag in tags):
        return None
    places = [re.search(rf"\b{re.escape(tag)}\b", prompt) for tag in tags]
    first = min((found.span() for found in places if found), default=None)
    return place(check.prompt, *first) if first is not None and all(places) else None
