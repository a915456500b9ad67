import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from rulewright import dependencies
from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import scalar
from rulewright.documents.layout import path_meant
from rulewright.load import Mapping, Node, Scalar, is_text, scalars_below, walk
from rulewright.spelling import is_slip_of
from rulewright.workflow import Workflow

PATH: Final = re.compile(r"(?:[\w.*-]+/)+[\w.*-]+|[\w.-]+\.[a-z]\w{1,4}")
DIGITS: Final = re.compile(r"\d")
Names: TypeAlias = "defaultdict[str, set[int]]"
SHORTEST: Final = 4  # letters of a name: shorter ones often differ by one letter


def misspelt_path(workflow: Workflow) -> Findings:
    """A path of a workflow differs by one letter from other paths or from an output, or contains several paths.

    Why it matters: what is written under one name is looked for under the other, after the work has been paid for. The
    rule compares the folders and files that several paths name, the files that a task reads with the outputs (also
    without regard to case), and with the files in the working folder.
    Instead: use one spelling. A folder or file that exists is not reported.
    """
    outputs, folder = _outputs(workflow), workflow.place("folder", ".")
    inputs = {each.path for task in workflow.document.tasks for each in task.inputs}
    nodes: defaultdict[str, list[Scalar]] = defaultdict(list)  # of every path
    named: defaultdict[str, set[int]] = defaultdict(set)  # the places of every name
    for place, node in enumerate(paths_of(workflow)):
        nodes[node.text].append(node)
        for name in node.text.split("/"):
            named[name].add(place)
    written = scalar(workflow.settings, "folder")
    is_there = dependencies.exists(folder)
    near = None if written is None or is_there else path_meant(folder, written.text)
    if written is not None and near is not None:
        yield warning(written, f"folder not found: `{written.value}`", help=near)
    made = {*outputs, *(each.partition("/")[0] for each in outputs)}  # files, and the folders they are in
    by_stem = {each.rpartition(".")[0]: each for each in sorted(outputs)}
    for path, there in nodes.items():
        other = output_meant(path, outputs)
        if dependencies.exists(folder / path):
            continue
        words = path.split()
        if len(words) > 1 and all(each in made or dependencies.exists(folder / each) for each in words):
            found = [(f"`{path}` is one path, but `{words[0]}` is a path of its own", "write a comma between them")]
        elif (other := other or _of_another_suffix(path, outputs, by_stem)) is not None:
            found = [(f"no task writes `{path}`, but one writes `{other}`", Guess(other))]
            folder_of, its_folder = path.rpartition("/")[0], other.rpartition("/")[0]
            if len(named[folder_of]) > len(named[its_folder]) == 1 and other in nodes:  # others are in that folder
                yield warning(nodes[other][0], f"only this path contains `{its_folder}`", help=Guess(path))
                continue
        elif path not in outputs and "*" not in path and is_there and (help := _existing(folder, path, inputs)):
            found = [(f"no task writes `{path}`, and the file does not exist", help)]
        else:
            found = [] if near is not None else [*_of_names(path, named, folder, is_written=path in outputs)]
        yield from (warning(node, message, help=help) for message, help in found for node in there)


def _existing(folder: Path, path: str, inputs: set[str]) -> Guess | None:
    """The file with a similar path, or for an input the only one with the same name and another suffix: other files may
    be made while a task runs."""
    place = folder / path
    names = dependencies.names_in(place.parent) if path in inputs and dependencies.is_folder(place.parent) else ()
    others = [name for name, _ in names if Path(name).stem == place.stem and Path(name).suffix and place.suffix]
    by_suffix = Guess(Path(path).with_name(others[0]).as_posix()) if len(others) == 1 else None
    return path_meant(place, path) or by_suffix


def _of_names(path: str, named: Names, folder: Path, *, is_written: bool) -> Iterator[tuple[str, Guess]]:
    """Messages and suggestions for the folders and files that only this path spells this way."""
    names = path.split("/")
    for at, name in enumerate(names):
        meant = _meant(name, named, _is_on_purpose if is_written else _differ_in_digits)
        if meant is not None and not dependencies.exists(folder.joinpath(*names[: at + 1])):
            right = "/".join([*names[:at], meant, *names[at + 1 :]])
            yield f"only this path contains `{name}`, but {len(named[meant])} contain `{meant}`", Guess(right)


def paths_of(workflow: Workflow) -> list[Scalar]:
    """The paths of files, and the folders that metrics are read from."""
    tasks = [task.node for task in workflow.document.tasks]
    paths = [each for each in scalars_below(*tasks) if is_text(each) and PATH.fullmatch(each.text)]
    sources = [node for task in tasks for node in _sources(task) if "/" not in node.text]
    folders = [node for node in sources if not PATH.fullmatch(node.text)]
    return [*paths, *folders]


def _sources(node: Node) -> Iterator[Scalar]:
    """The sources of a task's metrics, and where its gate looks for requirements."""
    found = (each.get(key) for each in walk(node) if isinstance(each, Mapping) for key in ("source", "implemented"))
    return filter(is_text, scalars_below(*found))


def _outputs(workflow: Workflow) -> set[str]:
    """The paths that tasks write."""
    return {each.text for each in scalars_below(*(task.node.get("outputs") for task in workflow.document.tasks))}


def output_meant(path: str, outputs: set[str]) -> str | None:
    """The output in the same folder whose file name differs from this path's in one letter or in case, or the output
    with its file name in a folder that differs in one letter."""
    if path in outputs or "*" in path:
        return None
    folder, _, name = path.rpartition("/")
    for other in sorted(outputs):
        other_folder, _, written = other.rpartition("/")
        is_near = is_slip_of(name, written) or name.casefold() == written.casefold()
        if folder == other_folder and len(name) >= SHORTEST and is_near and not _differ_in_digits(name, written):
            return other
        is_folder_near = is_slip_of(folder, other_folder) and not _differ_in_digits(folder, other_folder)
        if name == written and min(len(folder), len(other_folder)) > 2 and is_folder_near:
            return other
    return None


def _of_another_suffix(path: str, outputs: set[str], named: dict[str, str]) -> str | None:
    """The output that has the name of a path, but another suffix: `reports/lint.sarif` for `reports/lint.json`."""
    stem, dot, suffix = path.rpartition(".")
    return named.get(stem) if dot and path not in outputs and "/" not in suffix else None


def _meant(name: str, named: Names, on_purpose: Callable[[str, str], bool]) -> str | None:
    """The name that several other paths use, where only one path has this name and it is a slip of it."""
    if len(named[name]) > 1:
        return None
    is_short = len(name.partition(".")[0]) < SHORTEST
    several = (other for other in sorted(named) if len(named[other]) > 1 and is_slip_of(name, other))
    several = (other for other in several if not is_short or sorted(name) == sorted(other))  # swapped letters
    return next((other for other in several if not on_purpose(name, other)), None)


def _is_on_purpose(name: str, other: str) -> bool:
    """Whether two names differ in a digit or in a plural: `part1.md` and `part2.md`, `user.py` and `users.py`."""
    stems = [each.partition(".")[0] for each in (name, other)]
    return _differ_in_digits(name, other) or stems[0] + "s" == stems[1] or stems[1] + "s" == stems[0]


def _differ_in_digits(name: str, other: str) -> bool:
    return DIGITS.sub("", name) == DIGITS.sub("", other)
