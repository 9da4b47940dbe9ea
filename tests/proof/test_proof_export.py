"""The probe in C++: several launches with a memset between them; what C++ does not encode is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from export.exports import chosen_in_cpp, chosen_in_python, drawn, drawn_sizes
from probe_kernel import ProbeSchedule
from probe_operator import OPERATOR

from autotune.export import TraceError
from autotune.export.tables import tables

SIZES = ("rows", "columns")


def test_launches_and_memsets_are_those_of_python(tmp_path: Path) -> None:
    loading = [ProbeSchedule(rows, tensor_copy=False) for rows in (8, 16, 32)]
    probe = replace(OPERATOR, candidates=lambda problem, limits: loading, default=lambda problem, limits: loading[0])
    exported = drawn(probe, 4, SIZES)
    asked = drawn_sizes(exported, 100)
    expected = [chosen_in_python(exported, sizes) for sizes in asked]
    assert all(" set " in line and line.count("probe") > 1 for line in expected)
    assert chosen_in_cpp(exported, asked, tmp_path, tables(exported)) == expected


def test_tensor_maps_are_refused() -> None:
    with pytest.raises(TraceError, match="tensor maps are not exported"):
        tables(drawn(OPERATOR, 2, SIZES))
