"""What ``import autotune`` offers, and what it costs."""

import re
import subprocess
import sys
from importlib import import_module, metadata
from importlib.metadata import version
from pathlib import Path
from unittest.mock import Mock

import pytest

import autotune
from autotune.base.errors import AutotuneError


def test_import_autotune_brings_in_the_standard_library_only():
    code = "import sys; before = set(sys.modules); import autotune; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    foreign = {name.partition(".")[0] for name in done.stdout.split()} - sys.stdlib_module_names
    assert foreign == {"autotune"}


@pytest.mark.parametrize("package", ["autotune", "autotune.dispatcher", "autotune.db"])
def test_all_public_names_are_there(package):
    module = import_module(package)
    assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_the_version_is_that_of_the_package():
    assert autotune.__version__ == version("autotune")


def test_a_checkout_on_the_path_has_no_version(monkeypatch):
    monkeypatch.setattr(metadata, "distribution", Mock(side_effect=metadata.PackageNotFoundError))
    assert autotune.__version__ == "unknown"


def test_python_m_autotune_is_the_command():
    done = subprocess.run([sys.executable, "-m", "autotune", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"autotune {autotune.__version__}\n"


PACKAGE = Path(autotune.__file__).parent

SOURCES = sorted(
    path
    for folder in (PACKAGE, *(link for link in PACKAGE.iterdir() if link.is_symlink()))
    for path in folder.rglob("*.py")
)

ERRORS = [
    (".".join(path.relative_to(PACKAGE).with_suffix("").parts), name)
    for path in SOURCES
    for name in re.findall(r"^ *class (\w+Error)\b", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize(("module", "name"), ERRORS)
def test_errors_have_one_root(module, name):
    assert issubclass(getattr(import_module(f"autotune.{module}"), name), AutotuneError)
