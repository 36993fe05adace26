"""What becomes known: stored, weighed against what is there, and taken back."""
