"""Rulewright: compile declarative evaluation rules, lint them, prove them, and hand the runtime a plan."""
