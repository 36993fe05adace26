"""The keeping of memories: rows, vectors, categories and uses, and for how long."""
