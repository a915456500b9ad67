"""How fast expressions run: beside seven engines and hand-written Python, in one process.

    python benchmark/speed/expressions.py            # exit status 1 when a bar is missed

Every engine gets the same plain dict for each evaluation, decoded from JSON as rows are, and has parsed its expression
before; what it must do to read a dict is part of the evaluation. The bars hold for the whole context of a row, as rules
meet it: scores, a review, a scenario and twenty verdicts. A second table gives each expression a dict of only what it
reads, which spares the other engines most of their conversions: there even the function written by hand has no such
lead over the fastest engine, so that its own ratio stands beside. A third has values by which the first test decides.
Every engine must agree with the hand-written function before it is timed.
"""

import json
import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.timing import Timing, measure, ratio, table

from rulewright.expression.build import lower
from rulewright.expression.checker import check
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import parse_type
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program

PEERS_BAR: Final = 8.0  # times faster than the fastest peer
PARSE_BAR: Final = 0.5e-3  # seconds for parse and check of one rule
Run = Callable[[Any], Any]

CEL: Final = {
    "gate": "confidence_score >= 0.8 && review.decision == 'GO' && !review.blocked",
    "label": "cr < 0.5 || ah < 0.5 || ac < 0.5 ? 'Fail' : "
    "ah < 1.0 ? 'Review' : cr < 0.8 || ac < 0.8 ? 'Review' : 'Pass'",
    "quantifier": "verdicts.exists(v, v.eligible && v.bucket in ['A', 'B'] && v.verdict == 'FAIL')",
    "routing": "scenario.category in ['crisis', 'safety'] || scenario.tags.exists(t, t in ['longitudinal', 'memory'])",
}
TYPES: Final = {
    "gate": {"confidence_score": "double", "review": "map(string, dyn)"},
    "label": {"cr": "double", "ah": "double", "ac": "double"},
    "quantifier": {"verdicts": "list(map(string, dyn))"},
    "routing": {"scenario": "map(string, dyn)"},
}
SCORES: Final = {"gate": ("confidence_score",), "label": ("cr", "ah", "ac")}
VERDICTS: Final = [
    {"eligible": number % 2 == 0, "bucket": "ABCDF"[number % 5], "verdict": "PASS" if number % 7 else "UNCLEAR"}
    for number in range(20)
]
WRITTEN: Final = {
    "gate": {"confidence_score": 0.9, "review": {"decision": "GO", "blocked": False}},
    "label": {"cr": 0.9, "ah": 1.0, "ac": 0.85},
    "quantifier": {"verdicts": VERDICTS},
    "routing": {"scenario": {"category": "care", "tags": ["caregiver", "night", "memory"]}},
}
DATA: Final[Mapping[str, dict[str, Any]]] = json.loads(json.dumps(WRITTEN))
WHOLE: Final = {name: value for bindings in DATA.values() for name, value in bindings.items()}
FIRST: Final[Mapping[str, dict[str, Any]]] = {
    "gate": WHOLE | {"confidence_score": 0.7},
    "label": WHOLE | {"cr": 0.3},
    "quantifier": WHOLE | {"verdicts": [{"eligible": True, "bucket": "A", "verdict": "FAIL"}, *VERDICTS]},
    "routing": WHOLE | {"scenario": {"category": "crisis", "tags": ["night"]}},
}


def gate(c: dict[str, Any]) -> Any:
    """The gate by hand."""
    return c["confidence_score"] >= 0.8 and c["review"]["decision"] == "GO" and not c["review"]["blocked"]


def label(c: dict[str, Any]) -> Any:
    """The label by hand."""
    if c["cr"] < 0.5 or c["ah"] < 0.5 or c["ac"] < 0.5:
        return "Fail"
    if c["ah"] < 1.0:
        return "Review"
    return "Review" if c["cr"] < 0.8 or c["ac"] < 0.8 else "Pass"


def quantifier(c: dict[str, Any]) -> Any:
    """The quantifier by hand."""
    return any(v["eligible"] and v["bucket"] in ("A", "B") and v["verdict"] == "FAIL" for v in c["verdicts"])


def routing(c: dict[str, Any]) -> Any:
    """The routing condition by hand."""
    scenario = c["scenario"]
    return scenario["category"] in ("crisis", "safety") or any(
        t in ("longitudinal", "memory") for t in scenario["tags"]
    )


HAND: Final[Mapping[str, Run]] = {"gate": gate, "label": label, "quantifier": quantifier, "routing": routing}


def program(text: str, types: Mapping[str, str]) -> Program:
    """Our program of an expression."""
    environment = Environment({name: parse_type(kind) for name, kind in types.items()})
    return lower(check(parse(text, Dialect.PROFILE), text, environment), text, environment)


def scored(kind: str) -> Mapping[str, str]:
    """The types of an expression with its numbers read as exact scores."""
    return {name: "score" if name in SCORES[kind] else type_ for name, type_ in TYPES[kind].items()}


def cel_python(kind: str) -> Run:
    """cel-python."""
    import celpy
    from celpy.adapter import json_to_cel

    environment = celpy.Environment()
    runner: Any = environment.program(environment.compile(CEL[kind]))
    return lambda c: runner.evaluate(json_to_cel(c))


def rust(kind: str) -> Run:
    """common-expression-language, the Rust binding."""
    import cel

    run: Run = cel.compile(CEL[kind]).execute
    return run


def cel_cpp(kind: str) -> Run:
    """cel-expr-python, the C++ engine."""
    from cel_expr_python import cel

    names = {name: cel.Type.DOUBLE if type_ == "double" else cel.Type.DYN for name, type_ in TYPES[kind].items()}
    expression = cel.NewEnv(variables=names).compile(CEL[kind])
    return lambda c: expression.eval(data=c).value()


def simple_eval(kind: str) -> Run:
    """simpleeval, on Python's own syntax."""
    import simpleeval

    text = {
        "gate": "confidence_score >= 0.8 and review['decision'] == 'GO' and not review['blocked']",
        "label": "'Fail' if cr < 0.5 or ah < 0.5 or ac < 0.5 else 'Review' if ah < 1.0 else "
        "'Review' if cr < 0.8 or ac < 0.8 else 'Pass'",
        "quantifier": "any([v['eligible'] and v['bucket'] in ['A', 'B'] and v['verdict'] == 'FAIL' for v in verdicts])",
        "routing": "scenario['category'] in ['crisis', 'safety'] or "
        "any([t in ['longitudinal', 'memory'] for t in scenario['tags']])",
    }[kind]
    runner = simpleeval.EvalWithCompoundTypes(functions={"any": any})
    parsed = runner.parse(text)

    def run(c: dict[str, Any]) -> Any:
        runner.names = c
        return runner.eval(text, parsed)

    return run


def rule_engine(kind: str) -> Run:
    """rule-engine."""
    import rule_engine as engine

    text = {
        "gate": "confidence_score >= 0.8 and review['decision'] == 'GO' and not review['blocked']",
        "label": "(cr < 0.5 or ah < 0.5 or ac < 0.5) ? 'Fail' : "
        "(ah < 1.0 ? 'Review' : ((cr < 0.8 or ac < 0.8) ? 'Review' : 'Pass'))",
        "quantifier": "[v for v in verdicts if v['eligible'] and v['bucket'] in ['A', 'B'] "
        "and v['verdict'] == 'FAIL'].length > 0",
        "routing": "scenario['category'] in ['crisis', 'safety'] or "
        "[t for t in scenario['tags'] if t in ['longitudinal', 'memory']].length > 0",
    }[kind]
    run: Run = engine.Rule(text).evaluate
    return run


def jmes_path(kind: str) -> Run:
    """jmespath."""
    import jmespath

    text = {
        "gate": "confidence_score >= `0.8` && review.decision == 'GO' && !(review.blocked)",
        "label": "((cr < `0.5` || ah < `0.5` || ac < `0.5`) && 'Fail') || (ah < `1.0` && 'Review') || "
        "((cr < `0.8` || ac < `0.8`) && 'Review') || 'Pass'",
        "quantifier": "length(verdicts[?eligible && contains(['A', 'B'], bucket) && verdict == 'FAIL']) > `0`",
        "routing": "contains(['crisis', 'safety'], scenario.category) || "
        "length(scenario.tags[?contains(['longitudinal', 'memory'], @)]) > `0`",
    }[kind]
    run: Run = jmespath.compile(text).search
    return run


def zen_engine(kind: str) -> Run:
    """zen-engine."""
    import zen

    text = {
        "gate": "confidence_score >= 0.8 and review.decision == 'GO' and not review.blocked",
        "label": CEL["label"].replace("||", "or"),
        "quantifier": "some(verdicts, #.eligible and #.bucket in ['A', 'B'] and #.verdict == 'FAIL')",
        "routing": "scenario.category in ['crisis', 'safety'] or some(scenario.tags, # in ['longitudinal', 'memory'])",
    }[kind]
    run: Run = zen.compile_expression(text).evaluate
    return run


PEERS: Final[Mapping[str, Callable[[str], Run]]] = {
    "cel-python": cel_python,
    "common-expression-language": rust,
    "cel-expr-python": cel_cpp,
    "simpleeval": simple_eval,
    "rule-engine": rule_engine,
    "jmespath": jmes_path,
    "zen-engine": zen_engine,
}


def expressions(title: str, data: Mapping[str, dict[str, Any]]) -> bool:
    """One expression at a time, each on its bindings; whether every bar is met."""
    rows = [[title, *CEL]]
    cells: dict[str, list[str]] = {name: [] for name in (*PEERS, "by hand", "rulewright", "rulewright, scores")}
    faster = [f"faster than the fastest peer (>= {PEERS_BAR:g}x)"]
    by_hand = ["by hand, faster than it"]
    slower = ["of by hand"]
    met = True
    for kind, text in CEL.items():
        times = one(kind, text, data[kind])
        for name, row in cells.items():
            row.append(str(times[name]) if name in times else "-")
        fastest = min((times[name].median, name) for name in PEERS if name in times)[1]
        lead = ratio(times, fastest, "rulewright")
        faster.append(f"{lead:.1f}x")
        by_hand.append(f"{ratio(times, fastest, 'by hand'):.1f}x")
        slower.append(f"{ratio(times, 'rulewright', 'by hand'):.2f}x")
        met = met and lead >= PEERS_BAR
    rows += [[name, *row] for name, row in cells.items()]
    print(table([*rows, faster, by_hand, slower]), end="\n\n")
    return met


def one(kind: str, text: str, bindings: dict[str, Any]) -> dict[str, Timing]:
    """The times of everybody on one expression."""
    wanted = HAND[kind](bindings)
    runs: dict[str, Run] = {"by hand": HAND[kind], "rulewright": prepare(program(text, TYPES[kind]))}
    if kind in SCORES:
        runs["rulewright, scores"] = prepare(program(text, scored(kind)))
    for name, make in PEERS.items():
        try:
            runs[name] = make(kind)
        except ImportError:
            print(f"{name} is not installed: left out")
    for name, run in runs.items():
        if run(bindings) != wanted:
            raise AssertionError(f"{name} says {run(bindings)!r} to {kind}, not {wanted!r}")
    return measure({name: (run, bindings) for name, run in runs.items()})


def reading() -> bool:
    """Parse and check of one rule of 80 characters; whether the bar is met."""
    text = "confidence_score >= 0.80 and review.decision == 'GO' and size(review.notes) <= 3"
    environment = Environment({name: parse_type(kind) for name, kind in TYPES["gate"].items()})
    numbers = count()

    def read(rule: str) -> object:
        text = f"{rule} // {next(numbers)}"  # each text is new, because parsed ones are cached
        return check(parse(text, Dialect.PROFILE), text, environment)

    times = measure({"read": (read, text)})
    print(f"parse and check of {len(text)} characters: {times['read']} (at most {PARSE_BAR * 1e3:g} ms)")
    return times["read"].median <= PARSE_BAR


def main() -> int:
    """Print everything; 1 when a bar is missed."""
    met = [expressions("a row's whole context", dict.fromkeys(CEL, WHOLE))]
    expressions("only what is read", DATA)
    expressions("the first test decides", FIRST)
    met.append(reading())
    print("every bar is met" if all(met) else "a bar is missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
