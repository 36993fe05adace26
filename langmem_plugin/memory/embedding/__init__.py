"""From texts to vectors: models, retries, calibration, and what happens when the model changes."""
