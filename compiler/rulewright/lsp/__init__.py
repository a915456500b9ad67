"""The language server: lint findings, schema help and expression help for editors."""
