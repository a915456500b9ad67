import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Findings, Span, warning
from rulewright.documents.base import entries
from rulewright.load import Node, Scalar, Source, walk
from rulewright.project import Project

ENDINGS: Final = ("_ref", "_file", "_path")
SUFFIXES: Final = frozenset({".csv", ".json", ".jsonl", ".md", ".txt", ".yaml", ".yml"})
COMMENT: Final = re.compile(r"^[ \t]*#.*", re.MULTILINE)
PATH: Final = re.compile(r"(?<![\w*{<./-])[\w-][\w./-]*\.(?:csv|jsonl?|md|txt|ya?ml)\b(?![\w/*])")


def reference_to_missing_file(project: Project) -> Findings:
    """Metadata or the scoring file, or a comment in them, name a file that does not exist.

    Why it matters: readers who follow the reference find nothing.
    Instead: correct the path, or remove the reference.
    """
    loaded = {Path(each.source.path).name for each in project.loaded}
    for root in (project.roots.get("meta"), project.scoring.node if project.scoring else None):
        if root is not None:
            folders = (Path(root.source.path).parent, project.root, project.folder)
            for span, name in (*_in_values(root), *_in_comments(root.source)):
                if Path(name).name not in loaded and not any(dependencies.exists(each / name) for each in folders):
                    yield warning(span, f"file not found: `{name}`")


def _in_values(root: Node) -> Iterator[tuple[Span, str]]:
    """The paths under keys such as `notes_file`."""
    for node in walk(root):
        for entry in entries(node):
            value = entry.value.value if isinstance(entry.value, Scalar) else None
            if isinstance(value, str) and entry.name.endswith(ENDINGS) and _is_path(value):
                yield entry.value.span, value


def _in_comments(source: Source) -> Iterator[tuple[Span, str]]:
    """The paths in lines that are comments."""
    for line in COMMENT.finditer(source.text):
        for found in PATH.finditer(line[0]) if "://" not in line[0] else ():
            yield source.span(line.start() + found.start(), line.start() + found.end()), found[0]


def _is_path(value: str) -> bool:
    """Whether a text looks like the path of a file, not like a version or a URL."""
    suffix = Path(value).suffix
    return "://" not in value and (suffix in SUFFIXES or ("/" in value and suffix[1:].isalpha()))
