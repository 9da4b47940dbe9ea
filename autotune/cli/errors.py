"""What went wrong as one line, and as an exit code that scripts can trust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from typer import TyperException

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT


class CommandError(TyperException):
    """A command that cannot go on; the message is one line for people."""

    exit_code = FAILED


class BadInputError(CommandError):
    """Something that the user typed; the message says what is allowed."""

    exit_code = BAD_INPUT


class InterruptedTuningError(CommandError):
    """A run that Ctrl-C or SIGTERM ended."""

    exit_code = INTERRUPTED


@contextmanager
def user_input() -> Iterator[None]:
    """What happens inside depends on what the user typed: a ``ValueError`` becomes a `BadInputError`."""
    try:
        yield
    except ValueError as error:
        raise BadInputError(str(error)) from error


def exit_code(error: Exception) -> int:
    """1, or what the error has for itself, such as 2 for bad input."""
    return error.exit_code if isinstance(error, TyperException) else FAILED


def one_line(error: Exception) -> str:
    """The error as people read it; one that nobody foresaw comes with its type."""
    from ..compiler import CompilerMissingError
    from ..db import DatabaseError
    from ..devices.base import DeviceError

    text = error.format_message() if isinstance(error, TyperException) else str(error)
    text = " ".join(text.split())
    command = getattr(getattr(error, "ctx", None), "command_path", None)
    if command:
        return f"{text.rstrip('.')} (see {command} --help)"
    if isinstance(error, (TyperException, DeviceError, DatabaseError, CompilerMissingError, OSError)):
        return text
    return f"{type(error).__name__}: {text} (AUTOTUNE_DEBUG=1 shows where)"
