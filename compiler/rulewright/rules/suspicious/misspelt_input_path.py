import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright.diagnostics import OF_THE_OTHER_FOLDER, Findings, Guess, warning
from rulewright.documents.base import descend, entries
from rulewright.documents.layout import folder_near, searched_files, text_of
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.load import Node, Scalar, scalars_below
from rulewright.spelling import MIN_LENGTH, is_slip_of, is_spelt_like
from rulewright_runtime.cases.records import CASE_FOLDERS, OUTPUT_FOLDER

KEY: Final = re.compile(r'"([^"\\\s]+)"\s*:')
FOLDERS: Final = {"case": CASE_FOLDERS[0], "output": OUTPUT_FOLDER}
ENDING: Final = 2  # letters that one spelling of a step has more than another
MOST: Final = 2**21  # bytes of files in which keys are looked for
Near: TypeAlias = dict[str, list[tuple[str, Counter[str]]]]  # by source, the texts of its files with their keys


def misspelt_input_path(scorecard: CaseScorecardDocument) -> Findings:
    """A step in a path of inputs, `metadata` or settings is spelt otherwise elsewhere, or is of cases and not outputs.

    Why it matters: no record has such a key, so every record is refused; a setting is not found in its file.
    Instead: use the spelling of the other paths, or of the cases.
    """
    read = scalars_below(scorecard.get("inputs"), scorecard.get("metadata"))
    paths = [each for each in read if "." in each.text]
    near = {source: _texts_near(scorecard, folder) for source, folder in FOLDERS.items()}
    strange = _in_no_record(near, [each.text for each in paths])
    yield from _odd_steps(paths)
    places = [(entry.name, each) for entry in entries(scorecard.get("parameters")) for each in _file_of(entry.value)]
    yield from _odd_steps([each for _, each in places])
    yield from _unlike_its_parameter(places)
    for each in scalars_below(scorecard.get("inputs")):
        yield from _in_the_other_folder(each, near)
    for each in paths:
        if pair := strange.get(each.text):
            source, *steps = each.text.split(".")
            meant = [pair[1] if step == pair[0] else step for step in steps]
            message = f"no {source} has the key `{pair[0]}`, but `{pair[1]}`"
            yield warning(each, message, help=Guess(".".join([source, *meant])))


def _file_of(parameter: Node) -> Iterator[Scalar]:
    """The place of a parameter in the settings file."""
    written = descend(parameter, "file")
    if type(written) is Scalar:
        yield written


def _unlike_its_parameter(places: list[tuple[str, Scalar]]) -> Findings:
    """The only step that misspells the name of its parameter: `thresholds.MANNER.pass` of `MANNERS_pass`."""
    counts = Counter(step for _, each in places for step in each.text.split("."))
    for name, each in places:
        group = name.rpartition("_")[0]
        steps = each.text.split(".")
        odd = next((step for step in steps if counts[step] == 1 and is_slip_of(step, group)), None)
        if odd is not None and len(group) >= MIN_LENGTH and counts[group] == 1:  # else reported with the other paths
            right = ".".join(group if step == odd else step for step in steps)
            yield warning(each, f"`{each.value}` has `{odd}`, but its parameter is `{name}`", help=Guess(right))


def _odd_steps(paths: list[Scalar]) -> Findings:
    """The steps that one path spells differently from others; the last steps differ by design."""
    counts = Counter(step for each in paths for step in each.text.split(".")[:-1])
    usual = [name for name, count in counts.items() if count > 1]
    for each in paths:
        steps = each.text.split(".")
        for at, step in enumerate(steps[:-1]):
            near = next((name for name in usual if counts[step] == 1 and _is_like(step, name)), None)
            if near is not None:
                right = ".".join([*steps[:at], near, *steps[at + 1 :]])
                message = f"`{each.value}` is the only path with the step `{step}`; {counts[near]} have `{near}`"
                yield warning(each, message, help=Guess(right))
                break


def _is_like(step: str, name: str) -> bool:
    """Whether a step is spelt like a name, or is its beginning or its continuation: `expect` and `expected`."""
    shorter, longer = sorted((step, name), key=len)
    is_part = longer.startswith(shorter) and len(shorter) < len(longer) <= len(shorter) + ENDING
    return is_spelt_like(step, name) or (len(shorter) >= MIN_LENGTH and is_part)


def _is_meant(step: str, key: str) -> bool:
    """Whether a key is spelt like a step, or has a further word, such as a unit: `latency_ms`."""
    return is_spelt_like(step, key) or key.startswith(f"{step}_")


def _in_the_other_folder(path: Scalar, near: Near) -> Findings:
    """The path of a key that no case has, but every file of outputs, or the other way round."""
    source, *steps = path.text.split(".")
    other = next((name for name in FOLDERS if name != source), "")
    own = near.get(source, [])
    if not own or not steps or any(steps[-1] in text for text, _ in own):
        return
    if any(is_spelt_like(key, steps[-1]) for _, keys in own for key in keys):  # which is misspelt in a record
        return
    if near[other] and all({*steps} <= keys.keys() for _, keys in near[other]):
        message = f"no {source} has the key `{steps[-1]}`, but every file of {other}s does"
        found = warning(path, message, help=Guess(".".join([other, *steps])))
        yield replace(found, about=OF_THE_OTHER_FOLDER)


def _texts_near(scorecard: CaseScorecardDocument, folder: str) -> list[tuple[str, Counter[str]]]:
    left, found = MOST, []
    for file in searched_files(folder_near(Path(scorecard.path), folder)):
        if left <= 0:
            break
        text = text_of(file)
        left -= len(text)
        found.append((text, Counter(KEY.findall(text))))
    return found


def _in_no_record(near: Near, paths: list[str]) -> dict[str, tuple[str, str]]:
    """The paths with a step that is a key of no record near the scorecard: that step, and a key there that no path
    names."""
    found = dict[str, tuple[str, str]]()
    for source, texts in near.items():
        read = {each: each.split(".")[1:] for each in paths if each.startswith(f"{source}.")}
        keys = sum((each for _, each in texts), Counter[str]())
        elsewhere = {key for _, each in near["case"] for key in each} if source == "output" else set[str]()
        # Of several records, a lone one is misspelt itself.
        usual = {key for key, count in keys.items() if count > 1 or keys["test_id"] < 2}
        unread = sorted(usual.difference(*read.values()))
        for each, steps in read.items():
            # An output may also be in its case.
            absent = [step for step in steps if step not in keys and step not in elsewhere]
            pairs = ((step, key) for step in absent for key in unread if _is_meant(step, key))
            if (pair := next(pairs, None)) is not None:
                found[each] = pair
    return found
