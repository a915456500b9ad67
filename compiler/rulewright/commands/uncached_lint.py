"""`lint` without cached output: the part that imports the linter."""

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path

from rulewright import fixes
from rulewright.commands.output import writing_to
from rulewright.dependencies import DependencyTracker
from rulewright.diagnostics import Severity
from rulewright.documents.layout import nearest_project, variables_in
from rulewright.errors import UsageError
from rulewright.linting import allowing, baseline, lint_run
from rulewright.linting.lint_output import LintOutput
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import Fixed
from rulewright.linting.lint_settings import RuleSelection
from rulewright.linting.watching import watch
from rulewright.load import load_file
from rulewright.manual import advice_of, explain
from rulewright.render.human import summary
from rulewright.render.output_formats import render
from rulewright.result_cache import CacheEntry
from rulewright_runtime.english import plural
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.terminal import complain, safe_stream, say, visible, wants_colour, width_for

MANY = 20  # from this many findings on, they are also counted by category


def lint_uncached(args: argparse.Namespace) -> int:
    """Lint and show the result; return the exit code."""
    if args.watch:
        return _watch(args)
    if args.add_allow is not None:
        return _allow(args)
    if args.diff:
        return _diff(args)
    report = _with_fixes(args) if args.fix else _report(args)
    report = _beyond_baseline(report, args) if args.baseline else report
    output = _answer(report, args)
    return _save(output, report, args) if args.output_file else output.show()


def lint_and_keep(args: argparse.Namespace, entry: CacheEntry) -> int:
    """Lint, show the output, and cache it for the same question; return the exit code."""
    with DependencyTracker() as tracker:
        report = _report(args)
        answer = _answer(report, args)
    status = answer.show()
    variables = variables_in({path: source.text for path, source in report.sources.items()})
    if variables is not None:
        answer.keep(entry, tracker.states, variables)
    return status


def _allow(args: argparse.Namespace) -> int:
    """Write comments and `accept` entries for the findings; return the exit code, 1 if one could not be suppressed."""
    if args.fix or args.diff or args.baseline or args.output_file or "-" in args.paths:
        raise UsageError(
            "`--add-allow` writes into the files it read; `-` and other options that write don't go with it"
        )
    allowed, changed = 0, dict[str, None]()
    for _ in range(lint_run.MAX_ROUNDS):  # findings that were hidden by a suppressed one appear in the next round
        report = _report(args)
        report = report.errors() if args.quiet else report
        texts, left = allowing.allowing_texts(report, args.add_allow)
        for path, text in texts.items():
            source = report.sources[path] if path in report.sources else load_file(path).source
            with writing_to(path):
                write_whole(path, fixes.as_bytes(source, text))
        changed |= dict.fromkeys(texts)
        allowed += len(report.diagnostics) - len(left)
        if not texts:
            break
    for path in changed:
        say(f"changed {path}")
    for found in left:
        complain(f"{found.span.path}:{found.span.line}: `{found.code}` can't be allowed by a comment")
    say(f"{plural(allowed, 'finding')} {'is' if allowed == 1 else 'are'} allowed now")
    return 1 if left else 0


def _beyond_baseline(report: Report, args: argparse.Namespace) -> Report:
    """The findings that are not in the baseline. A missing baseline is created, and fixed findings are removed from
    it; if rules are selected, and in continuous integration (`CI` is set), it is only read."""
    path, is_in_ci = Path(args.baseline), bool(os.environ.get("CI"))
    is_read_only = is_in_ci or bool(args.select or args.ignore or args.category)
    if not path.exists():
        if is_in_ci:
            raise UsageError(f"baseline not found: `{path}`; write it on your own machine")
        known = baseline.entries_of(report, path)
        baseline.write_baseline(path, known)
        complain(f"wrote {path} with {plural(len(report.diagnostics), 'finding')}")
    else:
        known = baseline.read_baseline(path)
    rest, still = baseline.without_known(report, known, path)
    gone = (Counter(known) - still).total()
    if gone and not is_read_only:
        baseline.write_baseline(path, still)
        complain(f"{gone} of the baseline {'are' if gone > 1 else 'is'} gone")
    return rest


def _save(output: LintOutput, report: Report, args: argparse.Namespace) -> int:
    """Write the findings to `--output-file`, and the summary to standard output."""
    with writing_to(args.output_file):
        write_whole(args.output_file, output.text.encode("utf-8", "replace"))
    say(summary(report.grouped().diagnostics, len(report.sources)))
    return output.status


def _codes(given: list[str]) -> tuple[str, ...]:
    return tuple(code.strip() for one in given for code in one.split(",") if code.strip())


def _paths(args: argparse.Namespace) -> list[Path]:
    return [Path(path) for path in args.paths] or [nearest_project() or Path()]


def _selection(args: argparse.Namespace) -> RuleSelection:
    select = (*_codes(args.select), *args.category)
    return RuleSelection(select, _codes(args.ignore), _codes(args.extend_select), args.preview)


def _report(args: argparse.Namespace) -> Report:
    if args.unsafe_fixes and not args.diff:
        raise UsageError("`--unsafe-fixes` needs `--fix`, which applies them, or `--diff`, which shows them")
    if "-" in args.paths:
        if len(args.paths) > 1:
            raise UsageError("`-` reads one document and can't be combined with other paths")
        return lint_run.lint_text(sys.stdin.buffer.read(), args.stdin_name, _selection(args))
    return lint_run.lint(_paths(args), _selection(args))


def _fixed(args: argparse.Namespace) -> Fixed:
    if "-" not in args.paths:
        return lint_run.fixed_files(_paths(args), _selection(args), unsafe=args.unsafe_fixes)
    if not args.diff:
        raise UsageError("`--fix` changes files and can't change standard input; `--diff` shows the change")
    report, name = _report(args), args.stdin_name
    return lint_run.fixed(
        report, lambda texts: lint_run.lint_text(texts[name], name, _selection(args)), unsafe=args.unsafe_fixes
    )


def _with_fixes(args: argparse.Namespace) -> Report:
    done = _fixed(args)
    done.save()
    for path in done.texts:
        complain(f"changed {path}")
    return done.left


def _answer(report: Report, args: argparse.Namespace) -> LintOutput:
    if args.quiet:
        report = report.errors()
    fails = report.fails(Severity(args.fail_level)) and not args.exit_zero
    return LintOutput(1 if fails else 0, _shown(report, args))


def _shown(report: Report, args: argparse.Namespace) -> str:
    report = report.grouped()
    if args.statistics:
        return _statistics(report, args.format)
    colour = args.format == "human" and wants_colour(sys.stdout)
    width = width_for(sys.stdout)
    shown = render(
        args.format,
        report.diagnostics,
        report.sources,
        page_of=explain,
        default_help=advice_of,
        colour=colour,
        width=width,
    )
    fixes = [found.fix.safe for found in report.diagnostics if found.fix is not None]
    if args.format != "human":
        return shown
    if len(report.diagnostics) >= MANY:
        shown += f"{', '.join(f'{category} {count}' for category, count in report.categories)}\n"
    hints = ((fixes.count(True), "--fix"), (fixes.count(False), "--fix --unsafe-fixes"))
    return shown + "".join(f"{number} can be fixed with `{options}`\n" for number, options in hints if number)


def _statistics(report: Report, format: str) -> str:
    """Every code with its number and share of the findings."""
    rows = report.statistics
    if format == "json":
        return json.dumps([{"code": c, "severity": s, "count": n} for c, s, n in rows]) + "\n"
    total = len(report.diagnostics)
    lines = [f"{count:6} {count / total:6.1%} {severity:8} {code}\n" for code, severity, count in rows]
    categories = (f"{count:6} {count / total:6.1%} category {name}\n" for name, count in report.categories)
    return "".join([*lines, *categories])


def _diff(args: argparse.Namespace) -> int:
    done = _fixed(args)
    text = done.diff()
    if args.output_file:
        with writing_to(args.output_file):
            write_whole(args.output_file, text.encode())
        say(f"wrote {args.output_file}: {len(done.texts)} {'file changes' if len(done.texts) == 1 else 'files change'}")
    else:
        sys.stdout.write(text)
        if visible(text) != text:
            complain("invisible characters are shown as escapes; `--output-file` writes a diff that can be applied")
    held = sum(found.fix is not None and not found.fix.safe for found in done.left.diagnostics)
    if held and not args.unsafe_fixes:
        complain(f"`--unsafe-fixes` shows {held} more")
    return 1 if done.texts else 0


def _watch(args: argparse.Namespace) -> int:
    if args.fix or args.diff or args.baseline or args.output_file or "-" in args.paths:
        raise UsageError("`--watch` only shows findings; `-` and options that write don't go with it")

    def once() -> str:
        return _answer(_report(args), args).text

    return watch(once, safe_stream(sys.stdout))
