"""Kernels of files, which the registry forgets after each test."""

from pathlib import Path

import pytest
from registry_as_before import registry_as_before

EXAMPLES = Path(__file__).parents[2] / "examples" / "own_kernels"


@pytest.fixture(autouse=True)
def forgotten():
    """What a test declares is gone after it."""
    with registry_as_before():
        yield


@pytest.fixture
def written(tmp_path):
    """``written(text, name)`` writes a file of Python, the vector addition with other words."""

    def write(name="mine.py", **changes):
        text = (EXAMPLES / "vector_add.py").read_text()
        for old, new in changes.values():
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write
