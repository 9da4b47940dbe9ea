"""Where a kernel is declared, so that other processes find it: a file that is imported there, too."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

_MAIN = ("__main__", "__mp_main__")  # in a process that a script started, and in those that this one starts
_PREFIX = "autotune_own_kernels_of_"


@dataclass(frozen=True)
class Origin:
    """The file that declares kernels.

    Attributes:
        path: of the file; empty where there is none, as in an interactive session.
        module: by which other processes import it; empty for a script.
    """

    path: str
    module: str

    @classmethod
    def of(cls, namespace: Mapping[str, Any]) -> Origin:
        """That of a module, by its globals."""
        name, path = namespace.get("__name__", ""), namespace.get("__file__")
        own = "" if name in _MAIN or name.startswith(_PREFIX) else name
        return cls(str(Path(path).resolve()) if path else "", own)

    @property
    def folder(self) -> Path:
        """What paths of sources are relative to."""
        return Path(self.path).parent if self.path else Path.cwd()

    def load(self) -> None:
        """Have the file imported, as a user of this machine asked for who runs its kernels.

        Raises:
            ValueError: there is none.
            OSError: it cannot be read.
        """
        if not self.path:
            raise ValueError("the kernel is declared in no file: processes that measure it import the file")
        if self.module and (spec := find_spec(self.module)) and spec.origin and Path(spec.origin).samefile(self.path):
            import_module(self.module)
        else:
            run_file(Path(self.path))


def run_file(path: Path) -> None:
    """Import a file, once in a process; what it imports itself may lie beside it, as with ``python FILE``.

    Raises:
        OSError: it cannot be read.
    """
    path = path.resolve(strict=True)
    name = f"{_PREFIX}{path}"
    if name in sys.modules:
        return
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: expected a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
