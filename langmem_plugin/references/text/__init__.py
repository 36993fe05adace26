"""Comparing texts: their words, and the dates, times and numbers in them."""
