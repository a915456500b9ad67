"""Projects: their documents, the profile and scorecard of a run, and unread files."""

from rulewright.project.project import TOLERATED_UNDER_REFERENCE, Project, accepted, stopping
from rulewright.project.reader import load_project, load_scorecards

__all__ = ["TOLERATED_UNDER_REFERENCE", "Project", "accepted", "load_project", "load_scorecards", "stopping"]
