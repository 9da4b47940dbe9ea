"""What rows that begin between vectors cost by the workloads of backward passes."""

import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule
from autotune.codegen.rows.schedule import RowStorage
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.dispatcher.choice.modelled import preferred
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.occupancy import resident_blocks

H200, BF16 = named_device("h200"), DType.BFLOAT16


@pytest.mark.parametrize(("columns", "blocks"), [(66680, 2), (66679, 1)])
def test_rows_read_again_take_more_registers_if_they_begin_between_vectors(columns: int, blocks: int) -> None:
    again = CrossEntropyBackwardSchedule(
        threads=512, threads_per_row=512, vector_width=8, hold=RowStorage.RELOAD, loads_in_flight=8
    )
    problem = CrossEntropyBackwardProblem(4096, columns, BF16)
    (work,) = operator("cross_entropy_backward").workload(problem, again, H200)
    assert resident_blocks(work.footprint, H200) == blocks


@pytest.mark.parametrize(("columns", "width", "steps"), [(512, 8, 1), (513, 8, 3), (513, 1, 1)])
def test_the_first_part_of_a_row_is_waited_for_in_both_arrays(columns: int, width: int, steps: int) -> None:
    held = SoftmaxBackwardSchedule(threads=128, threads_per_row=32, vector_width=width)
    (work,) = operator("softmax_backward").workload(SoftmaxBackwardProblem(8192, columns, BF16), held, H200)
    assert work.steps == steps


@pytest.mark.parametrize(("rows", "columns", "dtype"), [(8192, 513, BF16), (4096, 8191, DType.FLOAT32)])
def test_short_rows_that_begin_between_vectors_are_read_element_by_element(
    rows: int, columns: int, dtype: DType
) -> None:
    found, _ = preferred(operator("softmax_backward"), SoftmaxBackwardProblem(rows, columns, dtype), H200)
    assert isinstance(found, SoftmaxBackwardSchedule)
    assert found.vector_width == 1
