"""``pytest --autotune-operator NAME``: the contract suite for an operator of a package of your own."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_SUITE = Path(__file__).parent / "contract"
_FILES = ("calls", "gpu", "kernels", "problems", "restated", "schedules")
_NAME = "autotune_operator"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("autotune").addoption(
        "--autotune-operator",
        dest=_NAME,
        action="append",
        default=[],
        metavar="NAME",
        help="also run the suite that autotune's own operators pass, for this operator; may be given several times",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Add the suite to what is collected. What it stores is gone afterwards."""
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU")
    names: list[str] = config.getoption(_NAME)
    if not names:
        return
    from autotune.contract import choose
    from autotune.search_spaces.contract.registry import operator

    try:
        for name in names:
            operator(name)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    choose(names)
    stored = TemporaryDirectory()
    config.add_cleanup(stored.cleanup)
    os.environ |= {"AUTOTUNE_DB": f"{stored.name}/tuning.sqlite3", "AUTOTUNE_CACHE": f"{stored.name}/cache"}
    files = [str(_SUITE / f"test_contract_{name}.py") for name in _FILES]
    config.args += [path for path in files if path not in config.args]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where there is none."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from autotune.devices.driver import cuda_device_count

    if not cuda_device_count():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))
