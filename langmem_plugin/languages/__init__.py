"""What is known of languages, as data: every room may read it."""
