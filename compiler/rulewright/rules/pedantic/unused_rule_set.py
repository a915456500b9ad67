from pathlib import Path

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import text
from rulewright.project import Project


def unused_rule_set(project: Project) -> Findings:
    """No scenario has the jurisdiction of a rule set, and no used rule set extends it.

    Why it matters: the rules look as if they applied to transcripts, but none is checked against them.
    Instead: name the rule set as a scenario's `jurisdiction`, or remove its file.
    """
    sets = project.rule_files
    used: set[str] = set()
    waiting = [scenario.jurisdiction for scenario in project.scenarios.values() if scenario.jurisdiction]
    while waiting:
        name = waiting.pop()
        if name and name not in sets:
            return  # a set that a wrong name was meant for is not unused
        if name not in used:
            used.add(name)
            waiting.append(Path(text(sets.get(name), "extends")).stem)
    for name, root in sets.items():
        if project.scenarios and name not in used:
            yield advice(root.entries[0].key, f"no scenario has the jurisdiction `{name}`")
