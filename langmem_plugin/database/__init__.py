"""One database behind one URL: SQLite by default, PostgreSQL for many machines."""

from langmem_plugin.database.engine import Database

__all__ = ["Database"]
