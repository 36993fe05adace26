"""A person's own page: what is remembered of them, from where, to correct, take away and delete."""
