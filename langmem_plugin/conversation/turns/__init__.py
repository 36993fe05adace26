"""One turn at a time per conversation, across threads, processes and machines."""
