"""Translates a configuration of promptfoo: assertions become checks, tests become scenarios."""
