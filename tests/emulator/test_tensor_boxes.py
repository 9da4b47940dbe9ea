"""Boxes of one to five dimensions, to several blocks, and back by stores: what lands where, what may be forgotten."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from tensor_programs import execute, tensor_program

from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.emulator import EmulatorError

SEEDS = range(3)


def row_major(shape):
    return tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))


def contiguous(name, dtype, shape, box, **options):
    return TensorMap(name, dtype, shape, row_major(shape), box, **options)


def boxed(x, at, box):
    """A box of a tensor, zeros where it reaches beyond."""
    found = np.zeros(box, x.dtype)
    for index in product(*map(range, box)):
        place = tuple(i + j for i, j in zip(at, index, strict=True))
        if all(0 <= i < size for i, size in zip(place, x.shape, strict=True)):
            found[index] = x[place]
    return found


COPY = """
  Barrier& full = *reinterpret_cast<Barrier*>(tile + 1024);
  if (t == 0) {
    full.init(1);
    proxy_fence();
    full.arrive_and_expect(BYTES);
    tensor_copy(tile, arguments.map, {AT}, full);
  }
  __syncthreads();
  full.wait(0);
  for (int i = t; i < BYTES / 4; i += 64) arguments.y[i] = reinterpret_cast<float*>(tile)[i];
"""
SHAPES = [(2, 3, 5, 7, 12), (3, 5, 7, 12), (5, 7, 12), (7, 12), (52,)]


def copied(shape):
    """A copy of a box that reaches beyond a tensor of the shape, its arrays, and what is to come out."""
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    box, at = (1, 2, 3, 2, 8)[-len(shape) :], (1, -1, 3, 6, 8)[-len(shape) :]
    size = int(np.prod(box))
    body = COPY.replace("BYTES", str(4 * size)).replace("AT", ", ".join(map(str, at)))
    program = tensor_program(body, {"map": contiguous("x", "float32", shape, box)}, {"y": "float*"})
    return program, {"x": x.ravel(), "y": np.full(size, np.nan, np.float32)}, boxed(x, at, box)


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_a_box_has_as_many_dimensions_as_its_tensor(shape):
    program, arrays, expected = copied(shape)
    execute(program, arrays, ("y",))
    np.testing.assert_array_equal(arrays["y"], expected.ravel())


# Ties, neighbours of ties, an infinity and NaN.
UNROUNDED = [1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11 - 2.0**-23, 2 - 2.0**-23, 2.0**-127, np.inf, np.nan, 0]


def rounded():
    """A copy of floats by a map that rounds them to TF32, and its arrays."""
    x = np.tile(np.array(UNROUNDED, np.float32), (2, 1))
    body = COPY.replace("BYTES", "64").replace("AT", "0, 0")
    maps = {"map": TensorMap("x", "float32", x.shape, row_major(x.shape), x.shape, tf32=True)}
    return tensor_program(body, maps, {"y": "float*"}), {"x": x.ravel(), "y": np.full(16, np.nan, np.float32)}


def test_a_copy_rounds_floats_to_tf32():
    program, arrays = rounded()
    execute(program, arrays, ("y",))
    expected = [1, 1 + 2.0**-9, -1 - 2.0**-10, 2, 2.0**-127, np.inf, np.nan, 0]
    np.testing.assert_array_equal(arrays["y"], np.tile(np.array(expected, np.float32), 2))


# A tile of each block goes to both; the other block's copies wait until it has been read.
SHARED = """
  Barrier* full = reinterpret_cast<Barrier*>(tile + 1024);
  Barrier* empty = full + 1;
  const int rank = blockIdx.x;
  if (t == 0) {
    full->init(1);
    empty->init(2 * 64);
    barriers_fence();
    proxy_fence();
  }
  cluster_barrier();
  for (int i = 0; i < 3; ++i) {
    if (t == 0) {
      empty->wait(i % 2 ^ 1);
      full->arrive_and_expect(512);
      tensor_copy_to_ranks(tile + 256 * rank, arguments.map, {2 * i + rank, 0}, *full, 3);
    }
    full->wait(i % 2);
    arguments.y[384 * rank + 128 * i + t] = reinterpret_cast<float*>(tile)[t];
    arguments.y[384 * rank + 128 * i + 64 + t] = reinterpret_cast<float*>(tile)[64 + t];
    for (int r = 0; r < 2; ++r) arrive_at_rank(*empty, r);
  }
  cluster_barrier();
"""
X = np.arange(6 * 64, dtype=np.float32)


def shared(body):
    maps = {"map": contiguous("x", "float32", (6, 64), (1, 64))}
    return tensor_program(body, maps, {"y": "float*"}, blocks=2, cluster=2)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_box_reaches_all_ranks_of_the_mask(seed):
    y = np.full(768, np.nan, np.float32)
    execute(shared(SHARED), {"x": X, "y": y}, ("y",), seed)
    np.testing.assert_array_equal(y, np.tile(X, 2))


# The copies of both blocks wait for one arrival of each, by a thread that knows that all have read.
BY_ONE = SHARED.replace("2 * 64", "2").replace(
    "for (int r = 0; r < 2; ++r) arrive", "__syncthreads();\n    for (int r = 0; t == 0 && r < 2; ++r) arrive"
)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_barrier_of_the_other_block_is_known_through_one_arrival(seed):
    y = np.full(768, np.nan, np.float32)
    execute(shared(BY_ONE), {"x": X, "y": y}, ("y",), seed)
    np.testing.assert_array_equal(y, np.tile(X, 2))


# Each thread writes its words into a tile, which goes to a box that reaches beyond the tensor.
STORE = """
  float* words = reinterpret_cast<float*>(tile);
  for (int i = 0; i < 2; ++i) {
    if (i > 0 && t == 0) store_wait_read<0>();
    __syncthreads();
    for (int e = t; e < 128; e += 64) words[swizzled(4 * e, 64) / 4] = e + 1000 * i;
    proxy_fence();
    __syncthreads();
    if (t == 0) {
      tensor_store(arguments.map, {8 * i, 8}, tile);
      store_commit();
    }
  }
  if (t == 0) store_wait_read<0>();
"""
ROWS, COLUMNS = 9, 20


def stored(body):
    box = contiguous("y", "float32", (ROWS, COLUMNS), (8, 16), swizzle=Swizzle.B64)
    return tensor_program(body, {"map": box}, {"y": "float*"})


def outcome(body, seed=0):
    y = np.full(ROWS * COLUMNS, -1, np.float32)
    execute(stored(body), {"y": y}, ("y",), seed)
    return y.reshape(ROWS, COLUMNS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_writes_what_lies_in_the_tensor(seed):
    expected = np.full((ROWS, COLUMNS), -1, np.float32)
    tile = np.arange(128, dtype=np.float32).reshape(8, 16)
    expected[:8, 8:] = tile[:, :12]
    expected[8:, 8:] = 1000 + tile[:1, :12]
    np.testing.assert_array_equal(outcome(STORE, seed), expected)


def test_a_thread_reads_what_it_stored_when_it_has_waited():
    once = STORE.replace("i < 2", "i < 1").replace(
        "if (t == 0) store_wait_read<0>();", "if (t == 0) { store_wait<0>(); arguments.y[0] = arguments.y[8] + 1; }"
    )
    assert outcome(once)[0, 0] == 1
    with pytest.raises(EmulatorError, match=r"of y while the asynchronous copy of thread .* is not waited for"):
        outcome(once.replace("store_wait<0>", "store_wait_read<0>"))


def added(dtype):
    """Two blocks that add x to y, their arrays, and what is to come out."""
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x, y = (np.arange(64) * 1.37).astype(kind), np.arange(64, 128).astype(kind)
    body = f"""if (t < {16 * kind.itemsize}) reinterpret_cast<int*>(tile)[t] = arguments.x[t];
    proxy_fence();
    __syncthreads();
    if (t == 0) {{ tensor_add(arguments.map, {{0}}, tile); store_commit(); store_wait_read<0>(); }}"""
    program = tensor_program(body, {"map": contiguous("y", dtype, (64,), (64,))}, {"x": "const int*"}, blocks=2)
    return program, {"x": x.view(np.int32), "y": y}, y + x + x


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "bfloat16"])
def test_a_store_adds(dtype):
    program, arrays, expected = added(dtype)
    execute(program, arrays, ("y",))
    np.testing.assert_array_equal(arrays["y"], expected)


# Half of the block fills, the other half reads, in turns.
NAMED = """
  float* words = reinterpret_cast<float*>(tile);
  for (int i = 0; i < 3; ++i) {
    if (t < 32) {
      if (i > 0) named_barrier(2, 64);
      words[t] = i * 32 + t;
      named_barrier_arrive(1, 64);
    } else {
      named_barrier(1, 64);
      arguments.y[i * 32 + t - 32] = words[63 - t];
      if (i < 2) named_barrier_arrive(2, 64);
    }
  }
"""


def test_rows_that_are_stored_end_with_a_unit():
    box = TensorMap("y", "float32", (ROWS, COLUMNS - 2), (COLUMNS, 1), (8, 16), Swizzle.B64)
    y = np.full(ROWS * COLUMNS, -1, np.float32)
    with pytest.raises(EmulatorError, match="rows that end 8 bytes into a unit of 16"):
        execute(tensor_program(STORE, {"map": box}, {"y": "float*"}), {"y": y}, ("y",))


def turns(body, seed):
    y = np.full(96, np.nan, np.float32)
    execute(tensor_program(body, {}, {"y": "float*"}), {"y": y}, ("y",), seed)
    return y


@pytest.mark.parametrize("seed", SEEDS)
def test_named_barriers_order_those_who_come(seed):
    np.testing.assert_array_equal(turns(NAMED, seed).reshape(3, 32), np.arange(96).reshape(3, 32)[:, ::-1])


def test_all_who_come_to_a_named_barrier_expect_as_many():
    with pytest.raises(EmulatorError, match=r"barrier 1 of (32|64) threads, at which others come as (32|64)"):
        turns("named_barrier_arrive(1, 64 - t / 32 * 32);", 0)


PLANTS = [
    ("store without a fence", STORE, "proxy_fence();", "", "a bulk store reads byte .* wrote, with no proxy fence"),
    ("store without a barrier", STORE, "proxy_fence();\n    __syncthreads();", "proxy_fence();",
     "race: reads byte .* wrote|race: writes byte .* a bulk store read|store reads byte .* no proxy fence"),
    ("source written too early", STORE, "if (i > 0 && t == 0) store_wait_read<0>();", "",
     "race: writes byte .* of shared memory, which a bulk store read, with no wait for it"),
    ("one group too many under way", STORE, "if (i > 0 && t == 0) store_wait_read<0>();",
     "if (i > 0 && t == 0) store_wait_read<1>();", "which a bulk store read, with no wait for it"),
    ("store not committed", STORE, "store_commit();", "", "which a bulk store read, with no wait for it"),
    ("end without a wait", STORE, "  }\n  if (t == 0) store_wait_read<0>();\n", "  }\n",
     "ends while its bulk store may read"),
    ("stores to the same box", STORE, "{8 * i,", "{0,", "of y while the asynchronous copy of thread"),
    ("store before the first row", STORE, "{8 * i,", "{8 * i - 2,",
     "a bulk store to a box that begins at -2 along dimension 0"),
    ("source not aligned", STORE, "tile);\n      store", "tile + 128);\n      store", "not aligned to 1024 bytes"),
    ("a map of other dimensions", STORE, "{8 * i,", "{0, 8 * i,", "a box of 3 dimensions by a tensor map of 2"),
    ("multicast beyond the cluster", SHARED, "*full, 3)", "*full, 7)", "ranks of mask 0x7 in a cluster of 2 blocks"),
    ("multicast to one", SHARED, "*full, 3)", "*full, 1 << rank)", "lacks 0 arrivals and 256 bytes"),
    ("bytes of one copy expected", SHARED, "expect(512)", "expect(256)",
     "lacks 0 arrivals and -256 bytes|not waited for|race: "),
    ("arrival of the own block alone", SHARED, "arrive_at_rank(*empty, r)", "arrive_at_rank(*empty, rank)",
     "race: writes byte .* which .* read|is not waited for|which a bulk copy wrote"),
    ("arrivals of one block expected", SHARED, "2 * 64", "64", "race: |is not waited for|all have arrived"),
    ("wait for the readers of both blocks", SHARED, "empty->wait(i % 2 ^ 1);", "", "race: |is not waited for|for ever"),
    ("end before the other block has arrived", SHARED, "*empty, r);\n  }\n  cluster_barrier();\n", "*empty, r);\n  }\n",
     "has ended|ends while another block may access"),
    ("barriers of others before they exist", SHARED, "cluster_barrier();\n  for", "for",
     "not initialised|before any cluster barrier|race: "),
    ("arrival before all have read", BY_ONE, "__syncthreads();\n", "", "race: writes byte .* which .* read"),
    ("no arrival", NAMED, "named_barrier_arrive(1, 64);", "", "named barrier [12] lacks 32 of 64 threads"),
    ("another number", NAMED, "named_barrier_arrive(1, 64);", "named_barrier_arrive(3, 64);", "lacks 32 of 64"),
    ("number of the block's barrier", NAMED, "named_barrier_arrive(1, 64);", "named_barrier_arrive(0, 64);",
     "a named barrier 0, expected 1 to 15"),
    ("other threads expected", NAMED, "named_barrier_arrive(1, 64);", "named_barrier_arrive(1, 32);",
     "race: |of 32 threads, at which others come as 64|of 64 threads, at which others come as 32|lacks"),
    ("part of a warp", NAMED, "named_barrier_arrive(1, 64);", "if (t) named_barrier_arrive(1, 64);",
     "lacks (1|32) of 64|comes twice"),
    ("threads that are no warps", NAMED, "named_barrier_arrive(1, 64);", "named_barrier_arrive(1, 63);",
     "of 63 threads, expected a multiple of 32 up to 64"),
    ("no wait for the readers", NAMED, "if (i > 0) named_barrier(2, 64);", "",
     "race: writes byte|race: reads byte|comes twice"),
]  # fmt: skip
RUNS = {STORE: outcome, NAMED: turns}


@pytest.mark.parametrize(("body", "old", "new", "error"), [p[1:] for p in PLANTS], ids=[p[0] for p in PLANTS])
def test_the_bug_is_caught_in_every_order(body, old, new, error):
    assert body.count(old) == 1
    wrong = body.replace(old, new)
    for seed in SEEDS:
        with pytest.raises(EmulatorError, match=error):
            if body in RUNS:
                RUNS[body](wrong, seed)
            else:
                execute(shared(wrong), {"x": X, "y": np.full(768, np.nan, np.float32)}, ("y",), seed)
