"""The HTTP API: one file for each thing that it serves."""
