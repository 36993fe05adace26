"""Webhooks of three channels over one assistant: see README.md beside this file."""
