"""Sessions: their beginning and end, and the one that a run belongs to."""
