"""The lists of items that tools and replies have shown in the conversation."""
