"""The commands of `python -m rulewright_runtime`; a process imports only the one that it runs."""
