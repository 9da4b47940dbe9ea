"""The root of all errors that autotune raises for a reason of its own."""

from __future__ import annotations


class AutotuneError(Exception):
    """Something that autotune cannot do; the message is one line that says why.

    A wrong argument is a ``ValueError`` or a ``TypeError``, and a file that cannot be read an ``OSError``.
    """


class InputError(AutotuneError):
    """Something that the caller named and that cannot be used, such as a file that is no database."""
