from typing import Final

from rulewright.diagnostics import Findings, error
from rulewright.documents.base import descend, entries, repeated, scalar, text_scalars
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.load import Scalar

KEYS: Final = ("environment", "file", "flag")
OTHERS: Final = (("inputs", ("from",), "both read"), ("metrics", ("common", "name"), "both name their list"))


def setting_of_two_parameters(scorecard: CaseScorecardDocument) -> Findings:
    """Two parameters have the same `environment`, `file` or `flag`, two inputs the same `from`, or two lists one name.

    Why it matters: a user who sets one of them also sets the other, and can't set them apart; two inputs hold the same
    values; of two lists with one `common.name`, the report keeps the last.
    Instead: give each its own name.
    """
    named = [
        (key, entry.name, written)
        for entry in entries(scorecard.node, "parameters")
        for key in KEYS
        if isinstance(written := descend(entry.value, key), Scalar) and written.value is not None
    ]
    for (key, name, written), (_, other, first) in repeated(named, lambda each: (each[0], each[2].value)):
        message = f"`{key}` sets `{other}` and `{name}`: both name `{written.value}`"
        yield error(written, message, notes=[(first, "first used here")])
    read = {path: name for name, path, _ in scorecard.inputs}
    for item in text_scalars(scorecard.node, "metadata"):
        if item.value in read:
            message = f"the input `{read[item.text]}` reads `{item.value}`, so it is not metadata"
            yield error(item, message, help="remove it here")
    for metric in entries(scorecard.node, "metrics"):
        lists = [(each.name, each.value) for each in entries(metric.value, "details") if isinstance(each.value, Scalar)]
        for (name, written), (other, before) in repeated(lists, lambda each: str(each[1].value)):
            message = f"`{other}` and `{name}` both list what is {written.value}"
            yield error(written, message, notes=[(before, "first used here")])
        values = dict(lists)
        for name, written in lists:
            twin = values.get(written.text)
            if twin is not None and twin.value == name < written.text:
                message = f"`{name}` lists what is {written.value}, and `{written.value}` what is {name}"
                yield error(written, message, notes=[(twin, "the other one")], help="exchange the two")
    for section, keys, what in OTHERS:
        held = [(entry.name, at) for entry in entries(scorecard.node, section) if (at := scalar(entry.value, *keys))]
        for (name, at), (other, first) in repeated(held, lambda each: str(each[1].value)):
            is_of_name = at.text.rpartition(".")[2] == name != other  # so that the first one is wrong
            odd, right = (first, at) if is_of_name else (at, first)
            yield error(odd, f"`{other}` and `{name}` {what} `{at.value}`", notes=[(right, "also used here")])
