"""The meaning of referring phrases, read against the lists that were shown."""
