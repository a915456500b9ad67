"""How soon a file made to hurt ends in a diagnostic: processor time of loading, and of linting and drawing it."""

import sys
import time
from collections.abc import Callable

from rulewright.linting.lint_run import lint_text
from rulewright.load import load_text
from rulewright.render.output_formats import render

SECONDS = 1.0  # of processor time, for each
FULL = 8 * 1024 * 1024

BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(20)
)
CHAIN = (
    "a0: &a0 "
    + "[" * 50
    + "]" * 50
    + "\n"
    + "".join(f"a{i}: &a{i} {'[' * 50}*a{i - 1}{']' * 50}\n" for i in range(1, 30))
)

HOSTILE: dict[str, tuple[Callable[[], str | bytes], str, str]] = {
    "brackets": (lambda: "[" * FULL, "f.yaml", "nested-too-deep"),
    "mappings": (lambda: "{a: " * 10_000, "f.yaml", "nested-too-deep"),
    "indentation": (lambda: "".join(" " * i + "a:\n" for i in range(2_000)), "f.yaml", "nested-too-deep"),
    "dashes": (lambda: "- " * 10_000, "f.yaml", "nested-too-deep"),
    "JSON brackets": (lambda: "[" * FULL, "f.json", "nested-too-deep"),
    "JSON objects": (lambda: '{"a":' * 10_000, "f.json", "nested-too-deep"),
    "alias bomb": (lambda: BOMB, "f.yaml", "alias-bomb"),
    "depth through aliases": (lambda: CHAIN, "f.yaml", "nested-too-deep"),
    "huge scalar": (lambda: b'a: "' + b"x" * 100_000_000 + b'"', "f.yaml", "file-too-large"),
    "open quotes": (lambda: 'a: "' + "x\n" * (FULL // 2 - 8), "f.yaml", "yaml-syntax"),
    "many items": (lambda: "- a\n" * (FULL // 4), "f.yaml", "file-too-large"),
    "many JSON items": (lambda: "[" + "1," * (FULL // 2 - 2), "f.json", "file-too-large"),
    "JSON on one line": (lambda: "[" + '{"k": "%s"}, ' % ("x" * 200) * 24_000 + '{"k" 1}]', "f.json", "json-syntax"),
    "JSON without a comma": (lambda: "[" + '{"k": "%s"}, ' % ("x" * 200) * 24_000 + "1 2]", "f.json", "json-syntax"),
    "many anchors": (lambda: "".join(f"- &a{i} x\n" for i in range(500_000)), "f.yaml", "file-too-large"),
    "many directives": (lambda: "%TAG !a! x\n" * 500_000, "f.yaml", "yaml-syntax"),
    "NUL": (lambda: b"\0" * FULL, "f.yaml", "control-character"),
    "noise": (lambda: b"\xff" * FULL, "f.yaml", "not-utf-8"),
    "tabs": (lambda: "\t" * FULL, "f.yaml", "tab-indentation"),
    "mixed line breaks": (lambda: "a: 1\r\nb: 2\rc: 3\n" * 10 + "d: @\n", "f.yaml", "yaml-syntax"),
}


def spent(work: Callable[[], object]) -> float:
    """The processor time of one call; these are seconds, not microseconds, so that one is enough."""
    start = time.process_time()
    work()
    return time.process_time() - start


def lint_and_draw(text: str | bytes, path: str) -> str:
    """What `rulewright lint` would print for the file."""
    report = lint_text(text, path)
    return render("human", report.diagnostics, report.sources)


def main() -> int:
    """Measure every file, print, and answer 0 when each ends within a second."""
    worst = 0.0
    print(f"{'file':<24}{'load':>9}{'lint':>9}")
    for name, (make, path, _) in HOSTILE.items():
        text = make()
        load = spent(lambda text=text, path=path: load_text(text, path))  # type: ignore[misc]
        lint = spent(lambda text=text, path=path: lint_and_draw(text, path))  # type: ignore[misc]
        print(f"{name:<24}{load:>7.2f} s{lint:>7.2f} s")
        worst = max(worst, load, lint)
    print(f"slowest: {worst:.2f} s (at most {SECONDS:.0f} s)")
    return 0 if worst <= SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
