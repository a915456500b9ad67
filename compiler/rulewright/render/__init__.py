"""Renders findings for people, code scanners and build servers; each format is a module.

The same findings give the same bytes; nothing here reads a clock, a locale or the environment.
"""
