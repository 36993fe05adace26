"""Measurements, each against the stock part in the same run."""
