"""The cache is its owner's alone, its folders stay bounded, and what killed processes left goes."""

import errno
import fcntl
import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

from autotune.base import cache, locks, trusted_path
from autotune.base.cache import (
    UnsafeCacheError,
    cache_folder,
    checked_cache_folder,
    keep_newest,
    own_content,
    own_place,
    seal,
)
from autotune.base.files import atomic_write, sweep, write_text
from autotune.base.locks import lock


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    cache._warn.cache_clear()
    cache._sweep.cache_clear()
    return tmp_path / "cache"


def mode(path):
    return path.stat().st_mode & 0o7777


def seen_by_somebody_else(monkeypatch):
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)


# ---- folders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [None, 0o777, 0o775])
def test_folders_are_for_their_owner_alone(root, before):
    if before:
        (root / "emulator").mkdir(parents=True)
        for folder in (root, root / "emulator"):
            folder.chmod(before)
    assert cache_folder("emulator") == root / "emulator"
    assert (mode(root), mode(root / "emulator")) == (0o700, 0o700)


def test_a_folder_of_somebody_else_is_named_and_not_used(root, monkeypatch):
    (root / "emulator").mkdir(parents=True)
    seen_by_somebody_else(monkeypatch)
    monkeypatch.setattr(cache, "temporary_root", lambda: root / "temporary")
    monkeypatch.setattr(cache, "_made_private", lambda folder: private(folder) if root == folder else folder)
    with pytest.warns(RuntimeWarning, match=f"^{root}: it belongs to somebody else: .* a temporary cache serves"):
        assert cache_folder("emulator") == root / "temporary" / "emulator"


private = cache._made_private


def test_a_link_of_somebody_else_is_not_followed(root, monkeypatch):
    (root.parent / "mine").mkdir()
    root.symlink_to("mine")
    assert cache_folder("emulator") == root / "emulator"
    link, lstat = root.lstat(), Path.lstat
    foreign = os.stat_result([*link[:4], os.geteuid() + 1, *link[5:]])
    monkeypatch.setattr(Path, "lstat", lambda path: foreign if path == root else lstat(path))
    with pytest.raises(UnsafeCacheError, match="somebody else"):
        checked_cache_folder("emulator")


def test_a_folder_above_that_others_may_write_to_is_named(root):
    """They could exchange the whole cache while it is in use."""
    above = root.parent / "above"
    (above / "between").mkdir(parents=True)
    root.symlink_to(above / "between")
    checked_cache_folder("emulator")
    above.chmod(0o777)
    with pytest.raises(UnsafeCacheError, match="others may write to it") as caught:
        checked_cache_folder("emulator")
    assert caught.value.filename == str(above)
    above.chmod(0o1777)  # as /tmp is, where nobody moves what is not their own
    checked_cache_folder("emulator")


def test_a_folder_above_that_belongs_to_somebody_else_is_named(root, monkeypatch):
    lstat, above = Path.lstat, root.parent

    def foreign(path):
        status = lstat(path)
        return os.stat_result([*status[:4], os.geteuid() + 1, *status[5:]]) if path == above else status

    monkeypatch.setattr(Path, "lstat", foreign)
    with pytest.raises(UnsafeCacheError, match="somebody else") as caught:
        checked_cache_folder("emulator")
    assert caught.value.filename == str(above)


def test_a_group_of_its_own_user_alone_is_nobody_else(root, monkeypatch):
    """Many systems make one for each user, and a umask that lets it write."""
    root.parent.chmod(0o775)
    with pytest.raises(UnsafeCacheError, match="others may write"):
        monkeypatch.setattr(trusted_path, "_is_of_this_user_alone", lambda group: False)
        checked_cache_folder("emulator")
    monkeypatch.setattr(trusted_path, "_is_of_this_user_alone", lambda group: True)
    checked_cache_folder("emulator")


def test_a_folder_that_is_meant_for_all_stays_so_and_is_not_used(root):
    root.mkdir()
    root.chmod(0o1777)
    with pytest.raises(UnsafeCacheError, match="others may write to it"):
        checked_cache_folder("emulator")
    assert mode(root) == 0o1777


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_seal_is_of_the_cache_and_of_no_other(root, monkeypatch):
    own = seal(b"key", b"content")
    assert own == seal(b"key", b"content") != sha256(b"keycontent").digest()
    assert mode(root / "secret") == 0o600
    monkeypatch.setenv("AUTOTUNE_CACHE", str(root.parent / "other"))
    assert seal(b"key", b"content") != own


@pytest.mark.parametrize("planted", ["writable", "short", "link"])
def test_a_secret_that_others_could_know_is_replaced(root, planted):
    before, secret = seal(b"", b""), root / "secret"
    known = b"0" * (2 if planted == "short" else cache.SEAL_BYTES)
    secret.write_bytes(known)
    if planted == "writable":
        secret.chmod(0o666)
    if planted == "link":
        secret.replace(root / "elsewhere")
        secret.symlink_to("elsewhere")
    assert seal(b"", b"") not in (before, cache.hmac.digest(known, b"", "sha256"))
    assert (secret.is_symlink(), mode(secret), len(own_content(secret))) == (False, 0o600, cache.SEAL_BYTES)


def test_a_file_of_somebody_else_is_not_read(root, monkeypatch):
    file = cache_folder("emulator") / "file"
    file.write_bytes(b"code")
    file.chmod(0o600)
    assert own_content(file) == b"code"
    seen_by_somebody_else(monkeypatch)
    with pytest.raises(UnsafeCacheError, match="others could change it"):
        own_content(file)


@pytest.mark.parametrize("planted", ["link", "folder", "open to all"])
def test_a_lock_that_others_could_hold_is_replaced(root, planted):
    file, target = cache_folder("called") / "file.lock", root.parent / "target"
    target.write_text("precious")
    if planted == "link":
        file.symlink_to(target)
    elif planted == "folder":
        (file / "full").mkdir(parents=True)
    else:
        file.touch()
        file.chmod(0o644)
    with (target if planted != "open to all" else file).open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with lock(file):
            assert (file.is_symlink(), file.is_file(), mode(file)) == (False, True, 0o600)
    assert target.read_text() == "precious"


def test_a_lock_that_cannot_be_opened_stays(root, monkeypatch):
    """It may be another process': without it, two would work at once."""
    file = cache_folder("called") / "file.lock"

    def opened(*_):
        raise OSError(errno.EMFILE, "no descriptor is left", str(file))

    with lock(file), monkeypatch.context() as patch:
        patch.setattr(os, "open", opened)
        with pytest.raises(OSError, match="no descriptor is left"), lock(file):
            pass
        assert file.exists()


def test_waiting_for_a_lock_ends_and_says_so(root, monkeypatch):
    monkeypatch.setattr(locks, "_SECONDS", 0.0)
    file = cache_folder("called") / "file.lock"
    with lock(file), pytest.raises(TimeoutError, match="another process has locked it") as caught, lock(file):
        pass
    assert caught.value.filename == str(file)
    monkeypatch.setattr(locks, "_SECONDS", 60.0)
    with lock(file):
        pass


@pytest.mark.parametrize("planted", ["writable", "link", "folder", "pipe"])
def test_what_others_could_change_makes_way(root, planted):
    path = cache_folder("sources") / "kernel"
    if planted == "writable":
        path.write_text("foreign")
        path.chmod(0o664)
    elif planted == "link":
        path.symlink_to(root)
    elif planted == "pipe":
        os.mkfifo(path)
    else:
        (path / "full").mkdir(parents=True)
    with pytest.raises(UnsafeCacheError):
        own_content(path)
    write_text(own_place(path), "own")
    assert (own_content(path), mode(path) & 0o022) == (b"own", 0)
    assert list(path.parent.iterdir()) == [path]
    write_text(own_place(path), "newer")
    assert own_content(path) == b"newer"


# ---- the temporary cache --------------------------------------------------------------------------------------------

CHILD = """
import os, sys
from autotune.base.cache import cache_folder, temporary_cache
from autotune.base.worker import Worker
class There:
    def folder(self):
        return cache_folder("sources")
if __name__ == "__main__":
    worker = Worker(There)
    print(worker.call("folder"), cache_folder("sources"), sep="\\n")
    worker.end()
    if os.fork() == 0:
        sys.exit()
    os.wait()
    print(cache_folder("sources").parent.is_dir() and temporary_cache().is_dir())
"""


def test_one_temporary_cache_serves_a_process_and_its_own(root, tmp_path):
    root.mkdir()
    (tmp_path / "child.py").write_text(CHILD)
    root.chmod(0o1777)
    command = [sys.executable, "-W", "ignore", str(tmp_path / "child.py")]
    said = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    of_worker, of_process, still_there = said.stdout.split()
    assert of_worker == of_process != str(root / "sources")
    assert still_there == "True"
    assert list(tmp_path.glob("autotune-*")) == []


# ---- what goes -------------------------------------------------------------------------------------------------------


KILLED = """
import os, signal
from autotune.base.cache import cache_folder
from autotune.base.files import atomic_write
with atomic_write(cache_folder("emulator") / "kernel") as written:
    written.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_swept_and_what_another_is_writing_stays(root):
    folder = cache_folder("emulator")
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    (left,) = folder.iterdir()
    with atomic_write(folder / "other") as written:
        cache._sweep.cache_clear()
        cache_folder("emulator")
        assert not left.exists()
        written.write_text("whole")
    assert [path.name for path in folder.iterdir()] == ["other"]


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    made, mkdtemp = [], tempfile.mkdtemp

    def swept_once(**options):
        made.append(mkdtemp(**options))
        if len(made) == 1:
            sweep(tmp_path)
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept_once)
    write_text(tmp_path / "file", "whole")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["whole"]
    assert len(made) == 2


def made(folder, *names):
    """Entries, the first one the oldest."""
    for age, name in enumerate(names):
        path = folder / name
        path.write_text(name)
        os.utime(path, (age, age))


def test_the_oldest_go_and_a_tenth_more(tmp_path):
    made(tmp_path, *(f"{number:02}" for number in range(21)))
    keep_newest(tmp_path, 21)
    assert len(list(tmp_path.iterdir())) == 21
    keep_newest(tmp_path, 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number:02}" for number in range(3, 21)]


def test_what_cannot_be_deleted_stays(tmp_path, monkeypatch):
    def gone(path):
        raise FileNotFoundError

    made(tmp_path, "a", "b")
    monkeypatch.setattr(Path, "unlink", gone)
    keep_newest(tmp_path, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
