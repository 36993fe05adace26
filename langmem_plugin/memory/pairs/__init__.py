"""Judge how a new text relates to a known one where the sure rules are silent: by weights fitted to pairs."""
