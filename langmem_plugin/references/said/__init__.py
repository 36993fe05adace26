"""The referring phrases of an utterance."""
