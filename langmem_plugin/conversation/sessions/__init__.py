"""Sessions: when one begins and ends, which one a run belongs to."""
