"""The parts of the emulator know of one another in one direction only."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

from autotune import emulator

FOLDER = Path(emulator.__file__).parent / "cpp"


def test_includes_go_one_way() -> None:
    includes: dict[str, set[str]] = {}
    for path in sorted([*FOLDER.glob("*.cpp"), *FOLDER.glob("*.hpp")]):
        named = set(re.findall(r'^#include "(\w+)\.hpp"', path.read_text(), re.MULTILINE))
        includes.setdefault(path.stem, set()).update(named - {path.stem})
    order = list(TopologicalSorter(includes).static_order())
    assert (
        order.index("position")
        < order.index("order")
        < order.index("races")
        < order.index("threads")
        < order.index("main")
    )
