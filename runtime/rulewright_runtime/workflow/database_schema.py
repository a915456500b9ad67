"""The tables of the database of runs. Triggers make the tables of the log append-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

VERSION: Final = 2

TABLES: Final = """
create table runs (
  number integer primary key,
  run_id text not null unique,
  workflow text not null,
  plan blob not null,
  plan_hash text not null,
  status text not null,
  started_at text not null,
  finished_at text,
  tokens_used integer not null default 0,
  cost_usd real not null default 0,
  warned integer not null default 0
);
create table tasks (
  run_id text not null references runs (run_id),
  task_id text not null,
  position integer not null,
  status text not null,
  record blob not null,
  primary key (run_id, task_id)
) without rowid;
create table transitions (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  source text not null,
  event text not null,
  target text not null,
  before text not null,
  after text not null,
  undecided text not null
);
create table events (
  number integer primary key,
  run_id text not null,
  task_id text,
  event_type text not null,
  body blob not null
);
create table hil_items (
  id text primary key,
  number integer not null,
  run_id text not null,
  task_id text not null,
  status text not null,
  body blob not null
);
create table gate_reports (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  body blob not null
);
create table review_log (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  body blob not null
);
create table contents (
  sha256 text primary key,
  content blob not null
) without rowid;
create table outputs (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  iteration integer not null,
  path text not null,
  sha256 text not null
);
create table attempts (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  operation_id text not null,
  attempt_id text not null unique,
  session_id text not null,
  agent text not null,
  purpose text not null,
  started_at text not null
);
create table decisions (
  number integer primary key,
  item_id text not null,
  body blob not null,
  origin blob not null
);
create table processes (
  number integer primary key,
  role text not null,
  boot text not null,
  namespace text not null,
  pid integer not null,
  started text not null,
  name text not null
);
create index tasks_of_transitions on transitions (run_id, task_id);
create index tasks_of_events on events (run_id, task_id);
create index tasks_of_outputs on outputs (run_id, task_id);
create index operations_of_attempts on attempts (operation_id);
"""

APPEND_ONLY: Final = (
    "transitions",
    "events",
    "gate_reports",
    "review_log",
    "outputs",
    "attempts",
    "decisions",
    "processes",
)


def statements() -> list[str]:
    """Return the statements that create the schema in an empty database."""
    tables = [statement for statement in TABLES.split(";\n") if statement.strip()]
    return [*tables, *_append_only_triggers(), f"pragma user_version = {VERSION}"]


def _append_only_triggers() -> Iterator[str]:
    for table in APPEND_ONLY:
        for change in ("update", "delete"):
            body = f"begin select raise(abort, '{table} is only ever added to'); end"
            yield f"create trigger no_{change}_of_{table} before {change} on {table} {body}"
