"""Who may decide: people, and never an agent, neither under its name nor from a process that a run started."""

from __future__ import annotations

import base64
import binascii
import hashlib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from rulewright_runtime.workflow.hil import Move, QueueError, QueueItem
from rulewright_runtime.workflow.processes import Origin, Process
from rulewright_runtime.workflow.workflow_plan import WorkflowPlan

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


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
MAX_KEY: Final = 16_384  # bytes of a key file


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
        told = {name: getattr(self, name) for name in self.__struct_fields__ if name != "signature"}
        return msgspec.json.encode({"format": FORMAT, "version": VERSION, **told}, order="sorted")


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
        self._key = _private_key(path, passphrase)

    @property
    def public(self) -> str:
        """The public key, as it stands in `hil.signers`."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return self._key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode("ascii")

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
    key = public_key(signers[decision.by])
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(base64.b64decode(decision.signature, validate=True), decision.signed_bytes())
    except (InvalidSignature, binascii.Error, ValueError):
        raise QueueError(f"the signature is not that of `{decision.by}`'s key, or the decision was changed") from None


def public_key(text: str) -> Ed25519PublicKey:
    """The key in a line such as `ssh-ed25519 AAAA... ana@example`. Raises QueueError for any other text."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_ssh_public_key
    except ImportError:
        raise _no_library() from None
    try:
        found = load_ssh_public_key(text.strip().encode("ascii"))
    except (ValueError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PublicKey):
        raise QueueError(f"expected a public key such as `ssh-ed25519 AAAA...`, found `{text[:40]}`")
    return found


def _private_key(path: Path, passphrase: Callable[[], str]) -> Ed25519PrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_ssh_private_key
    except ImportError:
        raise _no_library() from None
    try:
        with path.open("rb") as stream:
            written = stream.read(MAX_KEY)
        try:
            found = load_ssh_private_key(written, None)
        except TypeError:  # the key is protected
            found = load_ssh_private_key(written, passphrase().encode("utf-8"))
    except OSError as error:
        raise QueueError(f"the key `{path}` can't be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, UnsupportedAlgorithm) as error:
        raise QueueError(f"`{path}` holds no private key of `ssh-keygen -t ed25519`: {error}") from None
    if not isinstance(found, Ed25519PrivateKey):
        raise QueueError(f"`{path}` holds a key of another kind; expected one of `ssh-keygen -t ed25519`")
    return found


def _no_library() -> QueueError:
    return QueueError("signed decisions need `pip install 'rulewright[signing]'`")
