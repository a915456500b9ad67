"""What a command notes as its dependencies, and which files it opens and which folders it lists."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json, sys
from rulewright.cli import main
from rulewright.dependencies import DependencyTracker
opened = []
def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and not isinstance(arguments[0], int):
        opened.append(str(arguments[0]))
with DependencyTracker() as tracker:
    sys.addaudithook(hook)
    main(sys.argv[1:])
print()
print(json.dumps([sorted({path for _, path in tracker.states}), opened]))
"""


def noted_and_opened(*words: str) -> tuple[set[str], set[str]]:
    """The paths that a command in this folder notes, and those below this folder that it opens."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True)
    noted, opened = ({os.path.relpath(path) for path in paths} for paths in json.loads(done.stdout.splitlines()[-1]))
    return noted, {path for path in opened if not path.startswith("..") and "__pycache__" not in path}
