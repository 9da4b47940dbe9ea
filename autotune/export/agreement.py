"""How an export's choices in C++ compare with Python's."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from autotune.dispatcher.choice.modelled import TIE
from autotune.emulator.build import host_compiler
from autotune.search_spaces.contract.modelled_time import modelled_seconds

from .choice import drawn_sizes
from .kernels import Kernels
from .tables import tables

_FOLDER = Path(__file__).parent
_ASK = """
#include <cstdio>
#include "choose.hpp"
int main() {
  autotune::Sizes sizes;
  for (std::size_t read = 0; std::scanf("%lld", &sizes[read % sizes.size()]) == 1;)
    if (++read % sizes.size() == 0) std::printf("%d\\n", autotune::chosen(sizes).schedule);
}
"""


def agreement(exported: Kernels, most: int) -> tuple[float, float, float]:
    """The shares of so many other sizes which C++ serves as Python chooses, or as fast, and what others lose.

    As fast are schedules whose modelled times Python takes for equal. The loss is a share of the time of Python's
    choice, by the time model, in the mean of all sizes; 1 where nothing serves. Python may choose kernels that are not
    exported.
    """
    asked, bundle = Kernels(exported.bundle), exported.bundle
    drawn = list(drawn_sizes(bundle, most, seed=1))
    same, losses = 0, list[float]()
    for sizes, number in zip(drawn, _chosen(exported, drawn), strict=True):
        if best := asked.chosen(sizes):
            found, problem = bundle.all_schedules[number], bundle.problem(sizes)
            ours, its = (modelled_seconds(bundle.operator, problem, one, bundle.spec) for one in (best, found))
            same += number >= 0 and best == found
            losses.append(max(0.0, its / ours - 1) if number >= 0 else 1.0)
    as_fast = sum(lost <= TIE - 1 for lost in losses)
    return same / len(losses), as_fast / len(losses), sum(losses) / len(losses)


def _chosen(exported: Kernels, drawn: list[dict[str, int]]) -> list[int]:
    """The numbers of the schedules that C++ chooses; -1 for none."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for header in ("plan.hpp", "choose.hpp"):
            shutil.copy(_FOLDER / header, folder)
        (folder / "tables.hpp").write_text(tables(exported), encoding="utf-8")
        (folder / "ask.cpp").write_text(_ASK, encoding="utf-8")
        subprocess.run([*host_compiler(), "-std=c++17", "-O2", "ask.cpp", "-o", "ask"], cwd=folder, check=True)
        asked = "\n".join(" ".join(map(str, sizes.values())) for sizes in drawn)
        done = subprocess.run([folder / "ask"], input=asked, capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]
