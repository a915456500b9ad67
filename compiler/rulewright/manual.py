"""The manual: one page for every code of a finding.

The page of a rule is its docstring. The page of any other code is the beginning of its file in `docs/rules`.
"""

from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

from rulewright import dependencies
from rulewright.rules import Rule, code_of, rule_page
from rulewright.shipped import page_paths

PACKAGE = Path(__file__).parent


@cache
def pages() -> dict[str, str]:
    """Return every manual page by its code, sorted."""
    texts = {code_of(rule): cleandoc(rule.__doc__ or "") for rule in every_rule()}
    written = {code: _beginning(path) for code, path in page_paths().items() if code not in texts}
    return dict(sorted((texts | written).items()))


def every_rule() -> tuple[Rule[object], ...]:
    """Return all rules without duplicates."""
    names = sorted(path.stem for path in (PACKAGE / "rules").glob("of_*.py"))
    modules = [import_module(f"{PACKAGE.name}.rules.{name}") for name in names]
    lists = [value for module in modules for value in vars(module).values() if isinstance(value, tuple)]
    return tuple(dict.fromkeys(rule for rules in lists for rule in rules))


def advice_of(code: str) -> str | None:
    """Return the advice for findings of a code, the end of its page, or None."""
    return " ".join((explain(code) or "").partition("Instead: ")[2].split()).removesuffix(".") or None


def explain(code: str) -> str | None:
    """Return the manual page of a code, or None for an unknown code."""
    if (page := rule_page(code)) is not None:
        return cleandoc(page)
    path = page_paths().get(code)
    return None if path is None else _beginning(path)


def _beginning(path: Path) -> str:
    """The text of a page between its title and the category, after which the examples follow."""
    dependencies.note_content(path, None)
    return path.read_text(encoding="utf-8").partition("\n\n")[2].partition("\n\nCategory: ")[0]
