"""The cache's folders stay bounded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autotune.cache import keep_newest


def made(folder: Path, *names: str) -> None:
    """Entries, the first one the oldest; one whose name ends in a slash is a folder with a file in it."""
    for age, name in enumerate(names):
        path = folder / name
        if name.endswith("/"):
            path.mkdir()
            (path / "half").write_text("")
        else:
            path.write_text(name)
        os.utime(path, (age, age))


def test_the_oldest_go_and_a_tenth_more(tmp_path: Path) -> None:
    made(tmp_path, "killed/", *(f"{number:02}" for number in range(21)))
    keep_newest(tmp_path, 22)
    assert len(list(tmp_path.iterdir())) == 22
    keep_newest(tmp_path, 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number:02}" for number in range(3, 21)]


def test_what_cannot_be_deleted_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path) -> None:
        raise FileNotFoundError

    made(tmp_path, "a", "b")
    monkeypatch.setattr(Path, "unlink", gone)
    keep_newest(tmp_path, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
