"""Unit vectors of texts: the models, retries, and the meaning of a cosine."""
