"""People and their identifiers: linking, merging, and what a person has set for themselves."""

from langmem_plugin.people.people import People

__all__ = ["People"]
