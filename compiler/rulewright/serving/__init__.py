"""The local app: pages of runs, conversations, decisions and labels, served to this machine only."""
