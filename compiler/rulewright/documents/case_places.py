"""Where test cases, their outputs and the settings of `rulewright score` are by default."""

from typing import Final

CASE_FOLDERS: Final = ("cases", "test_cases")  # of a project
OUTPUT_FOLDER: Final = "outputs"  # next to the cases, or in their folder
CASE_SETTINGS_FILE: Final = "safe.config.json"  # which may hold comments
