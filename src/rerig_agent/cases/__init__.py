"""One module per kind of measurement."""
