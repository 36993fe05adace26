"""Memory for a LangGraph agent: state, nodes, middleware, prompt, tools and chat commands."""
