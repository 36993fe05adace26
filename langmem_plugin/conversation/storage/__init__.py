"""Checkpoints and messages in the database, each message once."""
