"""Commands take a file in the place of an operator's name."""

from pathlib import Path

import pytest
from cli.conftest import autotune, cache, environment  # noqa: F401
from own_kernels.conftest import EXAMPLES
from registry_as_before import registry_as_before

from autotune.devices import sanitizer, select
from autotune.own_kernels.failed_candidate import launch
from autotune.runs.failure_report import failures_folder
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import failed_candidate


def test_a_file_is_tuned_stored_and_explained(autotune, written):  # noqa: F811
    path = str(written())
    tuned = autotune("tune", path, "--device", "h200", "--n", "5000", "--trials", "2", "--json")
    (result,) = tuned.json["results"]
    assert (result["operator"], result["problem"]) == ("vector_add", "n5000")
    page = written().with_name("page.html")
    assert autotune("report", path, "-o", str(page)).code == 0
    assert "vector_add" in page.read_text()
    (best,) = autotune("db", "best", path, "--json").json
    assert (best["operator"], best["problem"]) == ("vector_add", "n5000")
    assert "exact" in autotune("explain", path, "--device", "h200", "--n", "5000").stdout
    assert "#define block_size 64" in autotune("emit", path, "block_size=64").stdout


@pytest.mark.parametrize(
    ("file", "change", "error"),
    [
        ("mine.py", ("autotune.kernel(", "dict("), "declares no kernel: expected a call of autotune.kernel"),
        (
            "mine.py",
            ("import autotune\n", "import autotune\n1 / 0\n"),
            "mine.py:4: ZeroDivisionError: division",
        ),
        ("mine.py", ("import autotune\n", "import autotune\nexit(3)\n"), "mine.py ends the process: expected"),
        ("mine.py:other", ("import", "import"), "declares no 'other'; it declares vector_add"),
    ],
)
def test_a_file_that_declares_no_such_kernel(autotune, written, file, change, error):  # noqa: F811
    path = written(change=change)
    done = autotune("emit", str(path.with_name(file)))
    assert error in done.stderr
    assert done.code != 0


def test_a_kernel_that_does_not_compile_says_where(autotune, written):  # noqa: F811
    path = written(change=("a[i] + b[i]", "a[i] + d[i]"))
    done = autotune("tune", str(path), "--device", "h200", "--n", "5000", "--trials", "1")
    assert 'vector_add.cu(4): error: identifier "d" is undefined' in done.stderr
    assert f"autotune db trials {path} lists the errors" in done.stderr


@pytest.fixture
def failed(autotune, written):  # noqa: F811
    """The file of a kernel, and the report of its failure; nothing knows the kernel any more."""
    path = written(change=("a[i] + b[i]", "a[i + n] + b[i]"))
    with registry_as_before():
        autotune("tune", str(path), "--device", "h200", "--n", "5000", "--trials", "1")
    (report,) = failures_folder().glob("vector_add-*.json")
    yield str(path), str(report)
    report.unlink()


def test_a_failure_is_replayed_by_the_file_of_its_kernel(autotune, failed):  # noqa: F811
    path, report = failed
    refused = autotune("replay", report).stderr
    assert "unknown operator 'vector_add': name the file that declares it by --kernel" in refused
    refused = autotune("replay", report, "--kernel", str(EXAMPLES / "matmul.py")).stderr
    assert "matmul.py declares no 'vector_add'; it declares matmul" in refused
    assert "none.py: No such file" in autotune("replay", report, "--kernel", "none.py").stderr
    again = autotune("replay", report, "--kernel", path)
    assert (again.code, "reads" in again.stderr) == (1, True), again.stderr


def test_the_sanitizer_watches_the_kernel_of_a_file(autotune, failed, monkeypatch):  # noqa: F811
    path, report = failed
    watched = []
    monkeypatch.setattr(sanitizer, "watched", lambda tool, program: (not watched.extend(program), ""))
    monkeypatch.setattr(select, "resolved", lambda selector: "1")
    monkeypatch.setattr(select, "selected_spec", lambda selector: named_device("h200"))
    with registry_as_before():
        assert autotune("replay", report, "--kernel", path, "--sanitize", "memcheck").code == 0
    assert watched == ["-m", "autotune.own_kernels.failed_candidate", Path(path), Path(report), "1"]
    launched = []
    monkeypatch.setattr(failed_candidate, "launch", lambda *given: launched.append((*given, "vector_add" in OPERATORS)))
    launch(*map(str, watched[2:]))
    assert launched == [(report, "1", True)]


def test_the_examples_are_whole():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"vector_add", "matmul", "convolution", "pnpoly"}
