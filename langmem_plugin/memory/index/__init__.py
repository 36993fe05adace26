"""Approximate indexes for owners with very many memories, and what keeps them in step with the database."""
