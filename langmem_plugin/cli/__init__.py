"""The `langmem` command: each action is one call to a verb of the package."""

try:
    import rich  # noqa: F401
    import typer
except ImportError as error:
    raise ImportError("the langmem command needs more: pip install 'langmem-plugin[cli]'") from error

from langmem_plugin.cli import care, index, keys, migrate, portability, privacy, sessions, talk, worker
from langmem_plugin.cli.plain_errors import PlainErrors

app = typer.Typer(
    cls=PlainErrors,
    no_args_is_help=True,
    help="Memory for LangGraph agents that people text.",
    pretty_exceptions_enable=False,
)
app.add_typer(sessions.app, name="sessions")
app.add_typer(migrate.app, name="migrate")
app.add_typer(keys.app, name="keys")
app.add_typer(privacy.audit_app, name="audit")
app.command()(privacy.erase)
app.command()(privacy.restore)
app.command()(care.expire)
app.command()(care.sweep)
app.command("check-config")(care.check_config)
app.command()(care.doctor)
app.command()(talk.resolve)
app.command()(talk.say)
app.command("export")(portability.export_person)
app.command("import")(portability.import_person)
app.command()(index.reindex)
app.command()(worker.worker)
