"""Documents: the typed models of what authors write, each file one kind."""
