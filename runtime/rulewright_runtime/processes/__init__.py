"""Processes: the ends and ancestors of processes, and code of the user in one."""
