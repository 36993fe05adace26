"""A household assistant: the example that shows the memory at work."""
