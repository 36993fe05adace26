"""What is meant: phrases against what was shown."""
