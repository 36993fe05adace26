"""The `langmem` command: each action is one call to a verb of the package."""

from importlib import metadata
from typing import Annotated

try:
    import rich  # noqa: F401
    import typer
except ImportError as error:
    raise ImportError("the langmem command needs more: pip install 'langmem-plugin[cli]'") from error

from langmem_plugin.cli import (
    aliases,
    analytics,
    backup,
    bench,
    care,
    configuration,
    index,
    instructions,
    keys,
    mcp,
    memories,
    migrate,
    people,
    portability,
    privacy,
    recall,
    serve,
    sessions,
    talk,
    token,
    trying_out,
    worker,
)
from langmem_plugin.cli.plain_errors import PlainErrors


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"langmem {metadata.version('langmem-plugin')}")
        raise typer.Exit


app = typer.Typer(
    cls=PlainErrors,
    no_args_is_help=True,
    help="Memory for LangGraph agents that people text.",
    pretty_exceptions_enable=False,
)
app.add_typer(sessions.app, name="sessions")
app.add_typer(migrate.app, name="migrate")
app.add_typer(keys.app, name="keys")
app.add_typer(memories.app, name="memories")
app.add_typer(instructions.app, name="instructions")
app.add_typer(aliases.app, name="aliases")
app.add_typer(people.app, name="people")
app.add_typer(configuration.app, name="config")
app.command()(recall.recall)
app.command()(backup.backup)
app.command()(analytics.analytics)
app.command()(trying_out.chat)
app.command()(trying_out.demo)
app.command()(bench.bench)
app.add_typer(privacy.audit_app, name="audit")
app.command()(privacy.erase)
app.command()(privacy.restore)
app.add_typer(token.app, name="token")
app.command()(care.expire)
app.command()(care.sweep)
app.command()(care.doctor)
app.command()(talk.resolve)
app.command()(talk.say)
app.command("export")(portability.export_person)
app.command("import")(portability.import_person)
app.command()(index.reindex)
app.command()(index.reembed)
app.command()(worker.worker)
app.command()(mcp.mcp)
app.command()(serve.serve)


@app.callback()
def langmem(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="print it, and end")
    ] = False,
) -> None:
    """Memory for LangGraph agents that people text."""
