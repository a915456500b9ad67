"""The local app: pages of runs, conversations, labels and the queue of decisions, served to this machine only."""
