"""C++ chooses among an export's kernels as Python does, and launches the same."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from export.exports import chosen_in_cpp, chosen_in_python, drawn, drawn_sizes

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.reduce.problem import Axis
from autotune.export.tables import tables
from autotune.search_spaces.contract.registry import operator

SIZES = int(os.environ.get("AUTOTUNE_EXPORT_SIZES", "100"))
CASES: list[tuple[str, int, tuple[str, ...], dict[str, Any]]] = [
    ("sgemm", 4, ("m", "n", "k"), {}),
    ("sgemm", 1, ("m", "n", "k", "batch"), {"transpose_a": True, "beta_nonzero": True}),
    ("transpose", 6, ("m", "n"), {"element_bytes": 2}),
    ("reduce", 4, ("rows", "columns"), {"axis": Axis.FIRST, "dtype": DType.BFLOAT16}),
    ("reduce", 4, ("rows", "columns"), {"axis": Axis.ALL}),
    ("softmax", 4, ("rows", "columns"), {}),
]


@pytest.mark.parametrize(("name", "records", "sizes", "fixed"), CASES, ids=[case[0] for case in CASES])
def test_cpp_chooses_and_launches_as_python_does(
    name: str, records: int, sizes: tuple[str, ...], fixed: dict[str, Any], tmp_path: Path
) -> None:
    exported = drawn(operator(name), records, sizes, **fixed)
    asked = drawn_sizes(exported, SIZES)
    expected = [chosen_in_python(exported, one) for one in asked]
    assert chosen_in_cpp(exported, asked, tmp_path, tables(exported)) == expected
    assert len({line.split()[0] for line in expected}) > 2  # several schedules serve
    assert {line.split()[1] == "-1" for line in expected} == {True, False}  # by a record, and by the model


def test_cpp_encodes_the_tensor_maps_of_python(tmp_path: Path) -> None:
    gemm = operator("gemm")

    def candidates(problem: Any, spec: Any) -> Iterator[Any]:
        return (one for one in gemm.candidates(problem, spec) if one.kernel == "wgmma")

    listed = gemm.with_kernels(candidates=candidates)
    exported = drawn(listed, 3, ("m", "n", "k"), transpose_b=True, gate=Gate.HALVES)
    asked = drawn_sizes(exported, 60)
    expected = [chosen_in_python(exported, one) for one in asked]
    assert chosen_in_cpp(exported, asked, tmp_path, tables(exported)) == expected
    assert {" map " in line for line in expected} == {False, True}
    odd = [line for one, line in zip(asked, expected, strict=True) if one["n"] % 2]
    assert odd and set(odd) == {"-1 -1"}  # a gate takes pairs of columns
    assert exported.addresses == ("a", "b", "d", "workspace")
    of_prepared = re.compile(rf" map \d+ {exported.addresses.index('workspace')} ")
    assert any(of_prepared.search(line) for line in expected)


def test_a_wrong_constant_is_found(tmp_path: Path) -> None:
    exported = drawn(operator("transpose"), 4, ("m", "n"))
    asked = drawn_sizes(exported, 60)
    wrong = tables(exported).replace("constexpr Rules rules = {0x1.0000000000000p+3", "constexpr Rules rules = {0x1p+0")
    assert wrong != tables(exported)
    expected = [chosen_in_python(exported, one) for one in asked]
    assert chosen_in_cpp(exported, asked, tmp_path, wrong) != expected
