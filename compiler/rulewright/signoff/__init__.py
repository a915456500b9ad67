"""The page on which people decide what waits for them: served by this machine to this machine."""
