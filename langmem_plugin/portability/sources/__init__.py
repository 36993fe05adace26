"""A file for each format: its records, as portability/records.py has them."""
