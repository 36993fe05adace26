"""How memories are kept: rows, vectors, names, categories, and for how long."""
