from __future__ import annotations

from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries
from rulewright.load import Scalar, walk
from rulewright.project import Project

ENDINGS: Final = ("_ref", "_file", "_path")
SUFFIXES: Final = frozenset({".csv", ".json", ".jsonl", ".md", ".txt", ".yaml", ".yml"})


def reference_to_missing_file(project: Project) -> Findings:
    """Metadata or the scoring file name a file that does not exist.

    Why it matters: readers who follow the reference find nothing.
    Instead: correct the path, or remove the reference.
    """
    roots = [project.roots.get("meta"), project.scoring.node if project.scoring else None]
    for root in roots:
        for node in walk(root):
            for entry in entries(node):
                value = entry.value.value if isinstance(entry.value, Scalar) else None
                if not isinstance(value, str) or not entry.name.endswith(ENDINGS) or not _is_path(value):
                    continue
                own_folder = Path(node.source.path).parent
                if not any(
                    dependencies.exists(folder / value) for folder in (own_folder, project.root, project.folder)
                ):
                    yield warning(entry.value, f"file not found: `{value}`")


def _is_path(value: str) -> bool:
    """Whether a text looks like the path of a file, not like a version or a URL."""
    suffix = Path(value).suffix
    return "://" not in value and (suffix in SUFFIXES or ("/" in value and suffix[1:].isalpha()))
