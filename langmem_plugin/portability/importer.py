"""Takes records of any source into the memory: nothing twice, and what is half done is finished by the next run."""

from collections.abc import Callable
from typing import Literal

from langmem_plugin.portability.import_report import ImportReport
from langmem_plugin.portability.records import ImportedRecords

Doubtful = Literal["pending", "leave out", "believe"]


class Importer:
    """`phone` is whose all of it becomes; without it each record says whose it is."""

    def run(
        self,
        records: ImportedRecords,
        *,
        phone: str | None = None,
        doubtful: Doubtful = "pending",
        dry_run: bool = False,
        progress: Callable[[int], object] = lambda _: None,
    ) -> ImportReport:
        raise NotImplementedError
