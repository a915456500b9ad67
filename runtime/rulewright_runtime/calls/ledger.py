"""The ledger: one SQLite file per project that holds every call, so that no answered call is paid twice.

A call goes from `new` (claimed) to `sent` to `done`. Several processes share the file: the one that claims a call owns
it until its lease expires. A call sent by a process that has ended is ambiguous: the endpoint may have answered and
charged for it.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

import msgspec
from msgspec.json import encode

from rulewright_runtime.digests import blake2b
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.files.shared_database import open_shared, prepare, transaction
from rulewright_runtime.models.call import CallFailure, CallRequest, Identity, ModelAnswer, ModelCall
from rulewright_runtime.processes.ancestry import machine, started
from rulewright_runtime.strict_json import UNDECODED

FORMAT: Final = 1
CHECKSUM: Final = b',"checksum":"'  # ends an answer
LEASE: Final = 60.0  # seconds; renewed while the owner works
TABLES: Final = """
create table calls (
  key text primary key,
  state text not null check (state in ('new', 'sent', 'done')),
  owner text not null,
  lease real not null,
  identity blob not null,
  call blob not null,
  answer blob
) without rowid;
create table attempts (
  number integer primary key,
  key text not null references calls (key) on delete cascade,
  owner text not null,
  started real not null,
  seconds real,
  outcome text not null,
  message text not null default '',
  status integer not null default 0,
  raw text not null default '',
  usd text
);
create index attempts_of_call on attempts (key);
create table uses (
  run text not null,
  transcript_id text not null,
  check_id text not null,
  purpose text not null,
  window integer not null,
  repetition integer not null,
  attempt integer not null,
  key text not null references calls (key) on delete cascade,
  primary key (run, transcript_id, check_id, purpose, window, repetition, attempt)
) without rowid;
create index uses_of_call on uses (key);
create index uses_of_transcript on uses (transcript_id);
"""

State = Literal["answered", "claimed", "busy", "ambiguous"]


class LedgerError(RuntimeFailure):
    """A ledger that can't be opened, read or written, or that another version wrote."""


class _StoredClaim(msgspec.Struct, array_like=True):
    """What a claim reads of a stored call."""

    state: Literal["new", "sent", "done"]
    owner: str
    lease: float


class Claim(msgspec.Struct, frozen=True):
    """The result of a claim.

    `answered`: `answer` was paid before. `claimed`: the caller makes the call. `busy`: another process makes it.
    `ambiguous`: a process that has ended sent it, and it is unknown whether it was answered.
    """

    state: State
    answer: ModelAnswer | None = None


class Ledger:
    """The ledger in one file. Each object belongs to one thread; several processes may open the file."""

    def __init__(self, path: str | os.PathLike[str], clock: Callable[[], float] = time.time) -> None:
        """Open or create the file, readable only by its owner. Raises LedgerError."""
        self.path = os.fspath(path)
        self._clock = clock
        self.owner = f"{machine().boot}/{os.getpid()}/{started(os.getpid())}/{uuid.uuid4().hex[:8]}"
        try:
            self._db = open_shared(self.path)
            self._db.execute("pragma synchronous = normal")
            self._db.execute("pragma foreign_keys = on")
            self._db.execute("pragma secure_delete = on")
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"the ledger `{self.path}` can't be opened: {reason_of(error)}") from None

    def _prepare(self) -> None:
        version = prepare(self._db, filter(str.strip, TABLES.split(";")), FORMAT)
        if version != FORMAT:
            raise LedgerError(f"the ledger `{self.path}` has format {version}; this version reads {FORMAT}")

    def close(self) -> None:
        """Close the file, and end the leases of this owner, so that other processes do not wait for its calls."""
        with suppress(LedgerError), self._transaction():
            self._db.execute("update calls set lease = 0 where owner = ? and state != 'done'", (self.owner,))
        self._db.close()

    @contextmanager
    def _transaction(self) -> Generator[None]:
        try:
            with transaction(self._db):
                yield
        except sqlite3.Error as error:
            raise LedgerError(f"the ledger `{self.path}` can't be written: {error}") from error

    def claim(self, key: str, identity: Identity, request: CallRequest) -> Claim:
        """Claim a call, unless it is answered or another process owns it."""
        stored = self.answer(key)
        if stored is not None:
            return Claim("answered", stored)
        with self._transaction():
            rows = self.rows("select state, owner, lease from calls where key = ?", key)
            if not rows:
                self._db.execute(
                    "insert into calls (key, state, owner, lease, identity, call) values (?, 'new', ?, ?, ?, ?)",
                    (key, self.owner, self._clock() + LEASE, encode(identity), encode(request.call)),
                )
                return Claim("claimed")
            stored_claim = self._stored_claim(key, rows[0])
            if stored_claim.state == "done":  # since a moment ago
                return Claim("answered", self.answer(key))
            if self._is_made_elsewhere(stored_claim):
                return Claim("busy")
            if stored_claim.state == "sent":
                return Claim("ambiguous")
            self._own(key, "new")
            return Claim("claimed")

    def _stored_claim(self, key: str, row: tuple[object, ...]) -> _StoredClaim:
        try:
            return msgspec.convert(row, _StoredClaim)
        except msgspec.ValidationError as error:
            raise LedgerError(f"the call `{key[:12]}` can't be read from the ledger `{self.path}`: {error}") from None

    def _is_made_elsewhere(self, claim: _StoredClaim) -> bool:
        left = claim.lease - self._clock()
        return claim.owner != self.owner and left > 0 and _is_alive(claim.owner, left)

    def retake(self, key: str) -> None:
        """Take over an ambiguous call, to send it once more."""
        with self._transaction():
            self._own(key, "new")

    def begin_attempt(self, key: str) -> int:
        """Record that the call is sent now. Returns the number of the attempt."""
        with self._transaction():
            self._own(key, "sent")
            inserted = self._db.execute(
                "insert into attempts (key, owner, started, outcome) values (?, ?, ?, 'sent')",
                (key, self.owner, self._clock()),
            )
        return inserted.lastrowid or 0

    def store_answer(self, key: str, attempt: int, answer: ModelAnswer, seconds: float, usd: object = None) -> None:
        """Store an answer, which is served from now on without a call."""
        with self._transaction():
            self._db.execute(
                "update calls set state = 'done', answer = ? where key = ?", (_sealed(key, encode(answer)), key)
            )
            self._end_attempt(attempt, seconds, "answer", "", 200, "", usd)

    def store_failure(self, key: str, attempt: int, failure: CallFailure, seconds: float, usd: object = None) -> None:
        """Store a failed attempt. Any process may make the call again."""
        with self._transaction():
            self._own(key, "new")
            self._end_attempt(attempt, seconds, failure.kind, str(failure), failure.status, failure.raw, usd)

    def release(self, key: str) -> None:
        """Release a call that was not sent, or whose attempt failed."""
        with self._transaction():
            self._db.execute("update calls set lease = 0 where key = ? and state = 'new'", (key,))

    def reopen(self, keys: Iterable[str]) -> None:
        """Let calls be made again whose answers were of no use. The answers are kept until then."""
        with self._transaction():
            self._db.executemany("update calls set state = 'new', lease = 0 where key = ?", [(key,) for key in keys])

    def renew(self) -> None:
        """Extend the leases of this owner."""
        with self._transaction():
            self._db.execute(
                "update calls set lease = ? where owner = ? and state != 'done' and lease > 0",
                (self._clock() + LEASE, self.owner),
            )

    def add_use(self, run: str, request: CallRequest, key: str) -> None:
        """Record which request of a run an answer serves."""
        with self._transaction():
            values = (run, *_position(request), key)
            self._db.execute("insert or replace into uses values (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def reason(self, request: CallRequest, identity: Identity) -> str:
        """Return why a request needs a new call: what differs from stored calls for the same position."""
        stored = self.rows(
            "select identity, call from calls join uses using (key) where (transcript_id, check_id, purpose, window,"
            " repetition, attempt) = (?, ?, ?, ?, ?, ?) and state = 'done'",
            *_position(request),
        )
        calls = [
            msgspec.json.decode(call, type=ModelCall)
            for stored_identity, call in stored
            if msgspec.json.decode(stored_identity, type=Identity) == identity
        ]
        if not calls:
            return "another model, endpoint or client" if stored else "never answered before"
        return "other parameters" if any(call.messages == request.call.messages for call in calls) else "another prompt"

    def has_answer_of(self, identity: Identity) -> bool:
        """Whether this model has answered a call."""
        return bool(self.rows("select 1 from calls where identity = ? and state = 'done' limit 1", encode(identity)))

    def replies_in(self, run: str, identity: Identity) -> tuple[int, int]:
        """The number of replies of this model that a run uses, and of those that it had and that are asked again."""
        counted = self.rows(
            "select state, count(distinct key) from calls join uses using (key)"
            " where run = ? and identity = ? and (state = 'done' or state = 'new' and answer is not null)"
            " group by state",
            run,
            encode(identity),
        )
        counts = dict(counted)
        return counts.get("done", 0), counts.get("new", 0)

    def runs_of(self, transcript_id: str) -> list[str]:
        """Return the folders of the runs with calls about a transcript."""
        return [
            run
            for (run,) in self.rows("select distinct run from uses where transcript_id = ?", transcript_id)
            if run and isinstance(run, str)
        ]

    def prune(self, transcript_id: str) -> int:
        """Remove the calls about a transcript. Returns how many were removed.

        A call that another transcript uses, too, is kept.
        """
        with self._transaction():
            keys = self.rows("select distinct key from uses where transcript_id = ?", transcript_id)
            self._db.execute("delete from uses where transcript_id = ?", (transcript_id,))
            removed = self._remove([key for (key,) in keys if not self.rows("select 1 from uses where key = ?", key)])
        self._vacuum()
        return removed

    def prune_older(self, time: float) -> int:
        """Remove calls whose last attempt began before `time` (seconds since 1970), but none that is being made.

        Returns how many were removed.
        """
        with self._transaction():
            old = self.rows(
                "select key from attempts join calls using (key) where state = 'done' or lease < ?"
                " group by key having max(started) < ?",
                self._clock(),
                time,
            )
            removed = self._remove([key for (key,) in old])
        self._vacuum()
        return removed

    def _remove(self, keys: list[str]) -> int:
        self._db.executemany("delete from calls where key = ?", [(key,) for key in keys])
        return len(keys)

    def _vacuum(self) -> None:
        """Erase removed rows from the file and its write-ahead log."""
        self.rows("vacuum")
        self.rows("pragma wal_checkpoint(truncate)")

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query. Raises LedgerError if the file can't be read."""
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise LedgerError(f"the ledger `{self.path}` can't be read: {error}") from error

    def _own(self, key: str, state: str) -> None:
        self._db.execute(
            "update calls set state = ?, owner = ?, lease = ? where key = ?",
            (state, self.owner, self._clock() + LEASE, key),
        )

    def _end_attempt(
        self, attempt: int, seconds: float, outcome: str, message: str, status: int, raw: str, usd: object
    ) -> None:
        self._db.execute(
            "update attempts set seconds = ?, outcome = ?, message = ?, status = ?, raw = ?, usd = ? where number = ?",
            (seconds, outcome, message, status, raw, None if usd is None else str(usd), attempt),
        )

    def answer(self, key: str) -> ModelAnswer | None:
        rows = self.rows("select answer from calls where key = ? and state = 'done'", key)
        return self._opened(key, rows[0][0]) if rows else None

    def _opened(self, key: str, stored: object) -> ModelAnswer:
        """The stored answer to a call. Raises LedgerError if it can't be read or is not what was stored."""
        data = stored.encode() if isinstance(stored, str) else stored  # text: another program wrote it
        data = data if isinstance(data, bytes) else b""
        try:
            answer = msgspec.json.decode(data, type=ModelAnswer)
        except UNDECODED as error:
            raise LedgerError(f"the ledger contains an answer that can't be read: {error}") from None
        if _sealed(key, data.rpartition(CHECKSUM)[0] + b"}") != data:
            what = f"the answer to the call `{key[:12]}` was changed in the ledger `{self.path}`"
            raise LedgerError(f"{what}; restore the file, or name another one with `--ledger`")
        return answer


def _position(request: CallRequest) -> tuple[object, ...]:
    """Return what a request is about, as in the columns of `uses`."""
    about = (request.transcript_id, request.check_id, request.purpose)
    return (*about, request.window, request.repetition, request.attempt)


def _sealed(key: str, answer: bytes) -> bytes:
    """The encoded answer with a checksum that binds it to its call: SQLite does not notice changed bytes."""
    checksum = blake2b(key.encode() + answer, digest_size=16).hexdigest()
    return b'%s%s%s"}' % (answer.removesuffix(b"}"), CHECKSUM, checksum.encode())


def _is_alive(owner: str, left: float) -> bool:
    """Whether the process that owns a call may still run. For one on another machine only the rest of its lease counts:
    with more than twice a whole one, the clock was set back and nobody has renewed it since."""
    boot, process, start, _ = (owner.split("/") + [""] * 4)[:4]
    if boot != machine().boot or not start or not process.isdecimal():
        return left <= 2 * LEASE
    return started(int(process)) == start
