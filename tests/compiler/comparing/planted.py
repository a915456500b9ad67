"""Runs of one small project in which transcripts, replies, rules and a threshold are changed, each or together."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.compiler.small_project import check, write
from tests.folders import turns_of, write_lines

from rulewright.check.project_check import compile_project
from rulewright_runtime.judging.judge import JudgeRecord
from rulewright_runtime.runs.store import run

FACTORS = ("transcript", "judge reply", "rule", "threshold")
WORDS = {  # check -> words of its lexicon before and after the rules change
    "said": (["you must"], ["you must"]),  # the transcript decides
    "ruled": (["never"], ["as you like"]),  # the rule decides
    "both": (["never"], ["you should"]),  # only the two together
    "either": (["whatever"], ["whatever", "as you like"]),  # each alone
    "mended": (["hello there"], ["never"]),  # failed before; each fixes it alone
}
ANSWERS = ("As you like, hello there.", "As you like. You must, you should, whatever.")
VERDICTS = ("PASS", "UNCLEAR")
LEAST = ("0.5", "0.95")
SCORECARD = """\
scorecard: quality
parameters:
  least: {type: score, default: 0.5, description: The least share of answers.}
coverage: {minimum: least}
gates:
  held:
    of: v.primary_bucket == 'A'
    stops: v.verdict == FAIL
    undecided: v.verdict == UNCLEAR
    empty: {not_eligible: passed, not_run: undecided}
dimensions:
  quality:
    rate: {of: "v.primary_bucket == 'F'", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate, empty: absent}
output:
  overall_score: 'wmean_present(dimensions, {"quality": 1.0})'
"""  # noqa: E501
DAY: dict[str, Any] = {"scenario_id": "day", "title": "A day", "category": "safety"}
DAY["turns"] = [{"turn_number": 1, "user_message": "Hello"}]
REST = "eligibility:\n  scenario_tags_any: [crisis]\n"
TRANSCRIPTS = ("model__night", "model__day")


@dataclass(frozen=True)
class Judge:
    """Says of everything the same."""

    verdict: str
    name: str = "one"

    @property
    def record(self) -> JudgeRecord:
        return JudgeRecord("python", self.name)

    def ask(self, request: Any) -> str:
        return json.dumps({"verdict": self.verdict, "rationale_code": "so", "evidence": []})


def project(folder: Path, *, rule: bool, bucket: str = "F") -> Path:
    """The project's folder, with the words of the rules before or after the change."""
    files = {
        "checks/W-1.yaml": _rule("J-1", check(bucket="F", severity="S3", scope="universal", routing="repetitions: 1")),
        "scenarios/day.json": json.dumps(
            {
                "scenario_id": "day",
                "title": "A day",
                "category": "safety",
                "turns": [{"turn_number": 1, "user_message": "Hello"}],
            }
        ),
        "configs/scorecards/quality.yaml": SCORECARD,
        "rulewright.yaml": "project: p\nscorecard: quality\nscorecards: configs/scorecards\n",
    }
    files["checks/J-1.yaml"] = files.pop("checks/W-1.yaml")
    for name, words in WORDS.items():
        files[f"lexicons/{name}.yaml"] = "patterns:\n" + "".join(f"  - {word}\n" for word in words[rule])
        of = {"bucket": "A", "severity": "S5"} if name == "said" else {"bucket": bucket, "severity": "S3"}
        routing = f"deterministic_precheck: {name}"
        text = check(
            **of, scope="universal", route="lexicon_only", routing=routing, scorer="require_evidence_span: false"
        )
        files[f"checks/{name}.yaml"] = _rule(name, text)
    write(folder, files)
    (folder / "checks" / "W-1.yaml").unlink(missing_ok=True)
    return folder


def _rule(name: str, text: str) -> str:
    return (
        text.replace(REST, "").replace("id: W-1", f"id: {name}").replace("name: says_no", f"name: {name.lower()}_said")
    )


def write_transcripts(folder: Path, answers: Mapping[str, str]) -> Path:
    """A folder of transcripts: one answer each."""
    for name, answer in answers.items():
        lines = ({**turn, "harness": "llm/raw"} for turn in turns_of("Hello", answer))
        write_lines(folder / f"{name}.jsonl", lines)
    return folder


@dataclass
class Plants:
    """Runs with some of the factors changed, each made once."""

    folder: Path

    def run(self, *changed: str) -> Path:
        """The folder of the run in which `changed` are changed."""
        transcript, reply, rule, threshold = (factor in changed for factor in FACTORS)
        out = self.folder / ("run-" + "".join(str(int(factor in changed)) for factor in FACTORS))
        if not out.exists():
            plan = compile_project(project(self.folder / f"project-{rule}", rule=rule))
            paths = [self.transcripts(changed=transcript)]
            run(plan, paths, out, judge=Judge(VERDICTS[reply]), parameters={"least": LEAST[threshold]})
        return out

    def transcripts(self, *, changed: bool) -> Path:
        """The folder of the conversations."""
        return write_transcripts(self.folder / f"said-{changed}", dict.fromkeys(TRANSCRIPTS, ANSWERS[changed]))
