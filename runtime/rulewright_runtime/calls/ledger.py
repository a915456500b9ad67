"""The ledger: one SQLite file per project that holds every call, so that none that was answered is paid again.

A call goes from `new` (claimed) to `sent` to `done`. Several processes share the file: whoever claims a call owns it
until its lease runs out. A call that was sent by a process that is gone is ambiguous: the endpoint may have answered
and charged for it.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.call import Identity, ModelAnswer, ModelCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright_runtime.calls.ask import Ask
    from rulewright_runtime.models.call import CallFailure

FORMAT: Final = 1
LEASE: Final = 60.0  # seconds; whoever works renews it
BUSY: Final = 30.0  # seconds to wait for another process's transaction
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
    """A ledger that can't be opened, or written by another version."""


class Claim(msgspec.Struct, frozen=True):
    """What became of a claim.

    `answered`: `answer` was paid before. `claimed`: the call is the claimant's to make. `busy`: another process makes
    it. `ambiguous`: a process that is gone has sent it, and nobody knows whether it was answered.
    """

    state: State
    answer: ModelAnswer | None = None


class Ledger:
    """The ledger in one file. An object belongs to one thread; other processes have their own."""

    def __init__(self, path: str | os.PathLike[str], clock: Callable[[], float] = time.time) -> None:
        """Open the file, or make it, readable by its owner alone. Raises LedgerError."""
        self.path = os.fspath(path)
        self._clock = clock
        self.owner = f"{_host()}/{os.getpid()}/{_started(os.getpid())}/{uuid.uuid4().hex[:8]}"
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(self.path, timeout=BUSY, isolation_level=None)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.execute("pragma foreign_keys = on")
            self._db.execute("pragma secure_delete = on")
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"the ledger `{self.path}` can't be opened: {error}") from None

    def _prepare(self) -> None:
        with self._transaction():
            found = self._db.execute("pragma user_version").fetchone()[0]
            if found == 0:
                for statement in filter(str.strip, TABLES.split(";")):
                    self._db.execute(statement)
                self._db.execute(f"pragma user_version = {FORMAT}")
            elif found != FORMAT:
                raise LedgerError(f"the ledger `{self.path}` has format {found}; this version reads {FORMAT}")

    def close(self) -> None:
        """Close the file. Nobody waits any longer for what this owner has not finished."""
        with suppress(sqlite3.Error), self._transaction():
            self._db.execute("update calls set lease = 0 where owner = ? and state != 'done'", (self.owner,))
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def claim(self, key: str, identity: Identity, ask: Ask) -> Claim:
        """Claim a call, unless it is answered or somebody else's."""
        known = self.answer(key)
        if known is not None:
            return Claim("answered", known)
        with self._transaction():
            row = self._db.execute("select state, owner, lease, answer from calls where key = ?", (key,)).fetchone()
            if row is None:
                self._db.execute(
                    "insert into calls (key, state, owner, lease, identity, call) values (?, 'new', ?, ?, ?, ?)",
                    (key, self.owner, self._clock() + LEASE, _encoded(identity), _encoded(ask.call)),
                )
                return Claim("claimed")
            state, owner, lease, answer = row
            if state == "done":
                return Claim("answered", _answer(answer))
            if owner != self.owner and lease > self._clock() and _is_alive(owner):
                return Claim("busy")
            if state == "sent":
                return Claim("ambiguous")
            self._own(key, "new")
            return Claim("claimed")

    def retake(self, key: str) -> None:
        """Own an ambiguous call, to send it once more."""
        with self._transaction():
            self._own(key, "new")

    def sending(self, key: str) -> int:
        """Note that the call is sent now; the attempt's number."""
        with self._transaction():
            self._own(key, "sent")
            inserted = self._db.execute(
                "insert into attempts (key, owner, started, outcome) values (?, ?, ?, 'sent')",
                (key, self.owner, self._clock()),
            )
        return inserted.lastrowid or 0

    def answered(self, key: str, attempt: int, answer: ModelAnswer, seconds: float, usd: object = None) -> None:
        """Keep an answer: from now on nobody pays for it again."""
        with self._transaction():
            self._db.execute("update calls set state = 'done', answer = ? where key = ?", (_encoded(answer), key))
            self._end(attempt, seconds, "answer", "", 200, "", usd)

    def failed(self, key: str, attempt: int, failure: CallFailure, seconds: float, usd: object = None) -> None:
        """Note an attempt without an answer. The call may be made again, by anybody."""
        with self._transaction():
            self._own(key, "new")
            self._end(attempt, seconds, failure.kind, str(failure), failure.status, failure.raw, usd)

    def release(self, key: str) -> None:
        """Give up a call that was not sent, or whose attempt failed."""
        with self._transaction():
            self._db.execute("update calls set lease = 0 where key = ? and state = 'new'", (key,))

    def renew(self) -> None:
        """Extend the lease of every call that this owner works on."""
        with self._transaction():
            self._db.execute(
                "update calls set lease = ? where owner = ? and state != 'done' and lease > 0",
                (self._clock() + LEASE, self.owner),
            )

    def use(self, run: str, ask: Ask, key: str) -> None:
        """Note which place of a run an answer serves."""
        place = (run, ask.transcript_id, ask.check_id, ask.purpose, ask.window, ask.repetition, ask.attempt)
        with self._transaction():
            self._db.execute("insert or replace into uses values (?, ?, ?, ?, ?, ?, ?, ?)", (*place, key))

    def reason(self, ask: Ask, identity: Identity) -> str:
        """Why a call is made although its place in the transcript was asked about before: what is another one now."""
        place = (ask.transcript_id, ask.check_id, ask.purpose, ask.window, ask.repetition, ask.attempt)
        before = self._db.execute(
            "select identity, call from calls join uses using (key) where (transcript_id, check_id, purpose, window,"
            " repetition, attempt) = (?, ?, ?, ?, ?, ?) and state = 'done'",
            place,
        ).fetchall()
        calls = [
            msgspec.json.decode(call, type=ModelCall)
            for who, call in before
            if msgspec.json.decode(who, type=Identity) == identity
        ]
        if not calls:
            return "another model, endpoint or client" if before else "never answered before"
        return "other parameters" if any(call.messages == ask.call.messages for call in calls) else "another prompt"

    def runs_of(self, transcript_id: str) -> list[str]:
        """The folders of the runs that asked about a transcript."""
        return [
            run for (run,) in self.rows("select distinct run from uses where transcript_id = ?", transcript_id) if run
        ]

    def prune(self, transcript_id: str) -> int:
        """Remove whatever was said in a transcript: how many calls were removed.

        A call that another transcript asks as well, word for word, stays for that one.
        """
        with self._transaction():
            keys = self.rows("select distinct key from uses where transcript_id = ?", transcript_id)
            self._db.execute("delete from uses where transcript_id = ?", (transcript_id,))
            removed = self._remove([key for (key,) in keys if not self.rows("select 1 from uses where key = ?", key)])
        self._forget()
        return removed

    def prune_older(self, moment: float) -> int:
        """Remove calls whose last attempt began before `moment` (seconds since 1970); how many there were."""
        with self._transaction():
            old = self.rows("select key from attempts group by key having max(started) < ?", moment)
            removed = self._remove([key for (key,) in old])
        self._forget()
        return removed

    def _remove(self, keys: list[str]) -> int:
        self._db.executemany("delete from calls where key = ?", [(key,) for key in keys])
        return len(keys)

    def _forget(self) -> None:
        """Let no byte of what was removed stay in the file or its log."""
        self._db.execute("vacuum")
        self._db.execute("pragma wal_checkpoint(truncate)")

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query of the ledger's tables finds; for reports and for the `cache` command."""
        return self._db.execute(statement, values).fetchall()

    def _own(self, key: str, state: str) -> None:
        self._db.execute(
            "update calls set state = ?, owner = ?, lease = ? where key = ?",
            (state, self.owner, self._clock() + LEASE, key),
        )

    def _end(
        self, attempt: int, seconds: float, outcome: str, message: str, status: int, raw: str, usd: object
    ) -> None:
        self._db.execute(
            "update attempts set seconds = ?, outcome = ?, message = ?, status = ?, raw = ?, usd = ? where number = ?",
            (seconds, outcome, message, status, raw, None if usd is None else str(usd), attempt),
        )

    def answer(self, key: str) -> ModelAnswer | None:
        """The answer that was paid for, if there is one."""
        row = self._db.execute("select answer from calls where key = ? and state = 'done'", (key,)).fetchone()
        return None if row is None else _answer(row[0])


def _encoded(value: msgspec.Struct) -> bytes:
    return msgspec.json.encode(value)


def _answer(data: bytes) -> ModelAnswer:
    return msgspec.json.decode(data, type=ModelAnswer)


def _host() -> str:
    """This boot of this machine: process numbers mean nothing elsewhere."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return uuid.UUID(int=uuid.getnode()).hex


def _started(process: int) -> str:
    """When a process started, in the kernel's own count: a number may be given to another process later."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _is_alive(owner: str) -> bool:
    """Whether the process that owns a call may still run; of one elsewhere only its lease tells."""
    host, process, started, _ = (owner.split("/") + [""] * 4)[:4]
    if host != _host() or not started or not process.isdecimal():
        return True
    return _started(int(process)) == started
