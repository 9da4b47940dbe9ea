"""What sources have of the members that launches state, and what entries get that do not read one."""

from dataclasses import dataclass

import pytest

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import size, tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.source.kernel_source import Entry, KernelSource

_FILES = {
    "sort.cuh": """#pragma once
__device__ __forceinline__ unsigned digit_of(const Arguments& arguments, unsigned key) {
  return key >> arguments.shift & 255;
}
constexpr int digits =
    256;

__device__ __forceinline__ void count_digits(const Arguments& arguments) {
  atomicAdd(arguments.counts + digit_of(arguments, arguments.keys[threadIdx.x]) % digits, 1);
}

__device__ __forceinline__ void clear_counts(const Arguments& arguments) { arguments.counts[threadIdx.x] = 0; }
""",
    "naive.cuh": """#pragma once
__device__ __forceinline__ void sort_naive(const Arguments& arguments) { arguments.keys[0] = 0; }
""",
}


@dataclass(frozen=True)
class SortProblem(Problem):
    n: int = size(64)
    tensors = (Tensor.flat("keys", DType.UINT32, 64, Role.OUTPUT, 4),)

    def inputs(self, seed):
        return {}

    def reference(self, inputs, scalars):
        return {}


@dataclass(frozen=True)
class SortSchedule(Schedule):
    threads: int = tunable(64)

    def blocks(self, problem):
        return 1


@pytest.fixture
def source(tmp_path):
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text)
    scalars = [Argument("counts", "int*"), Argument("target", "unsigned*"), Argument("shift", "int")]
    return KernelSource("sort", str(tmp_path), SortProblem(64), scalars=scalars)


def test_launches_get_nothing_for_members_that_their_entries_do_not_read(source):
    count = Entry("sort_count", "count_digits", 1, Footprint(256))
    program = source.scheduled(SortSchedule(), "sort", "clear_counts", count)
    assert [one.name for one in program.arguments] == ["keys", "n", "counts", "shift"]
    assert [dict(launch.arguments) for launch in program.launches] == [{"shift": 0}, {}]
    assert "constexpr int digits =\n    256;" in program.source
    with pytest.raises(ValueError, match=r"^sort_count takes shift, and none is given"):
        program.pack({"keys": 0, "counts": 0}, {})


def test_a_source_of_one_entry_lacks_what_that_does_not_read(source):
    program = source.plain("", 1)
    assert [one.name for one in program.arguments] == ["keys", "n"]
    assert program.plain
