"""What `rulewright score` needs around the scoring."""
