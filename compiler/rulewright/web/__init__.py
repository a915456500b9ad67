"""The style, the frame and the local server that all pages share."""
