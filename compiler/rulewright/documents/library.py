"""Ready checks: `use: library/NAME` is the shipped check of that name with the author's parameters.

Findings about the contents of a ready check point at its `use`, because authors can't change the shipped file. Every
document is read here, with its ready checks in place.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from rulewright.diagnostics import Diagnostic, Findings, Guess, error
from rulewright.documents.base import descend, entries, first_place, no_mapping, numeric, scalar, text
from rulewright.documents.validation import validate, violations
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.load import Entry, Loaded, Mapping, Node, Scalar, Sequence, is_text, load_file, plain
from rulewright.shipped import shipped_root
from rulewright.spelling import suggest
from rulewright_runtime.english import ticked

PREFIX: Final = "library/"
# The keys that define a ready check; authors who need others write their own check.
DECIDING: Final = ("each", "fail", "unclear", "pass", "parameters", "phases", "prompt", "routing", "scorer", "shows")
NOT_INHERITED: Final = ("examples", "id", "params", "use")


def library() -> dict[str, Path]:
    """The files of the ready checks by the name used in `use`, sorted."""
    folder = shipped_root() / "checks" / "library"
    return {f"{PREFIX}{path.stem}": path for path in sorted(folder.iterdir()) if path.suffix == ".yaml"}


def ready_check(name: str) -> Mapping | None:
    """The root node of the ready check `library/NAME`; None if it does not exist."""
    path = library().get(name)
    root = None if path is None else load_file(path).root
    return root if isinstance(root, Mapping) else None


def ready_checks() -> dict[str, Mapping]:
    """Every ready check by the name used in `use`."""
    return {name: root for name in library() if (root := ready_check(name)) is not None}


def like_ready_check(name: str) -> str:
    """The help for an unknown name: the ready check that was meant, or what lists them."""
    meant = suggest(name.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in library()])
    return Guess(PREFIX + meant) if meant else "`rulewright explain library` lists the ready checks"


def parameters_of(node: Node | None) -> Mapping | None:
    """The parameters allowed in `params`: those that the check or the ready check that it uses declares; None if
    neither declares any."""
    found = ready_check(text(node, "use")) or node
    declared = descend(found, "parameters")
    return declared if isinstance(declared, Mapping) else None


def expanded(node: Mapping) -> Mapping:
    """A check's mapping with the keys of the ready check that it uses, and with the defaults of its parameters.

    A check that uses an unknown ready check is returned unchanged.
    """
    used = scalar(node, "use")
    ready = None if used is None else ready_check(used.text)
    if used is not None and ready is not None:
        taken = {
            entry.name: Entry(_word(entry.name, used), _moved(entry.value, used))
            for entry in ready.entries
            if entry.name not in (*NOT_INHERITED, *node.index) or entry.name in DECIDING
        }
        node = msgspec.structs.replace(node, index={**node.index, **taken})
    declared = node.get("parameters")
    return _with_values(node, declared) if isinstance(declared, Mapping) else node


def with_id(node: Node) -> Mapping | None:
    """An item of the project's `use` as the mapping of a check; its id defaults to the name of the ready check."""
    used = node if isinstance(node, Scalar) else descend(node, "use")
    if not is_text(used):
        return None
    index = node.index if isinstance(node, Mapping) else {"use": Entry(_word("use", used), used)}
    name = index.get("id") or Entry(_word("id", used), _word(used.text.removeprefix(PREFIX), used))
    return Mapping({"id": name, **index}, node.start, node.end, node.source)


def structure_findings(kind: str, root: Node, vocabulary: Vocabulary | None) -> list[Diagnostic]:
    """The findings about the structure of a document: its keys, and of a check its `use` and the values of its
    parameters."""
    found = validate(kind, root, vocabulary)
    if kind == "check" and isinstance(root, Mapping):
        found += _of_use(root)
        if not any(
            _is_of_parameters(each, root) for each in found
        ):  # values can't be validated against an invalid declaration
            found += _of_parameters(root)
    return found


def _is_of_parameters(found: Diagnostic, root: Mapping) -> bool:
    """Whether a finding is inside the document's own `parameters`."""
    declared = root.get("parameters")
    return declared is not None and declared.span.line <= found.span.line <= declared.span.end_line


def _of_use(root: Mapping) -> Findings:
    used = scalar(root, "use")
    if used is None:
        return
    if ready_check(used.text) is None:
        help = like_ready_check(used.text)
        yield error(used, f"unknown ready check `{used.value}`", code="unknown-library-check", help=help)
        return
    for name in DECIDING:
        if name in root:
            message, help = f"`{name}` is decided by `{used.value}`", "write a full check to change it"
            yield error(root.key_span(name), message, code="unknown-key", help=help)


def _of_parameters(root: Mapping) -> list[Diagnostic]:
    """Findings for invalid and missing values of parameters, defaults first."""
    ready = ready_check(text(root, "use")) if "use" in root else None
    declared = root.get("parameters") if ready is None else ready.get("parameters")
    if "use" in root and ready is None:
        return []
    if not isinstance(declared, Mapping):
        return _needless(root) if ready is not None else []
    if ready is None and (empty := list(_empty_ranges(declared))):
        return empty
    schemas = {entry.name: _schema(entry.value) for entry in declared.entries if isinstance(entry.value, Mapping)}
    defaults = {name: {"properties": {"default": each}} for name, each in schemas.items()}
    needed = [entry.name for entry in declared.entries if descend(entry.value, "default") is None]
    values = {"type": "object", "properties": schemas, "additionalProperties": False, "required": needed}
    found = [] if ready is not None else violations({"properties": {"parameters": {"properties": defaults}}}, root)
    if any(each.code for each in found):
        return found
    if needed and "params" not in root:
        missing = ticked(needed)
        message, help = f"`params` is missing, with a value for {missing}", f"write `params: {{{needed[0]}: ...}}`"
        return [error(first_place(root), message, code="missing-key", help=help)]
    return violations({"properties": {"params": values}}, root)


def _empty_ranges(declared: Mapping) -> Findings:
    """The findings for parameters whose smallest value is above the largest one."""
    for entry in declared.entries:
        least, most = numeric(entry.value, "minimum"), numeric(entry.value, "maximum")
        if least is not None and most is not None and least.as_float > most.as_float:
            message = f"`{entry.name}` takes no value: its minimum {least.raw} is above its maximum {most.raw}"
            yield error(least, message, code="out-of-range", notes=[(most, "the maximum")])


def _needless(root: Mapping) -> list[Diagnostic]:
    keys = entries(root, "params")
    message = f"`{text(root, 'use')}` takes no parameters"
    return [error(entry.key, message, code="unknown-key") for entry in keys]


def _schema(declared: Mapping) -> dict[str, object]:
    """The JSON Schema of a parameter's values."""
    return {name: value for name, value in plain(declared).items() if name not in ("default", "description")}


def _with_values(node: Mapping, declared: Mapping) -> Mapping:
    """The check with a value for every parameter: the author's, else the default. Integers become fractions if
    the parameter is a number."""
    written = node.get("params")
    given = dict(written.index) if isinstance(written, Mapping) else {}
    for entry in declared.entries:
        default = descend(entry.value, "default")
        if entry.name not in given and default is not None:
            given[entry.name] = Entry(entry.key, default)
        if entry.name in given and text(entry.value, "type") == "number":
            given[entry.name] = _fraction(given[entry.name])
    if not given:
        return node
    place = written or declared
    params = Mapping(given, place.start, place.end, place.source)
    key = node.index["params"].key if "params" in node else node.index["parameters"].key
    return msgspec.structs.replace(node, index={**node.index, "params": Entry(key, params)})


def _fraction(entry: Entry) -> Entry:
    value = entry.value
    if isinstance(value, Scalar) and type(value.value) is int:
        return Entry(entry.key, msgspec.structs.replace(value, value=float(value.value)))
    return entry


def _word(word: str, at: Scalar) -> Scalar:
    return Scalar(word, at.start, at.end, "", at.source)


def _moved(node: Node, to: Scalar) -> Node:
    """A node of a ready check with the span of its `use`."""
    match node:
        case Scalar():
            return Scalar(node.value, to.start, to.end, "", to.source)
        case Mapping():
            entries = {name: Entry(_word(name, to), _moved(e.value, to)) for name, e in node.index.items()}
            return Mapping(entries, to.start, to.end, to.source)
    assert isinstance(node, Sequence)
    return Sequence(tuple(_moved(each, to) for each in node.items), to.start, to.end, to.source)


@dataclass(slots=True)
class DocumentReader:
    """The files that were loaded, and the findings about their syntax and structure."""

    loaded: list[Loaded] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    vocabulary: Vocabulary = field(default_factory=invisiblebench)

    def read(self, path: Path, kind: str | None) -> Mapping | None:
        """Load a file and validate it against the schema `kind`; return its root mapping, or None."""
        return self.take(load_file(path), kind)

    def take(self, loaded: Loaded, kind: str | None) -> Mapping | None:
        """Validate a loaded file against the schema `kind`; return its root mapping, or None."""
        self.loaded.append(loaded)
        self.findings += loaded.diagnostics
        is_shape_known = kind is not None and loaded.root is not None  # its schema says what it must be
        if not (isinstance(loaded.root, Mapping) or is_shape_known or loaded.diagnostics):
            self.findings.append(no_mapping(loaded, "the document"))
        if loaded.root is not None and kind is not None:
            self.findings += structure_findings(kind, loaded.root, self.vocabulary)
        return loaded.root if isinstance(loaded.root, Mapping) else None
