"""Two phones in a browser that text one agent, and what happens beside them: for a first look, on this machine."""
