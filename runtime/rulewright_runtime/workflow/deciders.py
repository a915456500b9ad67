"""Who may decide: people, and never an agent, neither under its name nor from a process that a run started."""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Final, Literal, NamedTuple

import msgspec

from rulewright_runtime.workflow.hil import Move, QueueError, QueueItem
from rulewright_runtime.workflow.processes import Origin, Process
from rulewright_runtime.workflow.workflow_plan import WorkflowPlan

Role = Literal["run", "command"]
_INVISIBLE: Final = frozenset({"Cf", "Mn"})  # format characters and combining marks


class Deciders(msgspec.Struct, frozen=True):
    """What is known of those who may decide: the names of agents, who may not, and where decisions have to be signed
    the signers' public keys by their names."""

    agents: frozenset[str] = frozenset()
    signers: Mapping[str, str] = msgspec.field(default_factory=dict)


class Known(NamedTuple):
    """A process that the database knows: a run, or a command that a run started, and where."""

    role: Role
    boot: str
    namespace: str
    process: Process


def check_name(by: str, agents: Collection[str]) -> None:
    """Raise QueueError for the name of an agent, however it is written."""
    if _folded(by) in set(map(_folded, agents)):
        raise QueueError(f"`{by}` is the name of an agent, and a decision is taken by a person: name one with `--by`")


def names_of_agents(plan: WorkflowPlan) -> set[str]:
    """Every name that the plan's agents go by."""
    named = {name for task in plan.tasks for name in task.agents}
    shown = {agent.display_name for agent in plan.agents.values()}
    return {*named, *plan.agents, *shown} - {""}


def check_origin(origin: Origin, known: Iterable[Known], *, at_work: bool) -> None:
    """Raise QueueError where the origin descends from a command that a run started.

    While a run is `at_work`, so may nobody that descends from the run itself, nor anybody who can't be traced because
    of another PID namespace: agents are alive then. A script that runs both commands is the parent of both.
    """
    same = [each for each in known if each.boot == origin.machine.boot]
    commands = {each.process.pid: each for each in same if each.role == "command" and _here(each, origin)}
    for process in origin.processes:
        found = commands.get(process.pid)
        if found is not None and found.process.started == process.started:
            raise QueueError(f"a decision is taken by a person, and process {process.pid} was started by a run")
    run = next((each for each in reversed(same) if each.role == "run"), None)
    if run is None or not at_work:
        return
    if not _here(run, origin):
        raise QueueError("a run is at work, and this process can't be traced: it is in another PID namespace")
    parents = {(process.pid, process.started) for process in origin.processes[1:]}
    if (run.process.pid, run.process.started) in parents:
        raise QueueError("a decision is taken by a person, and this process was started by the run that is at work")


def _here(known: Known, origin: Origin) -> bool:
    return known.namespace == origin.machine.namespace


def _folded(name: str) -> str:
    """A name without case, invisible characters, accents and kinds of blanks, so that no look-alike passes."""
    seen = unicodedata.normalize("NFKD", name)
    return " ".join("".join(c for c in seen if unicodedata.category(c) not in _INVISIBLE).casefold().split())


FORMAT: Final = "rulewright-decision"
VERSION: Final = 1


class SignedDecision(msgspec.Struct, frozen=True):
    """A decision as it was taken. `digest` stands for everything the person was asked, `signature` is base64."""

    item: str
    digest: str
    move: Move
    by: str
    notes: str
    at: str
    signature: str = ""

    def signed_bytes(self) -> bytes:
        """What a signature covers: the decision without it, as canonical JSON."""
        signed = {name: getattr(self, name) for name in self.__struct_fields__ if name != "signature"}
        return msgspec.json.encode({"format": FORMAT, "version": VERSION, **signed}, order="sorted")


def digest_of(item: QueueItem) -> str:
    """The sha256 (hex) of an item as it was asked, whatever was decided about it since."""
    asked = msgspec.structs.replace(
        item, status="PENDING", acked_at=None, acked_by=None, resolved_at=None, resolved_by=None, resolution_notes=""
    )
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()


class SigningKey:
    """A private key. Raises QueueError for a file that holds none of the right kind."""

    def __init__(self, path: Path, passphrase: Callable[[], str]) -> None:
        """Read the key at `path`; `passphrase` is only called for a key that is protected by one."""
        keys = _ssh_keys()
        self._key = keys.private_key(path, passphrase)
        self.public: str = keys.written(self._key)  # as it stands in `hil.signers`

    def name_in(self, signers: Mapping[str, str]) -> str | None:
        """The name under which this key is one of the signers, or None."""
        return next((name for name, key in signers.items() if key.split()[:2] == self.public.split()), None)

    def sign(self, decision: SignedDecision) -> SignedDecision:
        """The decision with its signature."""
        signature = base64.b64encode(self._key.sign(decision.signed_bytes())).decode("ascii")
        return msgspec.structs.replace(decision, signature=signature)


def check_signature(decision: SignedDecision, signers: Mapping[str, str]) -> None:
    """Raise QueueError unless the decision is signed by the key of the person in whose name it was taken."""
    if decision.by not in signers:
        known = ", ".join(f"`{name}`" for name in sorted(signers))
        raise QueueError(f"`{decision.by}` is not one of `hil.signers`: {known}")
    if not decision.signature:
        raise QueueError(f"the decision of `{decision.by}` is not signed: add `--key FILE`")
    if not _ssh_keys().is_signed(signers[decision.by], decision.signature, decision.signed_bytes()):
        raise QueueError(f"the signature is not that of `{decision.by}`'s key, or the decision was changed")


def _ssh_keys() -> ModuleType:
    """The module that knows keys. Raises QueueError where its library is not installed."""
    try:
        from rulewright_runtime.workflow import ssh_keys
    except ImportError:
        raise _no_library() from None
    return ssh_keys


def _no_library() -> QueueError:
    return QueueError("signed decisions need `pip install 'rulewright[signing]'`")
