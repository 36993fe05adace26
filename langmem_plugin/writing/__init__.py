"""Turn people's words into memories: extracted in the background, allowed, confirmed, explained."""
