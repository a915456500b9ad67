"""The commands, a file each: parse arguments, call the library, choose the exit code."""
