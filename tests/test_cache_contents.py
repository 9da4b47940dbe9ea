"""What is in the cache is counted by kind, and only what autotune wrote there is removed."""

import ast
import os
import re
from pathlib import Path

import pytest

import autotune
from autotune.base.cache import UnsafeCacheError, cache_folder, seal
from autotune.base.cache_contents import KINDS, Content, clear, contents

NAMES = {
    "called": "called.json",
    "cubins": f"entries/ab/{'0' * 62}",
    "emulator": "0123456789abcdef" * 2,
    "first-calls": "first-calls.json",
    "failures": "sgemm-0123456789abcdef-01234567.json",
    "records": f"{'0123456789abcdef' * 2}.json",
    "sources": "sgemm-0123456789abcdef.cu",
    "verdicts": "verdicts.json",
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def written(kind, name="", content="12345"):
    """A file of the cache, which was used long ago."""
    path = cache_folder(kind) / (name or NAMES[kind])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, (0, 0))
    return path


def test_every_folder_of_the_cache_has_its_kind():
    package = Path(autotune.__file__).parent
    calls = [
        node.args[0].value
        for path in [*package.rglob("*.py"), *(package / "db").rglob("*.py")]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cache_folder"
        if isinstance(node.args[0], ast.Constant)
    ]
    assert set(calls) == set(KINDS) == set(NAMES)


@pytest.mark.parametrize("kind", KINDS)
def test_what_autotune_wrote_is_counted_and_goes(root, kind):
    path = written(kind)
    sealed = seal(b"", b"")
    assert contents() == [Content(kind, 1, 5, 0)]
    assert clear() == [Content(kind, 1, 5, 0)]
    assert not path.exists()
    assert contents() == [Content(kind, 0, 0, 0)]
    assert seal(b"", b"") == sealed


def test_what_others_work_with_stays(root):
    paths = [written("called", "called.lock"), written("sources", ".x.1/x.cu"), written("cubins", "tmp/entry-1")]
    running = written("emulator")
    os.utime(running)
    assert all(one.files == one.foreign == 0 for one in clear())
    assert all(path.exists() for path in [*paths, running])


def test_what_is_foreign_stays(root):
    (root.parent / "precious").mkdir()
    precious = root.parent / "precious" / NAMES["records"]
    precious.write_text("precious")
    own, mine = written("sources"), written("sources", "notes.txt")
    own.with_name("folder").symlink_to(precious.parent)
    (root / "records").symlink_to(precious.parent)
    assert [(one.kind, one.files, one.foreign) for one in clear()] == [("records", 0, 1), ("sources", 1, 2)]
    assert precious.exists()
    assert mine.exists()
    assert not own.exists()


def test_what_has_the_name_of_a_cached_file_goes(root, monkeypatch):
    precious, folder = root.parent / "precious", cache_folder("emulator")
    precious.write_text("precious")
    names = ["0" * 32, "1" * 32, "2" * 32]
    (folder / names[0]).symlink_to(precious)
    (folder / names[1] / "full").mkdir(parents=True)
    os.utime(folder / names[1], (0, 0))
    os.utime(folder / names[0], (0, 0), follow_symlinks=False)
    of_the_future = written("emulator", names[2])
    os.utime(of_the_future, (2**33, 2**33))
    (found,) = clear()
    assert (found.files, found.foreign, list(folder.iterdir()), precious.read_text()) == (3, 0, [], "precious")


def test_a_cache_of_somebody_else_is_refused(root, monkeypatch):
    written("sources")
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(UnsafeCacheError, match=re.escape(str(root))):
        clear()


def test_a_cache_that_was_never_used_is_not_made(root):
    assert (contents(), clear()) == ([], [])
    assert not root.exists()
