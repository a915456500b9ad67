"""Claims: what `rulewright prove` says of a whole document, each proved, refuted by an input, or unknown."""
