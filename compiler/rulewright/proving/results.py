"""The results of proofs: proved, refuted by an input that the evaluator has checked, or unknown with a reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from msgspec import Struct

from rulewright.diagnostics import Span
from rulewright.expression.unparse import unparse, written
from rulewright.proving.domains import Absent, Domains, Path
from rulewright_runtime.ir import literal
from rulewright_runtime.values import Optional, Value


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input that refutes or shows a claim; it was checked with the evaluator.

    `values` are the paths with their values as text, in a stable order; `bindings` are the evaluator's bindings.
    """

    values: tuple[tuple[str, str], ...]
    bindings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """`CR = 0.8, AH = 1`; irrelevant variables are left out."""
        return ", ".join(f"{path} {value}" if value == "absent" else f"{path} = {value}" for path, value in self.values)


@dataclass(frozen=True, slots=True)
class Proved:
    """The claim holds for every input. `remarks` are notes for the reader.

    That something is possible is shown by an example: `witness`, or a `conversation`, a record that a scan reads.
    """

    witness: Counterexample | None = None
    remarks: tuple[str, ...] = ()
    conversation: Mapping[str, Any] | None = field(default=None, hash=False)


class Refuted(Struct, frozen=True):
    """The claim doesn't hold: `witness` is an input that shows it; None if no single input can, with the `reason`."""

    witness: Counterexample | None = None
    reason: str = ""


class Unknown(Struct, frozen=True):
    """The claim is neither proved nor refuted; never to be treated as a proof."""

    reason: str


Result: TypeAlias = "Proved | Refuted | Unknown"


class Property(Struct, frozen=True):
    """A claim about a document in plain words, its result and its span.

    A claim that is not `required` is reported, but does not affect the exit status.
    """

    claim: str
    result: Result
    span: Span | None = None
    required: bool = True


ABSENT: Final = "absent"


def shown_as(path: Path, value: object, domains: Domains) -> tuple[str, str]:
    """A variable and its value as text."""
    if isinstance(value, Absent):
        return ".".join(path[: value.part + 1]), ABSENT
    domain = domains.find(path)
    return ".".join(path), in_words(value, bare=domain is not None and domain.kind == "enum")


def in_words(value: Value, *, bare: bool = False) -> str:
    """A value as source text; the member of an enum is a `bare` word."""
    if isinstance(value, Optional):
        return in_words(value.value, bare=bare) if value.present else ABSENT
    if bare and isinstance(value, str):
        return value
    return unparse(written(literal(value)))


def bindings_of(values: Mapping[Path, object]) -> dict[str, object] | None:
    """The evaluator's bindings in which every path has its value; None if two values contradict each other."""
    bindings: dict[str, object] = {}
    missing = [path[: value.part + 1] for path, value in values.items() if isinstance(value, Absent)]
    for path, value in sorted(values.items(), key=lambda each: len(each[0])):
        depth = value.part if isinstance(value, Absent) else len(path) - 1
        holder: Value = bindings
        for name in path[:depth]:
            holder = holder.setdefault(name, {})
            if not isinstance(holder, dict):
                return None
        if not isinstance(value, Absent):
            if path[-1] in holder and holder[path[-1]] != value:
                return None
            holder[path[-1]] = dict(value) if isinstance(value, dict) else value
    return None if any(_is_bound(bindings, path) for path in missing) else bindings


def _is_bound(bindings: Mapping[str, object], path: Path) -> bool:
    value: object = bindings
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True
