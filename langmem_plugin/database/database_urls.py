"""Read what names a database: a URL, a path, PostgreSQL's own `host=… dbname=…`."""

import re
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from langmem_plugin.errors import ConfigurationError, InvalidInput

_HOW = "give sqlite:///path/to/file.db, postgresql://user@host/name, or the path of a SQLite file (./name for any name)"
_URL = re.compile(r"([a-z][a-z0-9]{0,20}+)(?:\+[a-z0-9_]{1,20}+)?://", re.IGNORECASE)
_EVIDENT_PATH = re.compile(r"(?:\.{1,2})?/(?!/)|[a-z]:\\", re.IGNORECASE)
_KEYWORD = re.compile(
    r"(?:^|\s)(?:host(?:addr)?|port|dbname|user|\w{0,20}pas{1,2}w\w{0,20}|passfile|pwd|service|options|ssl\w{1,20}|gss\w{1,20}|require\w{1,20}"
    r"|krbsrvname|application_name|connect_timeout|client_encoding|target_session_attrs|channel_binding)\s{0,9}="
)
# `scheme:rest` and `user:password@host` are URLs that somebody mistyped, and may hold a password.
_MISTYPED = re.compile(r"\w[\w+.-]{1,40}+:|//")
_PARAMETER = re.compile(r"\?\w+=")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,56}")
_SECRETS = ("password", "sslpassword", "options")


def database_url(named: str | Path) -> URL:
    """Return the URL without its driver's name. Raises ConfigurationError, which shows nothing of it, for what is no
    URL.

    Everything behind `sqlite:///` is the file's name as it is, whatever characters it holds.
    """
    if isinstance(named, Path):
        return URL.create("sqlite", database=str(named))
    if not isinstance(named, str):
        raise InvalidInput(f"a database of {type(named).__name__}: give a URL, the Path of a SQLite file or a Database")
    if found := _URL.match(named):
        return _of_scheme(found[1].lower(), named, found.end())
    if named == ":memory:":
        return URL.create("sqlite")
    if _EVIDENT_PATH.match(named):
        return URL.create("sqlite", database=named)
    if _KEYWORD.search(named):
        return _of_keywords(named)
    is_mistyped = _MISTYPED.match(named) or "@" in named.partition(":")[2] or min(named, default=" ") < " "
    if not named.strip() or is_mistyped:
        raise ConfigurationError(f"this names no database: {_HOW}")
    return URL.create("sqlite", database=named)


def database_and_schema(named: str | Path) -> tuple[URL, str | None]:
    """Return the URL, and the schema of PostgreSQL that it names by `?schema=`. Raises as `database_url`."""
    url = database_url(named)
    schema = url.query.get("schema")
    if schema is None or url.get_backend_name() == "sqlite":
        return url, None
    if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
        raise ConfigurationError("?schema= in the database URL takes a name of small letters, digits and _")
    return url.difference_update_query(["schema"]), schema


def shown(url: URL) -> str:
    """Return the URL without its password."""
    return url.difference_update_query(_SECRETS).render_as_string(hide_password=True)


def _of_scheme(scheme: str, named: str, end: int) -> URL:
    match scheme:
        case "sqlite":
            return _of_file(named[end:])
        case "postgresql" | "postgres":
            try:
                return _checked(make_url(f"postgresql://{named[end:]}"))
            except (ArgumentError, ValueError):
                # It may hold a password: neither it nor the error that quotes it is shown.
                raise ConfigurationError(f"this is no database URL: {_HOW}") from None
    raise ConfigurationError(f"{scheme!r} is not supported: {_HOW}")


def _of_file(rest: str) -> URL:
    if rest in {"", "/", "/:memory:"}:
        return URL.create("sqlite")
    if not rest.startswith("/"):
        raise ConfigurationError("a SQLite URL has three slashes, and four before an absolute path: sqlite:///file.db")
    if _PARAMETER.search(rest):
        raise ConfigurationError("a SQLite URL takes no parameters: leave out the ? and what follows it")
    return URL.create("sqlite", database=rest[1:])


def _of_keywords(named: str) -> URL:
    try:
        import psycopg  # noqa: PLC0415 - of the extra `postgres`
    except ImportError as error:
        raise ImportError("PostgreSQL needs more: pip install 'phone-memory[postgres]'") from error
    try:
        found = {key: str(value) for key, value in psycopg.conninfo.conninfo_to_dict(named).items()}
    except psycopg.ProgrammingError:
        raise ConfigurationError(
            "this looks like PostgreSQL's host=… dbname=… and cannot be read: put values with spaces in quotes, and"
            " name a SQLite file of this name ./name"
        ) from None
    return _checked(URL.create("postgresql", database=found.pop("dbname", None), query=found))


def _checked(url: URL) -> URL:
    if "@" in (url.host or ""):
        raise ConfigurationError("the password in the database URL holds an @: write %40 for it")
    # Moved to where both are hidden when the URL is shown.
    user, password = url.query.get("user", url.username), url.query.get("password", url.password)
    return url.difference_update_query(["user", "password"]).set(
        username=user if user is None else str(user), password=password if password is None else str(password)
    )
