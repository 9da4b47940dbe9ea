"""codegen/rows: every element of a row is visited once, however rows are held and shared out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autotune import emulator
from autotune.codegen.dtype import DType
from autotune.codegen.emission import inlined
from autotune.codegen.program import Argument, Program, cuda_arguments
from autotune.codegen.rows.schedule import Hold, RowSchedule
from autotune.codegen.tensor import Role, Tensor
from autotune.compiler import compile_kernel

ROWS = 5
BODY = """
  const RowPosition at = row_position();
  const int inside = at.row < arguments.rows ? arguments.inside : 0;
  const Element* row = arguments.x + at.row * arguments.ldx;
  const RowValues values(row, at.column, arguments.columns, inside, from_float<Element>(-5.0f));
  float sum = 0.0f, largest = -infinity();
  values.for_each([&](const Vector& vector, int) {
    for (int i = 0; i < Schedule::vector_width; ++i) largest = max_nan(largest, to_float(vector.elements[i]));
  });
  largest = reduce_over_row<0>(largest, Max());
  values.for_each([&](const Vector& vector, int column) {
    for (int i = 0; i < Schedule::vector_width; ++i) {
      if (column + i < arguments.columns) sum += to_float(vector.elements[i]);
    }
  });
  sum = reduce_over_row<1>(sum, Sum());
  values.for_each_last([&](const Vector& vector, int column) {
    Vector result;
    for (int i = 0; i < Schedule::vector_width; ++i) {
      result.elements[i] = from_float<Element>(to_float(vector.elements[i]) + largest + sum);
    }
    const int columns = at.row < arguments.rows ? arguments.columns : 0;
    store_row_vector(arguments.y + at.row * arguments.ldx + column, result, columns - column);
  });
  leave_row();
"""


class TwoReductions(RowSchedule):
    reductions = 2


def program(schedule: RowSchedule, columns: int, inside: int, leading: int, dtype: DType) -> Program:
    sizes = {"rows": ROWS, "columns": columns, "inside": inside, "ldx": leading}
    members = (
        Argument("x", f"const {dtype.cuda}*"),
        Argument("y", f"{dtype.cuda}*"),
        *(Argument(name, "int", value) for name, value in sizes.items()),
    )
    footprint = schedule.row_footprint(columns, dtype.bytes)
    ragged = "true" if (columns | inside) % schedule.vector_width else "false"
    numbers = "cuda/numbers.cuh"
    text = f"""{inlined(numbers)}
{cuda_arguments(members)}
{schedule.cuda_struct()}
struct Problem {{
  using Element = {dtype.cuda};
  static constexpr bool ragged = {ragged};
  static constexpr int rounds = {schedule.rounds(columns)}, held_at = {schedule.held_at};
}};
{inlined(f"rows/{schedule.hold}.cuh", after=(numbers,))}
{footprint.entry("rows", BODY)}"""
    return Program(text, members, (footprint.launch("rows", schedule.blocks(ROWS)),))


BASE = TwoReductions(threads=64, loads_in_flight=2, streaming=True)
FLOAT, HALF = DType.FLOAT32, DType.BFLOAT16
# Columns, columns that are read, leading dimension, elements of an access, type.
SHAPES = [
    (1, 1, 4, 4, HALF),
    (31, 31, 31, 1, HALF),
    (64, 64, 64, 4, FLOAT),
    (66, 60, 68, 4, HALF),
    (513, 510, 516, 4, HALF),
]


@pytest.mark.parametrize("hold", Hold)
@pytest.mark.parametrize(("of_row", "cluster"), [(1, 1), (8, 1), (32, 1), (64, 1), (64, 2)])
def test_every_element_is_visited_once(hold: Hold, of_row: int, cluster: int) -> None:
    for columns, inside, leading, width, dtype in SHAPES:
        if of_row * cluster * 64 < columns:
            continue
        schedule = replace(BASE, hold=hold, threads_per_row=of_row, cluster=cluster, vector_width=width)
        random = np.random.default_rng(columns)
        x = random.integers(-3, 4, (ROWS, leading)).astype(dtype.numpy)
        x[:, columns:] = np.nan
        y = np.full((ROWS, leading), np.nan, dtype.numpy)
        tensors = tuple(
            Tensor(name, dtype, x.shape, (leading, 1), role, min(16, width * dtype.bytes))
            for name, role in (("x", Role.INPUT), ("y", Role.OUTPUT))
        )
        kernel = program(schedule, columns, inside, leading, dtype)
        result = y.copy().reshape(-1)
        emulator.run(kernel, tensors, {"x": x.reshape(-1), "y": result}, {}, seed=2)
        read = np.where(np.arange(columns) < inside, x[:, :columns].astype(np.float64), -5)
        expected = read + read.max(axis=1, keepdims=True) + read.sum(axis=1, keepdims=True)
        np.testing.assert_array_equal(result.reshape(ROWS, leading)[:, :columns], expected.astype(dtype.numpy))


@pytest.mark.parametrize("hold", Hold)
def test_the_skeleton_compiles(hold: Hold) -> None:
    for threads, cluster in ((32, 1), (128, 4)):
        schedule = replace(BASE, threads=128, threads_per_row=threads, cluster=cluster, vector_width=8, hold=hold)
        kernel = compile_kernel(program(schedule, 1000, 999, 1000, DType.FLOAT16), "sm_90")
        assert kernel.resources.spill_store_bytes == 0
