"""The HTTP part, of the extra `web`: the API for programs, each person's own page, the operator's console."""

try:
    import fastapi as _fastapi  # noqa: F401
    import jinja2 as _jinja2  # noqa: F401
except ImportError as error:
    raise ImportError("pip install 'phone-memory[web]'") from error
