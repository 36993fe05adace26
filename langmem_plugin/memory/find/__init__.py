"""Search in the memory: facts by meaning and words, and past messages."""
