"""From texts to unit vectors: the models, retries, and what a cosine means."""
