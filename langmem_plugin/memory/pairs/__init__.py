"""What a new text does to a known one where the sure rules are silent: judged by weights that were fitted to pairs."""
