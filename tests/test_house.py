"""The walls of the house: which way imports run, and what the source never does."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.shared_data import need_git
from tests.source_code import parsed, walked

from rulewright.cli import COMMANDS, PARSES_ITSELF, SHARING
from rulewright.lower.scopes import EXPRESSION_READERS
from rulewright.rules import MODULES
from rulewright_runtime.models import PROVIDERS

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
TOP_LEVEL = {
    ".ci", ".gitignore", ".pre-commit-hooks.yaml",
    "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md", "action.yml",
    "pyproject.toml",
    "benchmark", "checks", "compiler", "docs", "grammar", "requirements", "runtime", "templates", "tests",
}  # fmt: skip
NEVER_IN_THE_RUNTIME = {"lark", "yaml", "jsonschema", "jinja2", "rulewright", "rulewright_grammar"}
NEVER_IMPORTED = {"pickle", "cPickle", "dill", "shelve", "marshal", "cloudpickle", "joblib"}
NEVER_CALLED = {"eval", "exec", "compile", "__import__"}
CONSTRUCTING_LOADERS = {
    "Loader", "CLoader", "FullLoader", "CFullLoader", "UnsafeLoader", "CUnsafeLoader", "unsafe_load",
}  # fmt: skip
SHELLS = {"system", "popen", "getoutput", "getstatusoutput"}
ANOTHER_PROCESS = {"process_watchdog.py"}  # imports nothing of ours, and we read what it prints
PRINTING = ("print", "sys.stdout.write", "sys.stderr.write")


def sources() -> list[tuple[str, Path]]:
    return [(name, path) for name, folder in PACKAGES.items() for path in sorted(folder.rglob("*.py"))]


def module_name(package: str, path: Path) -> str:
    parts = path.relative_to(PACKAGES[package].parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in walked(tree):
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
    modules = [name for name in modules if not name.endswith(("__main__", "inspect_scorer", "json_schemas"))]
    loaded = in_a_fresh_interpreter(
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        f"print(sorted({NEVER_IN_THE_RUNTIME!r} & set(sys.modules)))"
    )
    assert loaded.strip() == "[]"


# `valid_against` tests a reply by a JSON Schema. The library is well kept and a schema is part of a plan, so writing it
# again would gain nothing; it is imported when an expression first calls the function, and in this module alone.
WITH_A_REASON = {"jsonschema": {"json_schemas.py"}}


def test_only_modules_with_a_reason_import_what_the_runtime_does_without() -> None:
    wrong = [
        f"{path.name}:{line} imports {name}"
        for package, path in sources()
        if package == "rulewright_runtime"
        for line, name in imported(parsed(path))
        if (root := name.split(".")[0]) in NEVER_IN_THE_RUNTIME and path.name not in WITH_A_REASON.get(root, ())
    ]
    assert wrong == []


def test_the_front_door_opens_without_heavy_libraries() -> None:
    heavy = {"lark", "yaml", "jsonschema", "jinja2", "re2", "numpy"}
    loaded = in_a_fresh_interpreter(f"import sys, rulewright\nprint(sorted({heavy!r} & set(sys.modules)))")
    assert loaded.strip() == "[]"


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for owner, path in sources()
        if owner == package
        for line, name in imported(parsed(path))
        if name.split(".")[0] in PACKAGES and name.split(".")[0] not in MAY_IMPORT[package]
    ]
    assert wrong == []


def needed(name: str, path: Path, modules: Iterable[str]) -> set[str]:
    """The modules of ours that one imports, in whatever form: at its top, in a function, for its types; a module, or a
    name of one or of a package; relatively or absolutely."""
    found: set[str] = set()
    for node in walked(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
            above = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            home = ".".join(filter(None, (above, node.module)))
            parts = {alias.name: f"{home}.{alias.name}" for alias in node.names}
            found |= {full if full in modules else home for full in parts.values()}
    return found & set(modules) - {name}


def circles(modules: dict[str, set[str]]) -> set[str]:
    """The modules in a circle, and those that need one: what is left when all that need nothing more are taken away."""
    left = dict(modules)
    while free := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in free}
    return set(left)


def test_no_import_of_any_form_leads_back() -> None:
    files = {module_name(package, path): path for package, path in sources()}
    assert circles({name: needed(name, path, files) for name, path in files.items()}) == set()


def rooms(modules: dict[str, set[str]]) -> dict[str, set[str]]:
    """What the folders and single modules of the packages import of each other; a package's face belongs to none."""
    room = {name: ".".join(name.split(".")[:2]) for name in modules if "." in name}
    found: dict[str, set[str]] = {each: set() for each in room.values()}
    for name, needs in modules.items():
        if name in room:
            found[room[name]] |= {room[each] for each in needs if each in room} - {room[name]}
    return found


def test_folders_import_one_way() -> None:
    files = {module_name(package, path): path for package, path in sources()}
    assert circles(rooms({name: needed(name, path, files) for name, path in files.items()})) == set()


@pytest.mark.parametrize(
    "back",
    [
        "from a.b import x", "import a.b", "import a.b as other", "from a import b", "from . import b",
        "from .b import x", "def f():\n    from a.b import x", "if TYPE_CHECKING:\n    from a.b import X",
    ],
)  # fmt: skip
def test_a_circle_is_seen_whatever_its_form(back: str, tmp_path: Path) -> None:
    texts = {"a": "", "a.b": "from a.c import y", "a.c": back, "a.d": "import a.b"}
    files = {name: tmp_path / f"{name}.py" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text, encoding="utf-8")
    needs = {name: needed(name, files[name], files) for name in texts}
    assert {"a.b", "a.c"} <= circles(needs)
    assert circles({**needs, "a.c": set()}) == set()


def test_configuration_never_becomes_code() -> None:
    wrong = []
    for _, path in sources():
        tree = parsed(path)
        where = path.relative_to(ROOT)
        wrong += [
            f"{where}:{line} imports {name}" for line, name in imported(tree) if name.split(".")[0] in NEVER_IMPORTED
        ]
        for node in walked(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NEVER_CALLED:
                wrong.append(f"{where}:{node.lineno} calls {node.func.id}")
            if isinstance(node, ast.Attribute) and node.attr in CONSTRUCTING_LOADERS:
                wrong.append(f"{where}:{node.lineno} uses {node.attr}")
            if isinstance(node, ast.Attribute) and node.attr in SHELLS and isinstance(node.value, ast.Name):
                wrong += [f"{where}:{node.lineno} uses {node.attr}"] * (node.value.id in {"os", "subprocess"})
            if isinstance(node, ast.keyword) and node.arg == "shell":
                wrong.append(f"{where}:{node.value.lineno} passes shell=")
    assert wrong == []


def test_what_is_put_together_for_a_line_of_output_is_printed_on_one_line() -> None:
    """A value may hold line breaks: `say` and `complain` make one line of it, `print` would let it forge another."""
    found = []
    for _, path in sources():
        calls = [node for node in walked(parsed(path)) if isinstance(node, ast.Call)]
        prints = [call for call in calls if ast.unparse(call.func) in PRINTING and path.name not in ANOTHER_PROCESS]
        found += [
            f"{path.name}:{call.lineno}" for call in prints if any(isinstance(arg, ast.JoinedStr) for arg in call.args)
        ]
    assert found == []


def documented(path: Path) -> ast.Module | ast.FunctionDef:
    """What says what a module is for: the function of a rule's file, else the module."""
    tree = parsed(path)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == path.stem]
    return functions[0] if path.parent.parent.name == "rules" and functions else tree


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(path.relative_to(ROOT)) for _, path in sources() if not ast.get_docstring(documented(path))]
    assert silent == []


def raised(node: ast.AST) -> Iterator[ast.Raise]:
    """The errors that a function raises itself: its nested functions and classes are left out."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.Raise) and isinstance(each.exc, ast.Call):
            yield each
        elif not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from raised(each)


def test_every_public_function_that_raises_an_error_says_so() -> None:
    silent = []
    for _, path in sources():
        tree = parsed(path)
        classes = [each for each in walked(tree) if isinstance(each, ast.ClassDef) and not each.name.startswith("_")]
        for function in [*tree.body, *(each for scope in classes for each in scope.body)]:
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or function.name.startswith("_"):
                continue
            says = re.search(r"[Rr]aises?\b|Error\b", ast.get_docstring(function) or "")
            silent += [f"{path.name}:{function.lineno} {function.name}"] if any(raised(function)) and not says else []
    assert silent == []


@pytest.mark.parametrize("package", ["rulewright", "rulewright_runtime"])
def test_the_front_door_lists_what_it_offers(package: str) -> None:
    names = in_a_fresh_interpreter(
        f"import {package} as m\nprint(*m.__all__)\n[getattr(m, n) for n in m.__all__]"
    ).split()
    assert names == sorted(names)


def test_all_shipped_data_travel_in_the_wheel() -> None:
    need_git()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    tracked = subprocess.run(["git", "ls-files", "benchmark"], capture_output=True, text=True, check=True, cwd=ROOT)
    shipped = {"/".join(name.split("/")[:2]) for name in tracked.stdout.split()} - {
        "benchmark/speed",
        "benchmark/live",
        "benchmark/peers",
    }
    assert {*shipped, "checks", "docs/reference/terms.md", "docs/rules", "grammar/LANGUAGE.md"} == set(included)
    assert all(target == f"rulewright_shipped/{source}" for source, target in included.items())


PARSING = {"lark", "jsonschema"}  # used as their documentation shows them


def private_parts(tree: ast.Module) -> Iterator[int]:
    """The lines at which a module that uses these libraries, or what is made of them, reaches for a private name of
    anything but its own class and our own modules."""
    if not any(name.split(".")[0] in PARSING or name in MADE_OF_THEM for _, name in imported(tree)):
        return
    own = {"self", "cls"}
    for node in walked(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            own |= {alias.asname or alias.name for alias in node.names}
    for node in walked(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            if not (isinstance(node.value, ast.Name) and node.value.id in own):
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PARSING:
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from (node.lineno for name in names if name.startswith("_"))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr"):
            yield from (node.lineno for part in node.args[1:2] if str(getattr(part, "value", "")).startswith("_"))


MADE_OF_THEM = {"rulewright.expression.lexer", "rulewright.expression.recovery"}


def test_no_private_part_of_lark_or_jsonschema_is_used() -> None:
    files = [*(path for _, path in sources()), *sorted((ROOT / "tests").rglob("*.py"))]
    files = [path for path in files if any(name in path.read_text(encoding="utf-8") for name in PARSING | MADE_OF_THEM)]
    found = [f"{path}:{line}" for path in files for line in private_parts(parsed(path))]
    assert found == []
    for reaching in ("lark.Lark(x).parser._parse_table", "getattr(lark, '_private')"):
        assert list(private_parts(ast.parse(f"import lark\n{reaching}"))) == [2]


def test_no_decision_depends_on_the_english_of_a_finding() -> None:
    reads = re.compile(r"[\"'] (?:not )?in \w+\.message\b|\.message\.(?:startswith|endswith|partition|split|find)\(")
    names = {path.name for _, path in sources() if reads.search(path.read_text(encoding="utf-8"))}
    assert names == {"diagnostics.py"}, "use `Diagnostic.about`, or `quoted`, whose words are the author's"


def test_findings_and_plans_depend_on_no_clock_and_no_chance() -> None:
    folders = ("check", "causes", "documents", "expression", "load", "lower", "planning", "proving", "rules")
    files = [path for folder in folders for path in sorted((PACKAGES["rulewright"] / folder).rglob("*.py"))]
    clock = re.compile(
        r"\b(?:today|now|utcnow|time_ns|urandom|token_hex)\(|\btime\.time\(|\bimport (?:random|secrets)\b"
    )
    assert files
    assert [path.name for path in files if clock.search(path.read_text(encoding="utf-8"))] == []


def test_any_is_the_exception() -> None:
    """What is only passed on is an `object`, what JSON holds `Json`, what an expression works on a `Value`."""
    texts = [path.read_text(encoding="utf-8") for _, path in sources()]
    assert sum(re.search(r"\bAny\b", line) is not None for text in texts for line in text.splitlines()) <= 450


def test_few_imports_are_inside_functions() -> None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    inside = {
        (path, each.lineno)
        for _, path in sources()
        for function in walked(parsed(path))
        if isinstance(function, functions)
        for each in ast.walk(function)
        if isinstance(each, ast.Import | ast.ImportFrom)
    }
    assert 0 < len(inside) <= 80  # each is for a library that few need, or for a start that people wait for


def test_what_is_imported_when_it_is_first_needed_is_there() -> None:
    commands = [SHARING.get(name, (name.replace("-", "_"), "run")) for name in COMMANDS if name != PARSES_ITSELF]
    places = {
        "rulewright.commands": commands,
        "rulewright.lower": EXPRESSION_READERS.values(),
        "rulewright.rules": [(module, "KINDS") for module in MODULES.values()],
        "rulewright_runtime.models": [(module, "open_model") for module in PROVIDERS.values()],
    }
    for package, found in places.items():
        for module, name in found:
            assert hasattr(import_module(f"{package}.{module}"), name), f"{package}.{module}.{name}"


def test_linting_an_expression_loads_lark_and_a_schema_jsonschema(tmp_path: Path) -> None:
    (tmp_path / "W-1.yaml").write_text(
        "id: W-1\nname: w\nprimary_bucket: C\nseverity: S2\nscope: trigger\nrouting: {route: llm_primary}\n"
        "eligibility: {when: scenario.category == safety}\n",
        encoding="utf-8",
    )
    program = f"""
import sys
from rulewright.cli import main
main(["lint", "--no-cache", {str(tmp_path / "W-1.yaml")!r}])
print("\\nloaded", *sorted(set(sys.modules) & {PARSING!r}))
"""
    assert in_a_fresh_interpreter(program).splitlines()[-1] == "loaded jsonschema lark"


def test_no_class_name_means_two_things() -> None:
    names = [
        (each.name, path.name) for _, path in sources() for each in walked(parsed(path)) if type(each) is ast.ClassDef
    ]
    first: dict[str, str] = {}
    assert [(name, path, first[name]) for name, path in names if first.setdefault(name, path) != path] == []


def test_every_private_function_is_used_in_its_module() -> None:
    unused = []
    for _, path in sources():
        tree = parsed(path)
        used = {getattr(node, "id", None) or getattr(node, "attr", None) for node in walked(tree)}
        functions = [each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
        unused += [f"{path.name}: {name}" for name in functions if name.startswith("_") and name not in used]
    assert [each for each in unused if not each.endswith("__")] == []


# One concept in several layers: a command and what it runs, a document and its part of the plan, a format that is
# written and read.
SHARED_NAMES = {
    "baseline", "calibrate", "cases", "corpus", "diff", "errors", "harness", "hil", "judge", "leaderboard", "lexicon",
    "lexicons", "play", "plugins", "scan", "score", "scorecard", "verdicts", "verifiers", "workflow",
    "workflow_machine",
}  # fmt: skip


def test_no_module_name_means_two_things() -> None:
    names = Counter(path.stem for _, path in sources() if not path.stem.startswith("__"))
    assert {name for name, count in names.items() if count > 1} == SHARED_NAMES


UNCLEAR_NAMES = {"heard", "leash", "looks", "said", "scene", "sheet", "spot", "spots", "told"}
UNCLEAR_WORD = re.compile(rf"\b_*(?:{'|'.join(UNCLEAR_NAMES)})_*\b", re.IGNORECASE)
UNCLEAR_DEFINITION = re.compile(rf"\b(?:def|class)\s+{UNCLEAR_WORD.pattern}", re.IGNORECASE)


def names_in(path: Path) -> Iterator[str]:
    """The functions, classes and arguments of a module; in the packages also its variables."""
    in_packages = "tests" not in path.relative_to(ROOT).parts
    for node in walked(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif in_packages and isinstance(node, ast.arg | ast.Name):
            yield node.arg if isinstance(node, ast.arg) else node.id


def test_no_name_is_on_the_list_of_unclear_names() -> None:
    words = dict.fromkeys((path for _, path in sources()), UNCLEAR_WORD)
    words |= dict.fromkeys((ROOT / "tests").rglob("*.py"), UNCLEAR_DEFINITION)
    having = [path for path, word in words.items() if word.search(path.read_text(encoding="utf-8"))]
    found = {(str(path), name) for path in having for name in names_in(path)}
    assert sorted(each for each in found if each[1].strip("_").lower() in UNCLEAR_NAMES) == []


def test_the_files_that_the_architecture_page_names_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", page))
    files = [path.relative_to(ROOT).as_posix() for _, path in sources()] + ["tests/test_house.py"]
    assert len(named) > 40
    assert sorted(name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in files)) == []


def test_the_top_level_holds_nothing_that_nobody_expects() -> None:
    need_git()
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {path.split("/")[0] for path in git.stdout.splitlines()} == TOP_LEVEL
