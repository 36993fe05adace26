"""What the conversation has shown: lists of items from tools and replies."""
