"""The arguments of every command, declared without importing what runs it."""
