"""Two phones in a browser that text one agent, with its events beside them: for a first look, on this machine."""
