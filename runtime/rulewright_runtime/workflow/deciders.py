"""Who may decide: people only. Names of agents and processes started by a run are refused."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Final, Literal, NamedTuple

import msgspec

from rulewright_runtime.digests import sha256
from rulewright_runtime.english import ticked
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.processes.ancestry import Origin, Process
from rulewright_runtime.workflow.hil import Move, QueueError, QueueItem
from rulewright_runtime.workflow.workflow_plan import WorkflowPlan

Role = Literal["run", "command"]


class Deciders(msgspec.Struct, frozen=True):
    """Who may decide: not these `agents`. With `signers` (name to public key) every decision has to be signed by one
    of them."""

    agents: frozenset[str] = frozenset()
    signers: Mapping[str, str] = msgspec.field(default_factory=dict)


class RunProcess(NamedTuple):
    """A process recorded in the database: a run, or a command that a run started, with its boot and PID namespace."""

    role: Role
    boot: str
    namespace: str
    process: Process


def check_name(by: str, agents: Collection[str]) -> None:
    """Raise QueueError for the name of an agent, in any spelling that looks like it."""
    if folded_name(by) in set(map(folded_name, agents)):
        raise QueueError(f"`{by}` is the name of an agent, and a decision is taken by a person: name one with `--by`")


def names_of_agents(plan: WorkflowPlan) -> set[str]:
    """Return all names of the plan's agents: ids and display names."""
    task_agents = {name for task in plan.tasks for name in task.agents}
    display_names = {agent.display_name for agent in plan.agents.values()}
    return {*task_agents, *plan.agents, *display_names} - {""}


def check_origin(origin: Origin, processes: Iterable[RunProcess], *, run_active: bool) -> None:
    """Raise QueueError when the origin descends from a command that a run started.

    While a run is active, agents are alive: the run's own descendants are refused too, and processes in another PID
    namespace, which can't be traced. A script that starts both the run and the decision is a parent of both: allowed.
    """
    same_boot = [each for each in processes if each.boot == origin.machine.boot]
    commands = {
        each.process.pid: each for each in same_boot if each.role == "command" and _same_namespace(each, origin)
    }
    for process in origin.processes:
        command = commands.get(process.pid)
        if command is not None and command.process.started == process.started:
            raise QueueError(f"a decision is taken by a person, and process {process.pid} was started by a run")
    run = next((each for each in reversed(same_boot) if each.role == "run"), None)
    if run is None or not run_active:
        return
    if not _same_namespace(run, origin):
        raise QueueError("a run is active, and this process can't be traced: it is in another PID namespace")
    parents = {(process.pid, process.started) for process in origin.processes[1:]}
    if (run.process.pid, run.process.started) in parents:
        raise QueueError("a decision is taken by a person, and this process was started by the active run")


def _same_namespace(process: RunProcess, origin: Origin) -> bool:
    return process.namespace == origin.machine.namespace


FORMAT: Final = "rulewright-decision"
VERSION: Final = 1


class SignedDecision(msgspec.Struct, frozen=True):
    """A decision. `digest` covers everything the person was asked; `signature` is base64."""

    item: str
    digest: str
    move: Move
    by: str
    notes: str
    at: str
    signature: str = ""

    def signed_bytes(self) -> bytes:
        """Return the bytes to sign: the decision without its signature, as canonical JSON."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name != "signature"}
        return msgspec.json.encode({"format": FORMAT, "version": VERSION, **fields}, order="sorted")


def digest_of(item: QueueItem) -> str:
    """Return the sha256 (hex) of an item as it was before any decision."""
    undecided = msgspec.structs.replace(
        item, status="PENDING", acked_at=None, acked_by=None, resolved_at=None, resolved_by=None, resolution_notes=""
    )
    return sha256(msgspec.json.encode(undecided, order="sorted")).hexdigest()


class SigningKey:
    """A private key."""

    def __init__(self, path: Path, passphrase: Callable[[], str]) -> None:
        """Read the key at `path`; `passphrase` is called only for a protected key. Raises QueueError for a file without
        an ed25519 key."""
        keys = _ssh_keys()
        self._key = keys.private_key(path, passphrase)
        self.public: str = keys.public_text(self._key)  # in the form of `hil.signers`

    def name_in(self, signers: Mapping[str, str]) -> str | None:
        """Return the signer's name for this key, or None."""
        return next((name for name, key in signers.items() if key.split()[:2] == self.public.split()), None)

    def sign(self, decision: SignedDecision) -> SignedDecision:
        signature = base64.b64encode(self._key.sign(decision.signed_bytes())).decode("ascii")
        return msgspec.structs.replace(decision, signature=signature)


def check_signature(decision: SignedDecision, signers: Mapping[str, str]) -> None:
    """Raise QueueError unless the decision is signed by the key of the person named in `by`."""
    if decision.by not in signers:
        names = ticked(sorted(signers))
        raise QueueError(f"`{decision.by}` is not one of `hil.signers`: {names}")
    if not decision.signature:
        raise QueueError(f"the decision of `{decision.by}` is not signed: add `--key FILE`")
    if not _ssh_keys().is_signed(signers[decision.by], decision.signature, decision.signed_bytes()):
        raise QueueError(f"the signature is not that of `{decision.by}`'s key, or the decision was changed")


def _ssh_keys() -> ModuleType:
    """Import the module for keys. Raises QueueError when `cryptography` is not installed."""
    try:
        from rulewright_runtime.workflow import ssh_keys
    except ImportError:
        raise QueueError("signed decisions need `pip install 'rulewright[signing]'`") from None
    return ssh_keys
