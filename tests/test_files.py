"""Files are replaced as a whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from autotune.files import atomic_write, write_text


@pytest.mark.parametrize("before", [None, "old"])
def test_a_file_that_is_not_finished_leaves_what_was_there(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "file.txt"
    if before:
        path.write_text(before)
    with pytest.raises(ZeroDivisionError), atomic_write(path) as written:
        written.write_text("half")
        raise ZeroDivisionError
    assert [file.read_text() for file in tmp_path.iterdir()] == ([before] if before else [])
    write_text(path, "new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["new"]


def test_a_file_may_be_read_by_whom_the_umask_lets(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "file.txt", "")
    assert (tmp_path / "file.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_text, args=(pipe, "text"))
    writer.start()
    assert pipe.read_text() == "text"
    writer.join()
    assert pipe.is_fifo()
