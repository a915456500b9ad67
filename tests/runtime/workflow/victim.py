"""A run in a process of its own, so that it can be killed: the plan, the script and the folder come as arguments."""

import json
import sys
from pathlib import Path

from rulewright_runtime.workflow import engine
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_settings import AdapterSettings, RunSettings
from rulewright_runtime.workflow.workflow_plan import decode


def main(folder: Path) -> int:
    """Run, or go on with the run that was killed; decide whatever waits, as a person would. 0 when it has ended."""
    plan = decode((folder / "plan.json").read_bytes())
    script = json.loads((folder / "script.json").read_text(encoding="utf-8"))
    settings = RunSettings(adapters={"default": AdapterSettings("mock", script=script)}, folder=str(folder))
    with Store(folder / "runs.db") as store:
        if any(run.status == "COMPLETED" for run in store.runs()):
            return 0  # it was killed after it had ended
        while True:
            result = engine.run(plan, store, settings, resume=bool(store.runs()))
            for item in result.waiting:
                store.decide(item.id, "resolve", by="ana", notes="fine", now="2026-01-01T00:00:00.000Z")
            if not result.waiting:
                return 0 if result.status == "COMPLETED" else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
