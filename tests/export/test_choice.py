"""C++ launches what Python emits for the same sizes, by the table that Python follows, too."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from export.exports import asked_sizes, chosen_in_cpp, chosen_in_python, drawn

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.reduce.problem import Axis
from autotune.export.tables import tables
from autotune.search_spaces.contract.registry import operator

CASES: list[tuple[str, int, tuple[str, ...], dict[str, Any]]] = [
    ("sgemm", 1, ("m", "n", "k", "batch"), {"transpose_a": True, "beta_nonzero": True}),
    ("reduce", 4, ("rows", "columns"), {"axis": Axis.FIRST, "dtype": DType.BFLOAT16}),
    ("softmax", 4, ("rows", "columns"), {}),
    ("norm_backward", 2, ("rows", "columns"), {}),
]


@pytest.mark.parametrize(("name", "records", "sizes", "fixed"), CASES, ids=[case[0] for case in CASES])
def test_cpp_launches_what_python_emits(
    name: str, records: int, sizes: tuple[str, ...], fixed: dict[str, Any], tmp_path: Path
) -> None:
    exported = drawn(operator(name), records, sizes, **fixed)
    asked = asked_sizes(exported)
    expected = [chosen_in_python(exported, one) for one in asked]
    assert chosen_in_cpp(exported, asked, tmp_path, tables(exported)) == expected
    assert len({line.split()[0] for line in expected} - {"-1"}) > 1  # several schedules serve


def test_cpp_encodes_the_tensor_maps_of_python(tmp_path: Path) -> None:
    gemm = operator("gemm")

    def candidates(problem: Any, spec: Any) -> Iterator[Any]:
        return (one for one in gemm.candidates(problem, spec) if one.kernel == "wgmma")

    exported = drawn(gemm.with_kernels(candidates=candidates), 3, ("m", "n", "k"), transpose_b=True, gate=Gate.HALVES)
    asked = asked_sizes(exported)
    expected = [chosen_in_python(exported, one) for one in asked]
    odd = [one | {"n": one["n"] + 1} for one in asked if one["n"] % 2 == 0]  # a gate takes pairs of columns
    found = chosen_in_cpp(exported, [*asked, *odd], tmp_path, tables(exported))
    assert found == [*expected, *["-1"] * len(odd)]
    assert {" map " in line for line in expected} == {False, True}
    assert exported.addresses == ("a", "b", "d", "workspace")
    of_prepared = re.compile(rf" map \d+ {exported.addresses.index('workspace')} ")
    assert any(of_prepared.search(line) for line in expected)


def test_a_wrong_number_is_found(tmp_path: Path) -> None:
    exported = drawn(operator("transpose"), 4, ("m", "n"))
    asked = asked_sizes(exported)
    right = tables(exported)
    wrong = re.sub(r"floor_div\((\w+), 32\)", r"floor_div(\1, 33)", right)
    assert wrong != right
    expected = [chosen_in_python(exported, one) for one in asked]
    assert chosen_in_cpp(exported, asked, tmp_path, right) == expected
    assert chosen_in_cpp(exported, asked, tmp_path, wrong) != expected
