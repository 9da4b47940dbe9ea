"""The kernels that a file declares, for those who name the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autotune.base.errors import AutotuneError
from autotune.search_spaces.contract.operator import Operator

from .kernel import own_kernels
from .origin import run_file


class FileError(AutotuneError, RuntimeError):
    """A file of kernels that cannot be imported; the message is one line."""


def declared_in(path: str, name: str = "") -> Operator[Any, Any]:
    """The operator that a file declares, which is run; with a `name`, the one of that name.

    Raises:
        ValueError: it declares none, or several without a `name`.
        FileError: it raised an error.
        OSError: it cannot be read.
    """
    file = Path(path)
    try:
        run_file(file)
    except OSError:
        raise
    except SystemExit:
        raise FileError(f"{path} ends the process: expected what it runs under if __name__ == '__main__'") from None
    except Exception as error:
        raise FileError(f"{path}{_line(error, file)}: {type(error).__name__}: {error}") from error
    found = {one.operator.name: one.operator for one in own_kernels(file)}
    if not found:
        raise ValueError(f"{path} declares no kernel: expected a call of autotune.kernel")
    if not name and len(found) > 1:
        raise ValueError(f"{path} declares {', '.join(found)}: name one, as in {path}:{next(iter(found))}")
    if name and name not in found:
        raise ValueError(f"{path} declares no {name!r}; it declares {', '.join(found)}")
    return found[name] if name else next(iter(found.values()))


def _line(error: Exception, path: Path) -> str:
    """Where in the file it was raised, such as ``:12``."""
    line, trace = "", error.__traceback__
    while trace:
        if Path(trace.tb_frame.f_code.co_filename) == path.resolve():
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line
