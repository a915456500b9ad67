"""What a proof says: proved, refuted with a witness, or unknown with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rulewright.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input that shows something; it was run through the evaluator before anybody sees it.

    `values` are the paths and how their values read, in a stable order; `bindings` is what the evaluator is given.
    """

    values: tuple[tuple[str, str], ...]
    bindings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """`CR = 0.8, AH = 1`; an input that does not matter is left out."""
        return ", ".join(f"{path} {value}" if value == "absent" else f"{path} = {value}" for path, value in self.values)


@dataclass(frozen=True, slots=True)
class Proved:
    """It holds for every input. `witness` is an example where one says more, `remarks` is what a reader should know."""

    witness: Counterexample | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refuted:
    """It does not hold: `witness` is an input that shows it; None where no single input can, and `reason` says why."""

    witness: Counterexample | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither was found; never to be taken for a proof."""

    reason: str


Result: TypeAlias = "Proved | Refuted | Unknown"


@dataclass(frozen=True, slots=True)
class Property:
    """A claim about a document, in a reader's words, what became of it, and where it stands.

    A claim that is not `required` is told, but does not decide the exit status.
    """

    claim: str
    result: Result
    span: Span | None = None
    required: bool = True
