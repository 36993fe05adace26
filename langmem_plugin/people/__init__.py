"""One person, several identifiers: linking, merging, and what a person has set for themselves."""
