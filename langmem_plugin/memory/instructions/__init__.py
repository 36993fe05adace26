"""Standing instructions: what a person wants done, when, and which of two holds."""
