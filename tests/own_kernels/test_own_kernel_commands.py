"""Commands take a file in the place of an operator's name."""

import pytest
from cli.conftest import autotune, cache, environment  # noqa: F401
from own_kernels.conftest import EXAMPLES


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


def test_the_examples_are_whole():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"vector_add", "matmul", "convolution", "pnpoly"}
