"""The walls of the house: which way imports run, and what the source never does."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "rulewright_grammar": ROOT / "grammar" / "rulewright_grammar",
    "rulewright": ROOT / "compiler" / "rulewright",
    "rulewright_runtime": ROOT / "runtime" / "rulewright_runtime",
}
MAY_IMPORT = {
    "rulewright_grammar": {"rulewright_grammar"},
    "rulewright": {"rulewright", "rulewright_grammar", "rulewright_runtime"},
    "rulewright_runtime": {"rulewright_runtime"},
}
NEVER_IN_THE_RUNTIME = {"lark", "yaml", "jsonschema", "jinja2", "rulewright", "rulewright_grammar"}
NEVER_IMPORTED = {"pickle", "cPickle", "dill", "shelve", "marshal", "cloudpickle", "joblib"}
NEVER_CALLED = {"eval", "exec", "compile", "__import__"}
CONSTRUCTING_LOADERS = {
    "Loader",
    "CLoader",
    "FullLoader",
    "CFullLoader",
    "UnsafeLoader",
    "CUnsafeLoader",
    "unsafe_load",
}
SHELLS = {"system", "popen", "getoutput", "getstatusoutput"}


def sources() -> list[tuple[str, Path]]:
    return [(name, path) for name, folder in PACKAGES.items() for path in sorted(folder.rglob("*.py"))]


def module_name(package: str, path: Path) -> str:
    parts = path.relative_to(PACKAGES[package].parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def in_a_fresh_interpreter(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_runtime_runs_without_yaml_grammar_schema_or_templates() -> None:
    modules = [module_name(package, path) for package, path in sources() if package == "rulewright_runtime"]
    modules = [name for name in modules if not name.endswith("__main__")]
    loaded = in_a_fresh_interpreter(
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        f"print(sorted({NEVER_IN_THE_RUNTIME!r} & set(sys.modules)))"
    )
    assert loaded.strip() == "[]"


def test_the_front_door_opens_without_heavy_libraries() -> None:
    heavy = {"lark", "yaml", "jsonschema", "jinja2", "re2", "numpy", "z3"}
    loaded = in_a_fresh_interpreter(f"import sys, rulewright\nprint(sorted({heavy!r} & set(sys.modules)))")
    assert loaded.strip() == "[]"


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for owner, path in sources()
        if owner == package
        for line, name in imported(ast.parse(path.read_text(encoding="utf-8")))
        if name.split(".")[0] in PACKAGES and name.split(".")[0] not in MAY_IMPORT[package]
    ]
    assert wrong == []


def test_configuration_never_becomes_code() -> None:
    wrong = []
    for _, path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        where = path.relative_to(ROOT)
        wrong += [
            f"{where}:{line} imports {name}" for line, name in imported(tree) if name.split(".")[0] in NEVER_IMPORTED
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NEVER_CALLED:
                wrong.append(f"{where}:{node.lineno} calls {node.func.id}")
            if isinstance(node, ast.Attribute) and node.attr in CONSTRUCTING_LOADERS:
                wrong.append(f"{where}:{node.lineno} uses {node.attr}")
            if isinstance(node, ast.Attribute) and node.attr in SHELLS and isinstance(node.value, ast.Name):
                wrong += [f"{where}:{node.lineno} uses {node.attr}"] * (node.value.id in {"os", "subprocess"})
            if isinstance(node, ast.keyword) and node.arg == "shell":
                wrong.append(f"{where}:{node.value.lineno} passes shell=")
    assert wrong == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for _, path in sources()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


@pytest.mark.parametrize("package", ["rulewright", "rulewright_runtime"])
def test_the_front_door_lists_what_it_offers(package: str) -> None:
    names = in_a_fresh_interpreter(
        f"import {package} as m\nprint(*m.__all__)\n[getattr(m, n) for n in m.__all__]"
    ).split()
    assert names == sorted(names)


def test_all_shipped_data_travel_in_the_wheel() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    tracked = subprocess.run(["git", "ls-files", "benchmark"], capture_output=True, text=True, check=True, cwd=ROOT)
    shipped = {"/".join(name.split("/")[:2]) for name in tracked.stdout.split()} - {"benchmark/speed"}
    assert {*shipped, "checks", "docs/rules"} == set(included)
    assert all(target == f"rulewright_shipped/{source}" for source, target in included.items())
