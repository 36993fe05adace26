"""Over HTTP: the API for programs, each person's own page, the operator's console. Of the extra `web`."""

try:
    import fastapi as _fastapi  # noqa: F401
    import jinja2 as _jinja2  # noqa: F401
except ImportError as error:
    raise ImportError("pip install 'phone-memory[web]'") from error
