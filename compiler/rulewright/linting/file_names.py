"""Compares the names that documents give themselves with those of their files, in a folder that is not a project."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rulewright.diagnostics import Diagnostic, Guess, error
from rulewright.documents.base import scalar
from rulewright.documents.kinds import kind_of
from rulewright.load import Loaded, Scalar

KEYS: Final = {
    "check": "id",
    "scenario": "scenario_id",
    "scorecard": "scorecard",
    "lexicon": "name",
    "state_machine": "name",
}
OTHERS: Final = 2  # documents of a kind that are named like their files


def misnamed(files: Iterable[Loaded]) -> dict[str, Diagnostic]:
    """Return a finding, by its path, for the only document of a kind with another name than its file."""
    named: dict[str, list[tuple[str, Scalar]]] = {}
    for loaded in files:
        kind = kind_of(loaded.root) or ""
        name = scalar(loaded.root, KEYS[kind]) if kind in KEYS else None
        if name is not None:
            named.setdefault(kind, []).append((loaded.source.path, name))
    found = {}
    for kind, names in named.items():
        unlike = [(path, name) for path, name in names if name.value != Path(path).stem]
        for path, name in unlike if len(unlike) == 1 and len(names) > OTHERS else ():
            message = f"`{KEYS[kind]}` is `{name.value}`, but the file is called `{Path(path).stem}`"
            found[path] = error(name, message, code="id-differs-from-file-name", help=Guess(Path(path).stem))
    return found
