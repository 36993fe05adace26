"""What was said: the referring phrases of an utterance."""
