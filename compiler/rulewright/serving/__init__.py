"""The local app: runs, their conversations, decisions and labels, as pages served to this machine alone."""
