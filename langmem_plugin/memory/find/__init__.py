"""What is known, found again: facts by meaning and words, and what was said."""
