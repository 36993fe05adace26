"""The tools of a model, and what they may do in whose name."""
