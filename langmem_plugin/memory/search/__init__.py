"""Finding: by meaning, by words and by date, in one owner's memories and messages."""
