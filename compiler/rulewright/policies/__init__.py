"""Two policies compared: where they decide differently, for every input, and which stored rows that changes."""
