"""What pages for people share: one look, one frame, and one small server on this machine."""
