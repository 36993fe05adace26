"""The places of a tenant's data: a database or a schema, a folder of pictures and a vector index of its own."""

from pathlib import Path

from langmem_plugin.database.database_urls import database_and_schema
from langmem_plugin.settings import Settings

_DEFAULT_SCHEMA = "langmem"


def database_of(settings: Settings, url: str | Path | None = None) -> tuple[str | Path, str | None]:
    """Return the URL, which is the settings' unless one is given, with the schema, if any; a tenant has its own file or
    schema.

    Raises ConfigurationError for what names no database.
    """
    whole, tenant = settings.database if url is None else url, settings.tenant
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
    """Return the setting; a tenant has a folder of its own, beside the one that is named."""
    return folder_of(settings.media, settings) if isinstance(settings.media, Path) else settings.media


def vector_index_of(settings: Settings) -> tuple[str | None, str]:
    """Return the vector index of the settings, and the name of the account owner's collection in it, or "".

    A tenant has a folder of its own. pgvector's tables lie in a schema beside the tenant's, and so are apart already.
    """
    index, _, collection = (settings.vector_index or "").partition("#")
    kind, colon, folder = index.partition(":")
    if settings.tenant is not None and kind == "chroma" and folder:
        index = f"{kind}{colon}{folder_of(Path(folder), settings)}"
    return index or None, collection.strip()


def folder_of(folder: Path, settings: Settings) -> Path:
    return folder if settings.tenant is None else folder.with_name(f"{folder.name}.{settings.tenant}")
