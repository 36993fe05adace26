"""Memory for LangGraph agents that people text."""
