"""Kernels of users that tests declare are gone after them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from autotune.own_kernels import kernel, origin
from autotune.search_spaces.contract.registry import DECLARED, OPERATORS


@contextmanager
def registry_as_before() -> Iterator[None]:
    """Forget what is declared inside, and the files that were imported for it."""
    before, path, own = {*OPERATORS}, [*sys.path], dict(kernel._own)
    try:
        yield
    finally:
        for name in {*OPERATORS} - before:
            del OPERATORS[name]
            DECLARED.pop(name, None)
        for name in [name for name in sys.modules if name.startswith(origin._PREFIX)]:
            del sys.modules[name]
        sys.path[:] = path
        kernel._own.clear()
        kernel._own.update(own)
