"""Write memories: store them, weigh them against known ones, and take them back."""
