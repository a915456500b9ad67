"""Contracts of artifacts: a registry of types, or inline requirements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic
from rulewright.documents.typed_reader import mappings_in, read
from rulewright.load import Mapping, Node, Scalar
from rulewright.spelling import did_you_mean
from rulewright_runtime.workflow.workflow_plan import Contract

if TYPE_CHECKING:
    from rulewright.documents.workflow import ArtifactDocument, TaskDocument

PAGES: Final[dict[str, str]] = {
    "unknown-artifact-type": """An artifact's contract names a type that the registry does not define.

    Why it matters: the artifact would not be checked.
    Instead: name a type of the registry with its version, or write the requirements in place.
    """,
    "missing-contract-registry": """A task names contract types, but no registry defines them.

    Why it matters: the artifacts would not be checked, although the workflow promises that they are.
    Instead: write a registry (`workflow.contracts` in the project file, or `contracts` in the workflow), or set
    `allow_missing_contracts: true` in the project file.
    """,
}


@dataclass(frozen=True, slots=True)
class ContractRegistry:
    """The known contract types by `type@version`; `exists` is false without a registry."""

    types: dict[str, Contract] = field(default_factory=dict)
    exists: bool = False
    optional: bool = False  # whether contracts may stay unchecked without a registry


def read_contracts(*nodes: Node | None, optional: bool = False) -> ContractRegistry:
    """The registry merged from the given mappings, later ones over earlier ones; other nodes are ignored."""
    found = [node for node in nodes if isinstance(node, Mapping)]
    types = {name: read(Contract, each, type=name) for node in found for name, each in mappings_in(node)}
    return ContractRegistry(types, bool(found), optional)


def contract_of(
    task: TaskDocument, artifact: ArtifactDocument, known: ContractRegistry, found: list[Diagnostic]
) -> Contract | None:
    """The contract of an artifact, or None without one. An unknown type is also None, with a finding in `found`."""
    written = artifact.contract
    if isinstance(written, Mapping):
        return read(Contract, written, type="")
    if not isinstance(written, Scalar) or not isinstance(written.value, str):
        return None
    place = f"{artifact.field}.contract"
    if not known.exists:
        if not known.optional:
            message = f"the contract `{written.value}` is declared, but no registry defines contract types"
            found.append(task.error(written, place, message, code="missing-contract-registry"))
        return None
    contract = known.types.get(written.value)
    if contract is None:
        hint = did_you_mean(written.value, known.types)
        message = f"unknown artifact type: {written.value}"
        found.append(task.error(written, place, message, code="unknown-artifact-type", help=hint))
    return contract
