"""How long workflows take before anything runs: load, check and prove, first a small one in a fresh interpreter, then
one of a thousand tasks with fifty thresholds and as many exit conditions.

The small one is the example of the specification with its two mistakes corrected: at most 50 ms after start-up. A
thousand tasks: at most 2 s. Start-up ends when a workflow of one task has been processed, so that everything is
imported; then each is run once, and the median of several interpreters counts, in processor time.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROUNDS: Final = 5
LIMITS: Final = {"the example, before it is corrected": 0.050, "the example, corrected": 0.050, "1,000 tasks": 2.0}

EXAMPLE: Final = """\
tasks:
  design-l1:
    agent: architect
    overlays:
      policy_gate: {{enabled: true, evidence: {{acceptance: junit.xml, lint: ruff.json}}}}
      confidence_loop:
        enabled: true
        mode: composite
        threshold: 0.80
        max_iterations: 5
        metrics:
          - type: llm_judge
            weight: 0.5{evaluator}
          - type: checklist_completion
            weight: 0.3
          - type: requirement_coverage
            weight: 0.2
        exit_conditions:
          - "confidence_score >= 0.80"{pair}
"""
JUDGE: Final = "\n            evaluator_agent: reviewer"
PAIR: Final = '\n          - "pair.challenger_approved == true"'

EVIDENCE: Final = "acceptance: junit.xml, lint: ruff.json, readiness: ready.md"
SMALL: Final = "tasks: {a: {agent: dev, loop: {max_iterations: 2, exit_conditions: [loop.iteration > 1]}}}\n"

PROGRAM: Final = """
import sys, time
import rulewright.claims.workflow, rulewright.check.workflow_check
path, small, proves = sys.argv[1], sys.argv[2], sys.argv[3] == "prove"
rulewright.claims.workflow.prove_workflow(small)  # start-up: whatever is imported late is imported now
start = time.process_time()
workflow = rulewright.workflow.load_workflow(path)
found = rulewright.check.workflow_check.check(workflow)
if proves:
    properties = rulewright.claims.workflow.prove_workflow(workflow)
    assert all(type(each.result).__name__ == "Proved" for each in properties), properties
else:
    assert found
print(time.process_time() - start)
"""


def large(tasks: int) -> str:
    """A workflow in which every task waits for the one three before it, with thresholds from 0.50 to 0.99."""
    lines = ["tasks:"]
    for number in range(tasks):
        tier = ("T0", "T1", "T2")[number % 3]
        partner = (
            "agentic_review: {enabled: true, reviewer_agent: reviewer",
            "paired_workflow: {enabled: true, challenger_agent: le",
        )
        lines += [
            f"  task-{number}:",
            "    agent: dev",
            f"    dependencies: [{f'task-{number - 3}' if number > 2 else ''}]",
            "    overlays:",
            f"      policy_gate: {{enabled: true, risk_tier: {tier}, evidence: {{{EVIDENCE}}}}}",
            f"      {partner[number % 2]}, max_iterations: 3}}",
            "      confidence_loop:",
            "        enabled: true",
            f"        threshold: 0.{50 + number % 50}",
            "        max_iterations: 5",
            "        metrics: [{type: lint_score, source: ruff.json}, {type: test_coverage, source: cov.json}]",
            f'        exit_conditions: ["confidence_score >= 0.{50 + number % 50} and metrics.lint_score > 0.9"]',
        ]
    return "\n".join(lines) + "\n"


def seconds(text: str, *, proves: bool) -> float:
    """The median over fresh interpreters of loading, checking and, if so, proving a workflow; imports not counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workflow.yaml"
        path.write_text(text, encoding="utf-8")
        small = Path(folder) / "small.yaml"
        small.write_text(SMALL, encoding="utf-8")
        command = [sys.executable, "-c", PROGRAM, str(path), str(small), "prove" if proves else "check"]
        rounds = [
            float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(ROUNDS)
        ]
    return statistics.median(rounds)


def main() -> int:
    """Print each time beside its limit; the exit code says whether all are kept."""
    times = {
        "the example, before it is corrected": seconds(EXAMPLE.format(evaluator="", pair=PAIR), proves=False),
        "the example, corrected": seconds(EXAMPLE.format(evaluator=JUDGE, pair=""), proves=True),
        "1,000 tasks": seconds(large(1000), proves=True),
    }
    for name, time in times.items():
        print(f"{name:34} {time * 1000:8.1f} ms   at most {LIMITS[name] * 1000:6.0f} ms")
    return 0 if all(time <= LIMITS[name] for name, time in times.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
