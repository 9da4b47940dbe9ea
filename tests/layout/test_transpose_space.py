"""Which transpose schedules are legal, drawn and tried first."""

from dataclasses import replace
from itertools import product

import pytest
from transpose_cases import PROBLEMS

from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.model.hardware import BANKS, WARP, WORD_BYTES
from autotune.search_spaces.layout.transpose import OPERATOR
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
LARGE = TransposeProblem(16384, 32768)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tile_m=0", "tile_m 0: expected 1 or more"),
        ("tile_m=96 swizzle=1", "swizzle needs a power of two, not tile_m 96"),
        ("align_stores=16", "align_stores 16: expected one of 0, 32, 64, 128"),
        ("align_stores=32 swizzle=1", "swizzle excludes align_stores 32"),
        ("align_loads=32", "align_loads 32: expected one of 0, 4, 8, 16"),
        ("align_loads=16 swizzle=1", "swizzle excludes align_loads 16"),
        ("align_loads=16 tile_n=4", "tile_n 4 is not over the 4 elements in align_loads 16"),
        ("align_loads=4 vector_load=2", "vector_load 2 over the 1 elements that A is aligned for"),
        ("align_stores=128", "tile_m 32: expected a multiple of the 32 elements in align_stores 128, and more"),
        ("vector_load=0", "vector_load 0: expected 1 or more"),
        ("raster_group=0", "raster_group 0: expected 1 or more"),
        ("rows_per_thread=64", "tile_m 32 is not a multiple of rows_per_thread 64"),
        ("vector_store=4 rows_per_thread=2", "rows_per_thread 2 is not a multiple of vector_store 4"),
        ("vector_store=4 pad=2", "pad 2 is not a multiple of vector_store 4"),
        ("tile_n=2", "16 threads are not whole warps of 32"),
        ("swizzle=1 pad=1", "swizzle excludes pad 1"),
        ("vector_load=8", "vector_load 8 over the 4 elements that A is aligned for"),
        ("tile_m=256 tile_n=256 rows_per_thread=128", "shared memory 262144 B over the 232448 B a block may"),
        ("tile_m=128 tile_n=128", "4096 threads over the 1024 of a block"),
        ("min_blocks_per_sm=16", "min_blocks_per_sm 16 over the 8 blocks of 256 threads"),
    ],
)  # fmt: skip
def test_violations_carry_the_values(words: str, expected: str) -> None:
    found = OPERATOR.violations(LARGE, TransposeSchedule.parse(words.split()), H200)
    assert any(expected in line for line in found), found


@pytest.mark.parametrize(
    "words", ["", "align_stores=64", "align_stores=32 tile_m=64", "align_loads=16 tile_n=8", "swizzle=1 tile_m=64"]
)
def test_rules_ask_for_no_more(words: str) -> None:
    assert OPERATOR.violations(LARGE, TransposeSchedule.parse(words.split()), H200) == []


def test_grid_is_limited() -> None:
    assert OPERATOR.violations(TransposeProblem(2**20, 2**20, 1), TransposeSchedule(), H200) == []
    huge = OPERATOR.violations(TransposeProblem(2**21, 2**20, 1), TransposeSchedule(), H200)
    assert huge == ["2147483648 blocks over the 2147483647 of a grid"]


@pytest.mark.parametrize(("raster_group", "violations"), [(2**12 - 1, []), (2**12, ["4096 rows of 1048576 tiles"])])
def test_the_tiles_of_a_group_are_counted_in_32_bits(raster_group: int, violations: list[str]) -> None:
    found = OPERATOR.violations(
        TransposeProblem(1, 2**25, 1), TransposeSchedule(tile_n=32, raster_group=raster_group), H200
    )
    assert [line[: len("4096 rows of 1048576 tiles")] for line in found] == violations


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_checks_have_the_alignment_and_then_edges(problem: TransposeProblem) -> None:
    for schedule in OPERATOR.seeds(problem, H200):
        checks = [check for check, _ in OPERATOR.checks(problem, schedule)]
        assert {check.element_bytes for check in checks} == {problem.element_bytes}
        assert (checks[0].align_a, checks[0].align_b) == (problem.align_a, problem.align_b)
        assert checks[1].batch == 2
        assert checks[1].m % schedule.tile_m or schedule.tile_m == 1
        assert checks[1].n % schedule.tile_n or schedule.tile_n == 1


@pytest.mark.parametrize(
    ("m", "n", "size", "words"),
    [
        (10007, 5003, 1, "tile_n=128 rows_per_thread=16 vector_load=4 vector_store=16 pad=32 align_loads=4"),
        (10007, 5003, 2, "rows_per_thread=8 vector_load=2 vector_store=8 pad=16 align_loads=4"),
        (8191, 8193, 4, "rows_per_thread=8 vector_load=2 vector_store=4 pad=8 align_loads=8"),
        (50257, 768, 2, "tile_m=256 rows_per_thread=16 vector_load=2 vector_store=8 pad=32 align_stores=64"),
    ],
)
def test_the_fastest_where_rows_begin_anywhere_are_tried_first(m: int, n: int, size: int, words: str) -> None:
    same = TransposeSchedule(128, 64, align_stores=32, raster_group=256, min_blocks_per_sm=3)
    seeds = OPERATOR.seeds(TransposeProblem(m, n, size), H200)
    assert TransposeSchedule.parse(words.split(), same) in seeds[: len(seeds) // 2]


def wavefronts(addresses: list[int], access: int) -> int:
    """Most cycles that shared memory takes for the threads which it could serve in one, without conflicts."""
    served = min(WARP, BANKS * WORD_BYTES // access)
    most = 0
    for first in range(0, WARP, served):
        words = {(a + byte) // WORD_BYTES for a in addresses[first : first + served] for byte in range(access)}
        banks = [word % BANKS for word in words]
        most = max(most, *(banks.count(bank) for bank in banks))
    return most


def tile_address(schedule: TransposeSchedule, size: int, m: int, n: int) -> int:
    """The twin of tile_index in transpose.cuh."""
    group = n // schedule.vector_load
    column = m ^ (group * schedule.group_shift(size) % schedule.tile_m) if schedule.swizzle else m
    return (n * schedule.tile_m + group * schedule.pad + column) * size


def conflicts(schedule: TransposeSchedule, size: int) -> tuple[int, int]:
    """Wavefronts of the first warp's stores to the tile and of its loads from it."""
    stores = [
        (thread // schedule.lanes_n * schedule.vector_store, thread % schedule.lanes_n * schedule.vector_load)
        for thread in range(WARP)
    ]
    vectors = schedule.tile_m // schedule.vector_store
    loads = [(thread % vectors * schedule.vector_store, thread // vectors) for thread in range(WARP)]
    access = schedule.vector_store * size
    written, read = (
        wavefronts([tile_address(schedule, size, m, n) for m, n in pairs], access) for pairs in (stores, loads)
    )
    return written, read


WIDTHS = [
    (size, load, store) for size, load, store in product(ELEMENT_BYTES, repeat=3) if size * max(load, store) <= 16
]


@pytest.mark.parametrize(("size", "load", "store"), WIDTHS)
def test_threads_meet_in_no_bank(size: int, load: int, store: int) -> None:
    rows = max(4, store)
    for tile_m, lanes_n in product((32, 64, 128), (8, 16, 32)):
        plain = TransposeSchedule(tile_m, lanes_n * load, rows, load, store)
        padded = replace(plain, pad=plain.group_shift(size))
        assert conflicts(padded, size)[0] == 1
        if tile_m * size >= BANKS * WORD_BYTES:
            assert conflicts(replace(plain, swizzle=True), size) == (1, 1)
            assert conflicts(plain, size)[0] > 1
