"""One person's data: out of this memory, into another, and from the formats of other products."""
