"""The cache is its owner's alone, its folders stay bounded, and what killed processes left goes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from autotune.base import cache
from autotune.base.cache import (
    UnsafeCacheError,
    cache_folder,
    checked_cache_folder,
    keep_newest,
    lock,
    own_content,
    seal,
)
from autotune.base.files import atomic_write, sweep, write_text


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    cache._warn.cache_clear()
    cache._sweep.cache_clear()
    return tmp_path / "cache"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def seen_by_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)


# ---- folders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [None, 0o777, 0o775])
def test_folders_are_for_their_owner_alone(root: Path, before: int | None) -> None:
    if before:
        (root / "emulator").mkdir(parents=True)
        for folder in (root, root / "emulator"):
            folder.chmod(before)
    assert cache_folder("emulator") == root / "emulator"
    assert (mode(root), mode(root / "emulator")) == (0o700, 0o700)


def test_a_folder_of_somebody_else_is_named_and_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "emulator").mkdir(parents=True)
    seen_by_somebody_else(monkeypatch)
    monkeypatch.setattr(cache, "_temporary_root", lambda: root / "temporary")
    monkeypatch.setattr(cache, "_made_private", lambda folder: private(folder) if root == folder else folder)
    with pytest.warns(RuntimeWarning, match=f"^{root}: it belongs to somebody else: .* a temporary cache serves"):
        assert cache_folder("emulator") == root / "temporary" / "emulator"


private = cache._made_private


def test_a_link_of_somebody_else_is_not_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root.parent / "mine").mkdir()
    root.symlink_to("mine")
    assert cache_folder("emulator") == root / "emulator"
    link, lstat = root.lstat(), Path.lstat
    foreign = os.stat_result([*link[:4], os.geteuid() + 1, *link[5:]])
    monkeypatch.setattr(Path, "lstat", lambda path: foreign if path == root else lstat(path))
    with pytest.raises(UnsafeCacheError, match="somebody else"):
        checked_cache_folder("emulator")


def test_a_folder_that_is_meant_for_all_stays_so_and_is_not_used(root: Path) -> None:
    root.mkdir()
    root.chmod(0o1777)
    with pytest.raises(UnsafeCacheError, match="others may write to it"):
        checked_cache_folder("emulator")
    assert mode(root) == 0o1777


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_seal_is_of_the_cache_and_of_no_other(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = seal(b"key", b"content")
    assert own == seal(b"key", b"content") != sha256(b"keycontent").digest()
    assert mode(root / "secret") == 0o600
    monkeypatch.setenv("AUTOTUNE_CACHE", str(root.parent / "other"))
    assert seal(b"key", b"content") != own


@pytest.mark.parametrize("planted", ["writable", "short", "link"])
def test_a_secret_that_others_could_know_is_replaced(root: Path, planted: str) -> None:
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


def test_a_file_of_somebody_else_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cache_folder("emulator") / "file"
    file.write_bytes(b"code")
    file.chmod(0o600)
    assert own_content(file) == b"code"
    seen_by_somebody_else(monkeypatch)
    with pytest.raises(UnsafeCacheError, match="others could change it"):
        own_content(file)


def test_a_lock_is_no_link(root: Path) -> None:
    folder, target = cache_folder("untuned"), root.parent / "target"
    target.write_text("precious")
    (folder / "file.lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"), lock(folder / "file.lock"):
        pass
    assert target.read_text() == "precious"


# ---- what goes -------------------------------------------------------------------------------------------------------


KILLED = """
import os, signal
from autotune.base.cache import cache_folder
from autotune.base.files import atomic_write
with atomic_write(cache_folder("emulator") / "kernel") as written:
    written.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_swept_and_what_another_is_writing_stays(root: Path) -> None:
    folder = cache_folder("emulator")
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    (left,) = folder.iterdir()
    with atomic_write(folder / "other") as written:
        cache._sweep.cache_clear()
        cache_folder("emulator")
        assert not left.exists()
        written.write_text("whole")
    assert [path.name for path in folder.iterdir()] == ["other"]


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, mkdtemp = [], tempfile.mkdtemp

    def swept_once(**options: Any) -> str:
        made.append(mkdtemp(**options))
        if len(made) == 1:
            sweep(tmp_path)
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept_once)
    write_text(tmp_path / "file", "whole")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["whole"]
    assert len(made) == 2


def made(folder: Path, *names: str) -> None:
    """Entries, the first one the oldest."""
    for age, name in enumerate(names):
        path = folder / name
        path.write_text(name)
        os.utime(path, (age, age))


def test_the_oldest_go_and_a_tenth_more(tmp_path: Path) -> None:
    made(tmp_path, *(f"{number:02}" for number in range(21)))
    keep_newest(tmp_path, 21)
    assert len(list(tmp_path.iterdir())) == 21
    keep_newest(tmp_path, 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number:02}" for number in range(3, 21)]


def test_what_cannot_be_deleted_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path) -> None:
        raise FileNotFoundError

    made(tmp_path, "a", "b")
    monkeypatch.setattr(Path, "unlink", gone)
    keep_newest(tmp_path, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
