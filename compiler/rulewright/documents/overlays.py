"""Overlays and loops of a task: settings that the task, its workflow and its project may each set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from rulewright.diagnostics import Located
from rulewright.documents.base import flag, items, number, numeric, scalar
from rulewright.documents.base import text as text_of
from rulewright.load import Mapping, Node, Scalar
from rulewright_runtime.workflow.machine import LoopName

LOOPING: Final[tuple[Literal["agentic_review", "paired_workflow", "confidence_loop"], ...]] = (
    "agentic_review", "paired_workflow", "confidence_loop",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """One overlay of a task. Each setting is looked up in the layers: the task's own, the workflow's, the project's."""

    name: str
    layers: tuple[Mapping, ...]
    key: Scalar | None  # the key of the nearest layer; None if no layer sets the overlay
    enabled: bool  # off by default, except for `hil`

    @property
    def field(self) -> str:
        """The path of the overlay in the task."""
        return f"overlays.{self.name}"

    @property
    def place(self) -> Located:
        """The span of the overlay's key. Raises ValueError if no layer sets the overlay."""
        if self.key is None:
            raise ValueError(f"no layer sets `{self.name}`")
        return self.key

    def find(self, key: str) -> Node | None:
        """The setting's value from the first layer that gives it, or None."""
        return next((found for layer in self.layers if (found := layer.get(key)) is not None), None)

    def text(self, key: str) -> str:
        """The setting's text, or the empty text."""
        return text_of(self.find(key))

    def number(self, key: str) -> Scalar | None:
        """The setting's scalar if it is a number, else None."""
        return numeric(self.find(key))


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a task: its own `loop`, or an overlay that repeats the work. `field` is its path in the task,
    `node` is the nearest of its layers."""

    name: LoopName
    field: str
    node: Mapping
    layers: tuple[Mapping, ...]

    def find(self, key: str) -> Node | None:
        """The setting's value from the first layer that gives it, or None."""
        return next((found for layer in self.layers if (found := layer.get(key)) is not None), None)

    @property
    def max_iterations(self) -> int | None:
        """The maximum number of iterations; None if absent or invalid."""
        found = number(self.find("max_iterations"))
        return found if found is not None and found > 0 else None

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """The exit conditions as written."""
        return tuple(found for item in items(self.find("exit_conditions")) if (found := scalar(item)) is not None)

    @property
    def mode(self) -> Literal["any", "all"]:
        """Whether `any` or `all` of threshold and conditions must hold."""
        return "all" if text_of(self.find("exit_when")) == "all" else "any"


def overlay(name: str, layers: tuple[Mapping, ...], *, off: bool = False) -> Overlay:
    """The overlay called `name` from mappings of overlays, the nearest first; overlays in `off` are disabled."""
    entries = [layer.index[name] for layer in layers if name in layer]
    found = [(entry.key, entry.value) for entry in entries if isinstance(entry.value, Mapping)]
    layers = tuple(value for _, value in found)
    switch = next((said for layer in layers if (said := flag(layer, "enabled")) is not None), None)
    enabled = not off and (name == "hil" if switch is None else switch)
    return Overlay(name, layers, found[0][0] if found else None, enabled)
