"""Runs a test for each row of a table as one item: all rows that fail are named."""

import functools
import inspect

import pytest


def each(names, rows):
    """In place of `pytest.mark.parametrize`, for tests of pure functions: fixtures are shared by all rows."""
    given_names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(rows)

    def decorate(test):
        @functools.wraps(test)
        def all_rows(**fixtures):
            failures = []
            for row in table:
                values = row if len(given_names) > 1 else (row,)
                try:
                    test(**fixtures, **dict(zip(given_names, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever a row raises
                    error.add_note(f"with {given_names} = {values!r}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)

        signature = inspect.signature(test)
        kept = [each for name, each in signature.parameters.items() if name not in given_names]
        all_rows.__signature__ = signature.replace(parameters=kept)
        return all_rows

    return decorate
