"""Conversations: the checkpointer, its sessions, and the part of them that a model is shown."""
