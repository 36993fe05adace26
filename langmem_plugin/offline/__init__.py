"""The model that answers without a key or a network: for trying out."""
