"""Which sgemm schedules are legal: each rule by a schedule that breaks it, and no other."""

import pytest

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.sgemm.legal import constraints

H200, T4 = named_device("h200"), named_device("t4")
ASYNC = "copy_a=async_copy copy_b=async_copy vector_a=1"


def found(words, *, spec=H200, m=1024, n=1024, k=1024, **fields):
    return constraints(SgemmProblem(m, n, k, **fields), SgemmSchedule.parse(words.split()), spec)


@pytest.mark.parametrize(
    ("words", "violation"),
    [
        ("BM=48", "block_m 48 is not a multiple of warp_m 32"),
        ("BN=96", "block_n 96 is not a multiple of warp_n 64"),
        ("TM=24", "warp_m 32 is not a multiple of thread_m 24"),
        ("WN=32 TN=12", "warp_n 32 is not a multiple of thread_n 12"),
        ("TM=4", "a warp of 32×64 with threads of 4×8 has 64 thread tiles, which does not divide 32"),
        ("BK=2", "block_k 2 is not a multiple of 4·warps_k, 4"),
        ("BK=8 warps_k=4", "block_k 8 is not a multiple of 4·warps_k, 16"),
        ("BK=4 WM=16", "block_k 4 is not a multiple of 4·warps_k·2 lanes, 8"),
        ("TN=2 WN=16", "vector_c 4 over the 2 elements of a strip of thread_n 2"),
        (
            "copy_a=async_copy swizzle_a=1 pad_a=0",
            "swizzle_a excludes asynchronous vectors along k, whose tile is not transposed",
        ),
        ("BN=66 WN=2 TN=2 TM=2 vector_c=2", "block_n 66 is not a multiple of vector_b 4"),
        ("pad_a=2", "pad_a 2 is not a multiple of the 4 elements of an access"),
        ("pad_b=2", "pad_b 2 is not a multiple of the 4 elements of an access"),
        ("pad_b=2 TN=2 WN=16 vector_c=2", "pad_b 2 is not a multiple of the 4 elements of an access"),
        ("swizzle_a=1", "swizzle_a excludes pad_a 4"),
        ("swizzle_b=1 pad_b=4", "swizzle_b excludes pad_b 4"),
        ("swizzle_a=1 pad_a=0 BM=16 WM=16 TM=4", "swizzle_a needs a block_m that is a multiple of 32, not 16"),
        ("swizzle_b=1 WN=16 BN=16 TN=4 TM=4", "swizzle_b needs a block_n that is a multiple of 32, not 16"),
        ("swizzle_b=1 warps_k=2", "swizzle_b excludes a tile split in 2 along k"),
        ("swizzle_b=1 WM=16", "swizzle_b excludes a tile split in 2 along k"),
        ("swizzle_a=1 pad_a=0 BK=12", "swizzle_a needs a block_k that is a power of two, not 12"),
        ("copy_b=direct TN=2 WN=16 vector_c=2", "a direct vector_b 4 over the 2 elements of a strip"),
        ("copy_a=direct", "a direct A has no tile to pad or to swizzle"),
        ("copy_b=direct swizzle_b=1", "a direct B has no tile to pad or to swizzle"),
        ("copy_b=direct stages=1 double_buffer_fragments=0", "a direct B needs 2 stages or more, not 1"),
        ("copy_a=direct pad_a=0 copy_b=direct", "A and B cannot both be direct"),
        ("stages=1", "double_buffer_fragments needs 2 stages or more, not 1"),
        (f"copy_steps=32 {ASYNC}", "copy_steps 32 over the 16 steps along k that a thread takes"),
        ("copy_steps=2", "copy_steps 2 needs asynchronous copies of A and B, and 2 stages or more"),
        (f"copy_steps=2 {ASYNC} stages=1 double_buffer_fragments=0", "copy_steps 2 needs asynchronous copies of A and"),
        ("ffma_order=zigzag TM=1 WM=4", "zigzag needs an even thread tile, not 1×8"),
        ("ffma_order=zigzag TN=1 WN=8 vector_c=1", "zigzag needs an even thread tile, not 8×1"),
        ("cluster_k=3", "cluster_k 3 is not one of 1, 2, 4, 8"),
        ("cluster_k=2 grid_blocks=3", "grid_blocks 3 is not a multiple of cluster_k 2"),
        ("grid_blocks=4097", "4097 clusters over the 4096 steps along k of all tiles"),
    ],
)
def test_each_rule_is_broken_alone(words, violation):
    assert [line[: len(violation)] for line in dict.fromkeys(found(words))] == [violation]


@pytest.mark.parametrize(
    "words", ["", "TM=1 WM=4", "ffma_order=zigzag", "copy_a=direct pad_a=0 TM=2 WM=8", "swizzle_b=1", "copy_b=direct"]
)
def test_rules_ask_for_no_more(words):
    assert found(words) == []
    assert found(words, spec=T4) == []


def test_a_warp_smaller_than_a_thread_tile_is_no_error():
    assert len(found("TM=64")) == 2


@pytest.mark.parametrize("operand", "abc")
def test_vectors_are_no_wider_than_the_alignment(operand):
    violation = f"vector_{operand} 4 over the 2 elements that {operand.upper()} is aligned for"
    assert found("", **{f"align_{operand}": 8}) == [violation]


def test_a_k_major_tile_is_told_by_its_layout():
    words = "copy_b=async_copy TN=2 WN=16 vector_c=2 pad_b=2"
    assert found(f"{words} vector_b=2") == []
    assert found(f"{words} vector_b=2", transpose_b=True) == [
        "pad_b 2 is not a multiple of the 4 elements of an access"
    ]
    assert found(f"{words} vector_b=1", transpose_b=True) == []


def test_asynchronous_copies_need_a_device_that_has_them():
    assert found("copy_b=async_copy", spec=T4) == ["cp.async needs sm_80 or newer, not sm_75"]


def test_the_grid_is_limited():
    words, side = "cluster_k=8 BM=16 BN=16 WM=16 WN=16 TM=4 TN=4", 2**18
    assert found(words, m=side, n=side - 64, k=64) == []
    assert found(words, m=side, n=side, k=64) == [
        "268435456 tiles of 8 blocks and grid_blocks 0 over the 2147483647 blocks of a grid",
    ]
    assert found("grid_blocks=64", m=8, n=8, k=8, batch=2**31 - 64) == [
        "2147483584 tiles of 1 blocks and grid_blocks 64 over the 2147483647 blocks of a grid",
    ]


def test_steps_of_shared_tiles_are_counted_in_31_bits():
    words, long = "BK=4 vector_a=1 grid_blocks={}", 2**31 - 1
    assert found(words.format(1), k=long) == []
    assert found(words.format(2), k=long) == [
        "grid_blocks 2 with 536870912 steps along k a tile is over 2147483647 steps"
    ]


def test_the_workspace_is_limited():
    legal, more = (found(f"grid_blocks={blocks}", m=2**17, n=2**17) for blocks in (8000, 9000))
    assert legal == []
    assert more == ["grid_blocks 9000 needs 1179792000 B of workspace, over 1073741824 B"]
