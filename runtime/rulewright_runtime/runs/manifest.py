"""The manifest of a run: its plan, and every file of the folder with its size, its hash and the number of its rows.

The run's id is a hash of all of it except the judge's replies, which may arrive in any order: the same plan over the
same inputs with the same answers has the same id.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Final

import msgspec

import rulewright_runtime
from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256, sha256_of_much
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.scan import Plan

NAME: Final = "manifest.json"
FORMAT: Final = "rulewright-run-manifest"
VERSION: Final = 1
_BLOCK: Final = 2**20


class RunFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of the run; `rows` counts the lines of JSON lines and the rows of a table."""

    name: str
    bytes: int
    sha256: str
    rows: int | None = None


class Manifest(msgspec.Struct, frozen=True):
    """The plan and files of a run; `run` is its id."""

    run: str
    plan: str
    language: str
    files: tuple[RunFile, ...]
    rulewright: str = rulewright_runtime.__version__
    format: str = FORMAT
    version: int = VERSION

    def encoded(self) -> bytes:
        """The manifest as a file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def with_files(self, files: Iterable[RunFile]) -> Manifest:
        """The manifest of the same run with files that were generated from it."""
        by_name = {each.name: each for each in (*self.files, *files)}
        return msgspec.structs.replace(self, files=tuple(by_name.values()))


def manifest(plan: Plan, paths: Mapping[str, str]) -> Manifest:
    """The manifest of a run; `paths` maps file names to paths. Raises OSError."""
    files = tuple(described(name, path) for name, path in paths.items())
    content: list[object] = [plan.hash, plan.language, *(each for each in files if each.name != "replies.jsonl")]
    run = sha256(msgspec.json.encode(content)).hexdigest()[:16]
    return Manifest(run, plan.hash, plan.language, files)


def read_manifest(folder: str | os.PathLike[str]) -> Manifest | None:
    """The manifest in a folder; None if it has none. Raises PlanError if it is damaged."""
    path = os.path.join(folder, NAME)
    try:
        with open(path, "rb") as stream:
            return strict_json.decode(stream.read(), type=Manifest)
    except FileNotFoundError:
        return None
    except strict_json.UNDECODED as error:
        raise PlanError(f"`{path}` is damaged ({error}); scan again") from None


def described(name: str, path: str | os.PathLike[str], rows: int | None = None) -> RunFile:
    """The manifest entry of the file at `path`. Raises OSError."""
    counts = name.endswith(".jsonl")
    size, lines, digest = 0, 0, sha256_of_much()
    with open(path, "rb") as stream:
        for block in iter(partial(stream.read, _BLOCK), b""):
            size += len(block)
            lines += block.count(b"\n") if counts else 0
            digest.update(block)
    return RunFile(name, size, digest.hexdigest(), lines if counts else rows)


def refuse_changed(folder: str | os.PathLike[str], manifest: Manifest, names: Collection[str] | None = None) -> None:
    """Raise PlanError if a file of the run, or one of these `names`, is missing, was added or differs from the
    manifest."""
    files = {each.name: each for each in manifest.files}
    for name in files if names is None else names:
        path = os.path.join(folder, name)
        found = described(name, path).sha256 if os.path.isfile(path) else None
        if found != (files[name].sha256 if name in files else None):
            raise PlanError(f"`{path}` is not the file that `{NAME}` names; scan again")
