"""One database behind one URL: SQLite by default, PostgreSQL for many machines."""

from langmem_plugin.database.engine import BULK_WORK, Database
from langmem_plugin.database.transactions import waiting_once

__all__ = ["BULK_WORK", "Database", "waiting_once"]
