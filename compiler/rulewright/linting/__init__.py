"""Lint: findings of projects and of lone files, fixed, suppressed, remembered and watched."""
