"""The language as data: the expression grammar and the JSON Schemas of every document."""
