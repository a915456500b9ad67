"""The results of a finished run under another scorecard or other parameters, without calls to a judge."""
