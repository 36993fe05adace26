"""The place of a tenant's data: apart from everybody else's, so that no query can reach over."""

from pathlib import Path

from langmem_plugin.database.urls import database_and_schema
from langmem_plugin.settings import Settings

_DEFAULT_SCHEMA = "langmem"


def database_of(settings: Settings, url: str | Path | None = None) -> tuple[str | Path, str | None]:
    """The URL, the settings' unless one is given, and a tenant's schema: it has a file, or a schema, of its own.

    Raises ConfigurationError for what names no database.
    """
    whole, tenant = url or settings.database, settings.tenant
    if tenant is None:
        return whole, None
    parsed, schema = database_and_schema(whole)
    if parsed.get_backend_name() != "sqlite":
        return whole, f"{schema or _DEFAULT_SCHEMA}_{tenant}"
    if parsed.database is None:
        return whole, None
    file = Path(parsed.database)
    return file.with_name(f"{file.stem}.{tenant}{file.suffix}"), None


def media_of(settings: Settings) -> Path | str:
    """The setting, with a folder of the tenant's own: beside the one that is named."""
    return folder_of(settings.media, settings) if isinstance(settings.media, Path) else settings.media


def vector_index_of(settings: Settings) -> tuple[str | None, str]:
    """The same for the vector index, and the name of the account owner's collection in it, "" where it has none.

    pgvector's tables lie beside the schema, and so are apart already.
    """
    index, _, collection = (settings.vector_index or "").partition("#")
    kind, colon, folder = index.partition(":")
    if settings.tenant is not None and kind == "chroma" and folder:
        index = f"{kind}{colon}{folder_of(Path(folder), settings)}"
    return index or None, collection.strip()


def folder_of(folder: Path, settings: Settings) -> Path:
    return folder if settings.tenant is None else folder.with_name(f"{folder.name}.{settings.tenant}")
