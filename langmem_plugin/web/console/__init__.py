"""The operator's console: everybody's memories, conversations and figures."""
