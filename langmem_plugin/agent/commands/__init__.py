"""The chat commands that a person types with a slash or says in plain words, answered without a model."""
