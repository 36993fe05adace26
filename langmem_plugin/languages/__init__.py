"""Data about languages, which every room may read."""
