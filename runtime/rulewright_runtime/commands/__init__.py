"""The commands of the runtime's own command line; a process imports the one that it runs."""
