"""The keeping of memories: rows, vectors, names, categories, and for how long."""
