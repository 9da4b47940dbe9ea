"""Bulk copies and mbarriers: what lands where, and what a kernel may forget."""

from dataclasses import replace

import numpy as np
import pytest
from tensor_programs import execute, tensor_program

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined
from autotune.compiler import compile_kernel
from autotune.emulator import EmulatorError

SEEDS = range(4)
ROWS, COLUMNS, LEADING = 13, 41, 44
BOX_ROWS = 8
SWIZZLES = {Swizzle.NONE: 32, Swizzle.B32: 8, Swizzle.B64: 16, Swizzle.B128: 32}  # columns of the box
X = np.random.default_rng(0).standard_normal((ROWS, LEADING)).astype(np.float32)

# Four boxes pass through one tile.
PIPELINE = """
  Barrier* full = reinterpret_cast<Barrier*>(tile + 256);
  Barrier* empty = full + 1;
  if (t == 0) {
    full->init(1);
    empty->init(64);
    proxy_fence();
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    const int row = 8 * (i / 2), column = 32 * (i % 2);
    if (t == 0) {
      empty->wait(i % 2 ^ 1);
      full->arrive_and_expect(1024);
      tensor_copy(tile, arguments.map, {row, column}, *full);
    }
    full->wait(i % 2);
    for (int e = t; e < 256; e += 64) y[256 * i + e] = tile[swizzled(4 * e, 128) / 4];
    empty->arrive();
  }
"""
CORNERS = [(0, 0), (0, 32), (8, 0), (8, 32)]
NAMES = "{ float *x = arguments.x, *y = arguments.y, *tile = tile_memory<float>();"


def program(body, swizzle=Swizzle.B128, ahead=0):
    """Its map begins so many rows ahead of the tensor."""
    shape, offset = (ahead + ROWS, COLUMNS), -ahead * LEADING * X.itemsize
    tensor_map = TensorMap("x", "float32", shape, (LEADING, 1), (BOX_ROWS, SWIZZLES[swizzle]), swizzle, offset)
    pointers = {"x": "float*", "y": "float*"}
    return tensor_program(
        f"{NAMES}{body}}}", {"map": tensor_map}, pointers, shared_bytes=1024 + 16, headers=("shared_memory",)
    )


def outcome(body, size, seed=0, swizzle=Swizzle.B128):
    return found(program(body, swizzle), size, seed)


def found(right, size, seed=0):
    arrays = {"x": X.ravel()[: (ROWS - 1) * LEADING + COLUMNS].copy(), "y": np.full(size, np.nan, np.float32)}
    execute(right, arrays, ("y",), seed)
    return arrays["y"]


def box(row, column, columns):
    """A box of the tensor, zeros where it reaches beyond."""
    padded = np.zeros((ROWS + 64, COLUMNS + 96), np.float32)
    padded[16 : 16 + ROWS, 48 : 48 + COLUMNS] = X[:, :COLUMNS]
    return padded[16 + row :, 48 + column :][:BOX_ROWS, :columns]


@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_pass_through_a_tile(seed):
    expected = [box(row, column, 32).ravel() for row, column in CORNERS]
    np.testing.assert_array_equal(outcome(PIPELINE, 1024, seed), np.concatenate(expected))


def test_no_box_begins_outside_of_a_map_that_begins_ahead_of_its_tensor():
    """Hardware may then read where there is no memory."""
    within, outside = (PIPELINE.replace("{row, column}", f"{{row + {ahead}, column}}") for ahead in (8, 16))
    expected = [box(row, column, 32).ravel() for row, column in CORNERS]
    np.testing.assert_array_equal(found(program(within, ahead=8), 1024), np.concatenate(expected))
    with pytest.raises(EmulatorError, match="a box that begins outside of a tensor map, which begins ahead of its"):
        found(program(outside, ahead=8), 1024)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (-3, 30), (10, -5), (40, 0)])
@pytest.mark.parametrize("swizzle", Swizzle)
def test_a_box_lies_in_shared_memory_as_its_swizzle_says(swizzle, row, column):
    columns = SWIZZLES[swizzle]
    size = BOX_ROWS * columns
    body = f"""Barrier* full = reinterpret_cast<Barrier*>(tile + 256);
    if (t == 0) {{ full->init(1); proxy_fence(); full->arrive_and_expect({4 * size});
                   tensor_copy(tile, arguments.map, {{{row}, {column}}}, *full); }}
    __syncthreads();
    full->wait(0);
    for (int i = t; i < {size}; i += 64) y[i] = tile[i];"""
    # 16-byte units of a line of 128 bytes change places within spans as wide as a row of the box.
    units = box(row, column, columns).reshape(-1, 4)
    index = np.arange(len(units))
    if swizzle is not Swizzle.NONE:
        index ^= index // 8 % (columns // 4)
    expected = np.empty_like(units)
    expected[index] = units
    np.testing.assert_array_equal(outcome(body, size, swizzle=swizzle), expected.ravel())


BULK = """
  Barrier* full = reinterpret_cast<Barrier*>(tile + 256);
  tile[t] = 0;
  proxy_fence();
  if (t == 0) { full->init(1); proxy_fence(); }
  __syncthreads();
  if (t == 0) { full->arrive_and_expect(256); bulk_copy(tile, x, 256, *full); }
  full->wait(0);
  y[t] = tile[63 - t];
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_consecutive_bytes_are_copied(seed):
    np.testing.assert_array_equal(outcome(BULK, 64, seed), X.ravel()[63::-1])


PLANTS = [
    ("wait for the copy", PIPELINE, "full->wait(i % 2);", "",
     "is not waited for|a bulk copy wrote|barrier between|waits for ever"),
    ("parity of the full barrier", PIPELINE, "full->wait(i % 2);", "full->wait(i % 2 ^ 1);",
     "is not waited for|a bulk copy wrote|waits for ever|barrier between"),
    ("parity of the empty barrier", PIPELINE, "i % 2 ^ 1", "i % 2", "waits for ever"),
    ("wait for the readers", PIPELINE, "empty->wait(i % 2 ^ 1);", "", "is not waited for|race: |waits for ever"),
    ("arrival of the readers", PIPELINE, "empty->arrive();", "", "waits for ever at line .* lacks 64 arrivals"),
    ("arrival of one reader", PIPELINE, "empty->arrive();", "if (t) empty->arrive();", "lacks 1 arrivals"),
    ("too few arrivals expected", PIPELINE, "init(64)", "init(63)", "race: |not waited for|all have arrived|for ever"),
    ("too many arrivals expected", PIPELINE, "init(64)", "init(65)", "waits for ever"),
    ("bytes expected", PIPELINE, "expect(1024)", "expect(512)", "lacks 0 arrivals and -512 bytes"),
    ("bytes never expected", PIPELINE, "arrive_and_expect(1024)", "arrive()", "is not waited for|race: "),
    ("barrier after init", PIPELINE, "__syncthreads();", "", "not initialised|race: "),
    ("fence after init", PIPELINE, "proxy_fence();", "", "initialised with no proxy fence since"),
    ("fence after writes", BULK, "proxy_fence();\n  if", "if", "wrote, with no proxy fence between"),
    ("barrier not initialised", BULK, "full->init(1);", "", "an mbarrier that was not initialised"),
    ("read past the box", PIPELINE, "/ 4]", "/ 4 + 8]", "race: |reads bytes 10"),
    ("tile not aligned", PIPELINE, "copy(tile,", "copy(tile + 4,", "at byte 16 of shared .* not aligned to 1024"),
    ("copy of odd bytes", BULK, "x, 256", "x, 250", "a bulk copy of 250 bytes .* expected multiples of 16"),
    ("copy past the end", BULK, "x, 256", "x + 516, 256", "reads bytes 2064 to 2319 of x"),
    ("copy nobody waits for", BULK, "full->wait(0);\n  y[t] = tile[63 - t];", "y[t] = 0;", "nobody waited for"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "old", "new", "error"), [p[1:] for p in PLANTS], ids=[p[0] for p in PLANTS])
def test_the_bug_is_caught_in_every_order(body, old, new, error):
    assert body.count(old) == 1
    for seed in SEEDS:
        with pytest.raises(EmulatorError, match=error):
            outcome(body.replace(old, new), 1024, seed)


def test_a_tile_needs_shared_memory_of_its_alignment():
    right = program(PIPELINE)
    wrong = replace(right, source=right.source.replace("tile_memory<", "dynamic_shared<"))
    with pytest.raises(EmulatorError, match="aligned to 1024 bytes, and the kernel asks for 16"):
        found(wrong, 1024)


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_tensor_copies_compile(arch):
    for body in (PIPELINE, BULK):
        assert compile_kernel(program(body), arch).resources.spill_store_bytes == 0


REUSED = """
  Barrier* full = reinterpret_cast<Barrier*>(tile + 256);
  if (t == 0) { full->init(1); proxy_fence(); full->arrive_and_expect(256); bulk_copy(tile, y, 256, *full); }
  __syncthreads();
  full->wait(0);
  y[t] = 2 * tile[63 - t];
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_copy_reads_may_be_written_when_it_has_landed(seed):
    y = np.arange(64, dtype=np.float32)
    names = NAMES.replace("*x = arguments.x, ", "")
    right = tensor_program(f"{names}{REUSED}}}", {}, {"y": "float*"}, shared_bytes=1024 + 16)
    execute(right, {"y": y}, ("y",), seed)
    np.testing.assert_array_equal(y, 2 * np.arange(64)[::-1])
    late = "  y[t] = 2;\n  full->wait(0);\n  y[t] ="
    wrong = replace(right, source=right.source.replace("  full->wait(0);\n  y[t] = 2 *", late))
    with pytest.raises(EmulatorError, match=r"race: writes byte .* of y, which a bulk copy read, with no wait for it"):
        execute(wrong, {"y": y}, ("y",), seed)


LAST_WRITES = """
  Barrier* full = reinterpret_cast<Barrier*>(tile + 256);
  if (t == 0) {
    full->init(1);
    proxy_fence();
    full->arrive_and_expect(64);
    bulk_copy(tile, y + 16 * blockIdx.x, 64, *full);
  }
  __syncthreads();
  if (t == 32) full->wait(0);
  if (is_last_block(arguments.workspace, 4)) y[t] = 1;
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_of_several_blocks_may_write_what_copies_of_all_have_read(seed):
    y, names = np.zeros(64, np.float32), NAMES.replace("*x = arguments.x, ", "")
    pointers = {"y": "float*", "workspace": "int*"}
    right = tensor_program(
        f"{names}{LAST_WRITES}}}", {}, pointers, blocks=4, shared_bytes=1024 + 16, headers=("tickets",)
    )
    right = replace(right, workspace_bytes=4)
    execute(right, {"y": y}, ("y",), seed)
    assert (y == 1).all()
    wrong = replace(right, source=right.source.replace("__threadfence();", ""))
    with pytest.raises(EmulatorError, match="of y, which another block read, with no fence and atomic between"):
        execute(wrong, {"y": y}, ("y",), seed)


def test_a_map_may_be_of_a_part_of_the_workspace():
    """A launch before has written it."""
    tensor_map = TensorMap("workspace", "float32", (4, 8), (8, 1), (4, 8), Swizzle.B32, offset=256)
    arguments = (
        Argument("map", "TensorMap", tensor_map=tensor_map),
        Argument("x", "const float*"),
        Argument("y", "float*"),
        Argument("workspace", "float*"),
    )
    entry = 'extern "C" __global__ void __launch_bounds__(32)'
    source = f"""{inlined("cuda/shared_memory.cuh", "cuda/tensor_copy.cuh")}
{cuda_arguments(arguments)}
{entry} first(const __grid_constant__ Arguments arguments) {{
  arguments.workspace[64 + threadIdx.x] = arguments.x[threadIdx.x];
}}
{entry} second(const __grid_constant__ Arguments arguments) {{
  float* tile = tile_memory<float>();
  Barrier* full = reinterpret_cast<Barrier*>(tile + 32);
  if (threadIdx.x == 0) {{
    full->init(1);
    proxy_fence();
    full->arrive_and_expect(128);
    tensor_copy(tile, arguments.map, {{0, 0}}, *full);
  }}
  __syncthreads();
  full->wait(0);
  arguments.y[threadIdx.x] = tile[swizzled(4 * threadIdx.x, 32) / 4];
}}
"""
    launches = (Launch("first", (1, 1, 1), (32, 1, 1)), Launch("second", (1, 1, 1), (32, 1, 1), 1024))
    program = Program(source, arguments, launches, 512, arch_suffix="a")
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    assert program.tensor_names == {"x", "y"}
    execute(program, {"x": x, "y": y}, ("y",))
    np.testing.assert_array_equal(y, x)
