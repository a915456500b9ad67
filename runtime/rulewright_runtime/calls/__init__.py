"""Calls to models: each is claimed in a ledger, sent within limits and a budget, and recorded."""
