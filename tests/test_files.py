"""Files are replaced as a whole or not at all."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from autotune.base.files import atomic_write, read_regular, write_text
from autotune.base.signals import handled


@pytest.mark.parametrize("before", [None, "old"])
def test_a_file_that_is_not_finished_leaves_what_was_there(tmp_path, before):
    path = tmp_path / "file.txt"
    if before:
        path.write_text(before)
    with pytest.raises(ZeroDivisionError), atomic_write(path) as written:
        written.write_text("half")
        raise ZeroDivisionError
    assert [file.read_text() for file in tmp_path.iterdir()] == ([before] if before else [])
    write_text(path, "new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["new"]


def test_a_file_may_be_read_by_whom_the_umask_lets(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "file.txt", "")
    assert (tmp_path / "file.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_text, args=(pipe, "text"))
    writer.start()
    assert pipe.read_text() == "text"
    writer.join()
    assert pipe.is_fifo()


def test_an_existing_file_keeps_its_mode(tmp_path):
    (tmp_path / "file").touch(mode=0o600)
    write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("before", [None, "old"])
def test_a_link_stays_and_what_it_names_is_written(tmp_path, before):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    link.symlink_to("folder/target")
    if before:
        target.write_text(before)
    write_text(link, "new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("no/file.txt", "there is no folder .*/no"), ("loop", "symbolic links"), ("a" * 300, "File name too long")],
)
def test_what_cannot_be_written_is_named_as_it_was_given(tmp_path, name, complaint):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=complaint) as caught:
        write_text(tmp_path / name, "")
    assert caught.value.filename == str(tmp_path / name)


def test_a_file_may_have_as_many_bytes_as_are_asked_for(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"four")
    assert read_regular(path, 4) == b"four"
    with pytest.raises(ValueError, match="has over 3 bytes"):
        read_regular(path, 3)


def ignored(*_signal):
    pass


def test_signals_are_handled_meanwhile_and_as_before_afterwards():
    before, seen = signal.getsignal(signal.SIGUSR1), []
    with handled(lambda number, _: seen.append(number), signal.SIGUSR1):
        signal.raise_signal(signal.SIGUSR1)
    assert seen == [signal.SIGUSR1]
    assert signal.getsignal(signal.SIGUSR1) == before


def test_outside_of_the_main_thread_nothing_is_handled():
    def handler():
        with handled(ignored, signal.SIGUSR1):
            return signal.getsignal(signal.SIGUSR1)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(handler).result() == signal.getsignal(signal.SIGUSR1)
