"""Projects: their documents, the profile and scorecard of a run, and unread files."""

from rulewright.project.project import Project, accepted, stopping
from rulewright.project.project_reader import load_nearest, load_project, load_scorecards

__all__ = ["Project", "accepted", "load_nearest", "load_project", "load_scorecards", "stopping"]
