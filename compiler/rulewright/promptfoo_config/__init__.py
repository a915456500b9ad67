"""Translates a promptfoo configuration: assertions become checks, tests become scenarios."""
