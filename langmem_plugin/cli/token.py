"""`langmem token`: who may reach one person's memory from outside, until when, and no longer."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from langmem_plugin.cli.opening import Config, Url, chosen, refuse_missing
from langmem_plugin.database.opening import open_database
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.identifiers import masked
from langmem_plugin.people.access_tokens import LONGEST, VALID_FOR, Access, AccessTokens
from langmem_plugin.terminal import visible

app = typer.Typer(no_args_is_help=True, help="Access tokens: each opens one person's memory, or everybody's.")


@app.command("new")
def new_token(
    phone: Annotated[str | None, typer.Argument(help="whose memory it opens: a phone or any other identifier")] = None,
    operator: Annotated[bool, typer.Option("--operator", help="it opens everybody's: the API and the console")] = False,
    days: Annotated[int, typer.Option(min=1, max=LONGEST.days, help="for how long")] = VALID_FOR.days,
    database: Url = None,
    config: Config = None,
) -> None:
    """Make a token and print it, this once: only a digest of it is stored."""
    if operator == (phone is not None):
        raise InvalidInput("give the phone whose memory the token opens, or --operator for everybody's")
    with _tokens(database, config) as tokens:
        valid_for = timedelta(days=days)
        token, access = tokens.new_operator(valid_for) if phone is None else tokens.new(phone, valid_for)
    typer.echo(token)
    typer.echo(visible(f"{access.token_id}, for {_whose(access)}, until {access.expires_at:%Y-%m-%d}"), err=True)


@app.command("list")
def list_tokens(
    phone: Annotated[str | None, typer.Argument(help="only this person's")] = None,
    database: Url = None,
    config: Config = None,
) -> None:
    """Tokens that are valid, without their secrets."""
    table = Table("token", "kind", "whose", "made", "until")
    with _tokens(database, config) as tokens:
        for each in tokens.listed(phone):
            days = f"{each.created_at:%Y-%m-%d}", f"{each.expires_at:%Y-%m-%d}"
            table.add_row(each.token_id, each.kind, visible(_whose(each)), *days)
    Console().print(table)


@app.command("revoke")
def revoke_token(
    token_id: Annotated[str, typer.Argument(help="as `langmem token list` shows it")],
    database: Url = None,
    config: Config = None,
) -> None:
    """Take a token back: from now on it opens nothing, in any process."""
    with _tokens(database, config) as tokens:
        tokens.revoke(token_id)
    typer.echo(visible(f"{token_id} opens nothing any more"))


def _whose(access: Access) -> str:
    return masked(access.identifier) if access.identifier else "everybody"


@contextmanager
def _tokens(url: str | None, config: Path | None) -> Iterator[AccessTokens]:
    settings = chosen(config)
    if not settings.enable_memory_system:
        raise ConfigurationError("the memory is switched off: there is nothing that a token could open")
    refuse_missing(settings, url)
    with open_database(settings, url) as database:
        yield AccessTokens(database, region=settings.default_region)
