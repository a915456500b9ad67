"""The language server: what lint, the schemas and the checker of expressions know, told to editors while one types."""
