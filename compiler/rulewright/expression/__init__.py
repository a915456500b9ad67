"""Expressions: text to tokens, tokens to syntax, syntax to types, types to IR."""
