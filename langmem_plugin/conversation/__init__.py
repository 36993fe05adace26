"""Conversations: the checkpointer, the sessions it keeps, and what of them a model is shown."""
