"""The answering of a message: what a channel hands in, what the graph is given and asks, and what goes out."""
