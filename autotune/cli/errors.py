"""What went wrong as one line, and as an exit code that scripts can trust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer import TyperException

from autotune.base.errors import AutotuneError, InputError

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT


class CommandError(AutotuneError, TyperException):
    """A command that cannot go on; the message is one line for people."""

    exit_code = FAILED


class BadInputError(CommandError):
    """Something that the user typed; the message says what is allowed."""

    exit_code = BAD_INPUT


class InterruptedRunError(CommandError):
    """A run that Ctrl-C or SIGTERM ended."""

    exit_code = INTERRUPTED


@contextmanager
def user_input() -> Iterator[None]:
    """What happens inside depends on what the user typed: a ``ValueError`` becomes a `BadInputError`.

    So does a file that cannot be read.
    """
    try:
        yield
    except ValueError as error:
        raise BadInputError(str(error)) from error
    except OSError as error:
        raise BadInputError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def exit_code(error: Exception) -> int:
    """1, or what the error has for itself, such as 2 for bad input."""
    if isinstance(error, TyperException):
        return error.exit_code
    return BAD_INPUT if isinstance(error, InputError) else FAILED


def one_line(error: Exception) -> str:
    """The error as people read it; an unexpected one comes with its type."""
    if isinstance(error, TyperException):
        text = " ".join(error.format_message().split())
        command = getattr(getattr(error, "ctx", None), "command_path", None)
        return f"{_with_value(error, text.rstrip('.'))} (see {command} --help)" if command else text
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = " ".join(str(error).split())
    return (
        text
        if isinstance(error, (AutotuneError, OSError))
        else f"{type(error).__name__}: {text} (AUTOTUNE_DEBUG=1 shows where)"
    )


def _with_value(error: TyperException, text: str) -> str:
    """What pydantic, by which typer reads options, says of a value, with that value."""
    wrong = getattr(error.__cause__, "errors", list[Any])()
    value = repr(wrong[0].get("input")) if wrong else ""
    return text.replace("Value error, ", "") + f": {value}" * (value not in text)
