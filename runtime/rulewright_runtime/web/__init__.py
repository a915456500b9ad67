"""What pages for people share: one look, and one small server on this machine."""
