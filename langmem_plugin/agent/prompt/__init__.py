"""The input of a model call: what is known for the person's message, and how it is stated."""
