"""Every command and every snippet of the docs runs as it is written there, unless it needs a GPU or a server."""

import doctest
import re
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, blocks
from documented_folder import DATABASE, RUN, SHIPPED, fill
from documented_names import names
from registry_as_before import registry_as_before

from autotune.bench.search import searchers
from autotune.cli.app import run
from autotune.db import run_record

NEEDS_GPU = re.compile(r"--device (\d|all\b)|\bbench torch\b")
NEEDS_SERVER = re.compile(r"postgresql|\bHOST\b")
# .ci/run runs the first line of them; the second needs the user's shell, a network, a browser or the driver.
OTHER_TOOLS = {"make", "mypy", "pytest", "python", "ruff", "git", ".ci/run"} | {
    *("source", "pip", "cd", "g++", "optuna-dashboard")
}
# The same work, less of it: for how many sizes an export asks Python, and with how many seeds searches are compared.
LESS = {("export",): ("--sizes", "200"), ("bench", "search"): ("--seeds", "2")}


def commands(page):
    """Where each command is, and its line, continued lines joined; without blocks that need a server."""
    return [
        (str(block), line)
        for block in blocks(page)
        if block.language == "sh" and not NEEDS_SERVER.search(block.code)
        for line in block.code.replace("\\\n", "").splitlines()
        if line.strip()
    ]


def runnable():
    """Where the commands of each page are that run anywhere, and their words; each command once."""
    found = {}
    for page in PAGES:
        for place, line in commands(page):
            if line.startswith("autotune ") and not NEEDS_GPU.search(line):
                found.setdefault(tuple(shlex.split(line, comments=True)), (page, place))
    return {
        page: [(place, list(words)) for words, (own, place) in found.items() if own == page]
        for page, _ in found.values()
    }


RUNNABLE = runnable()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What commands find, with a run of two trials under the id that the docs show."""
    folder = tmp_path_factory.mktemp("docs")
    fill(folder)
    with pytest.MonkeyPatch.context() as patch:
        enter(folder, patch)
        patch.setattr(run_record, "uuid4", lambda: type("Id", (), {"hex": RUN}))
        assert run(["tune", "transpose", "--device", "h200", "--m", "64", "--n", "64", "--trials", "2"]) == 0
        assert run(["runs", "export", RUN, "--optuna", "run.journal"]) == 0
    shutil.copy(folder / DATABASE, folder / "new.sqlite3")
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of what commands find, which is the current folder."""
    copy = tmp_path / "docs"
    shutil.copytree(made, copy)
    (tmp_path / "main").symlink_to(ROOT)  # a checkout beside it
    enter(copy, monkeypatch)
    monkeypatch.setattr(searchers, "find_spec", lambda name: None)  # recordings are too small for Kernel Tuner
    for name in ("compare", "compare_spaces"):  # processes would import all anew for some milliseconds of work
        module = import_module(f"autotune.bench.search.{name}")
        monkeypatch.setattr(module, "ProcessPoolExecutor", lambda mp_context: ThreadPoolExecutor(1))
    with registry_as_before():
        yield copy


def enter(folder, patch):
    patch.chdir(folder)
    patch.setenv("HOME", str(folder))
    patch.setenv("AUTOTUNE_DB", str(folder / DATABASE))
    patch.setenv("AUTOTUNE_PRETUNED", str(folder / SHIPPED))


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.name)
@pytest.mark.usefixtures("folder")
def test_commands_run_as_written(page, capsys):
    for place, words in RUNNABLE[page]:
        arguments = words[1 : words.index(">")] if ">" in words else words[1:]
        less = [option for start, options in LESS.items() if words[1:][: len(start)] == [*start] for option in options]
        code = run([str(Path(word).expanduser()) if word.startswith("~") else word for word in arguments] + less)
        assert code == 0, f"{place}: {shlex.join(words)}\n{capsys.readouterr().err}"


def test_every_other_command_is_known():
    lines = [(place, line) for page in PAGES for place, line in commands(page) if not line.startswith("autotune ")]
    unknown = [f"{place}: {line}" for place, line in lines if line.split()[0] not in OTHER_TOOLS]
    assert unknown == []
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for place, line in lines:
        words = shlex.split(line, comments=True)
        paths = [word for word in words[1:] if word.startswith(("tests/", "benchmarks/"))]
        assert [path for path in paths if not (ROOT / path).exists()] == [], place
        if words[0] == "make":
            assert words[1] in targets, place


# It is only compiled: the examples in full have tests of their own, as have the ten questions with their answers.
ONLY_ON_A_GPU = re.compile(r"worker_device\(\"0\"|device=0|autotune\.(torch|transformers)\b")
EXAMPLES = [path.read_text() for path in (ROOT / "examples").rglob("*.py")]


def snippets(page):
    """The Python of a page that runs anywhere."""
    whole = page.read_text().splitlines()
    found = [block for block in blocks(page) if block.language in ("python", "pycon")]
    return [
        block
        for block in found
        if not ONLY_ON_A_GPU.search(block.code)
        and "..." not in block.code
        and not any(block.code in example for example in EXAMPLES)
        and "## Ten questions" not in whole[: block.line]
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
@pytest.mark.usefixtures("folder")
def test_python_runs_as_written(page):
    scope = names(page.name)
    for block in snippets(page):
        if block.language == "pycon":
            example = doctest.DocTestParser().get_doctest(block.code, scope, str(block), page.name, block.line)
            assert doctest.DocTestRunner().run(example).failed == 0
        else:
            exec(compile(block.code, str(block), "exec"), scope)


def test_python_that_is_not_run_is_python():
    for page in PAGES:
        for block in blocks(page):
            if block.language == "python":
                compile(block.code, str(block), "exec")
