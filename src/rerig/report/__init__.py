"""Documents shown to people."""
