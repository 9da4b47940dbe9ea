"""A product by tensor copies, mbarriers and wgmma: what it computes, and what it may not forget."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from tensor_programs import execute, tensor_program
from tile_product import BODY, K, M, N, tile_product

from autotune.compiler import CompileError, compile_kernel
from autotune.emulator import EmulatorError

SEEDS = range(3)
RANDOM = np.random.default_rng(0)
A, B = (RANDOM.integers(-2, 3, shape).astype(ml_dtypes.bfloat16) for shape in ((M, K), (N, K)))
EXPECTED = A.astype(np.float32) @ B.astype(np.float32).T


def outcome(body=BODY, seed=0, threads=256):
    d = np.full(M * N, np.nan, np.float32)
    execute(tile_product(body, threads), {"x": A.ravel(), "y": B.ravel(), "z": d}, ("z",), seed)
    return d.reshape(M, N)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_product_is_exact(seed):
    np.testing.assert_array_equal(outcome(seed=seed), EXPECTED)


def test_it_compiles():
    assert compile_kernel(tile_product(), "sm_90").resources.spill_store_bytes == 0


def test_a_kernel_whose_products_are_serialised_does_not_compile():
    with pytest.raises(CompileError, match=r"lost performance \(C\d+\): wgmma.mma_async instructions are serialized"):
        compile_kernel(tile_product(BODY.replace("wgmma_wait<0>(d);", "d[3] += 1;")), "sm_90")


def test_a_kernel_whose_setmaxnreg_is_ignored_does_not_compile():
    program = tile_product()
    unbounded = replace(program, source=program.source.replace("__launch_bounds__(256, 1)", ""))
    with pytest.raises(CompileError, match=r"lost performance \(C\d+\): 'setmaxnreg' ignored"):
        compile_kernel(unbounded, "sm_90")


# Threads write A themselves, as a copy of what the tensor copy brought.
WRITTEN = BODY.replace(
    "      wgmma_fence(d);",
    """      for (int i = t - 128; i < 2048; i += 128) {
        volatile unsigned* words = reinterpret_cast<unsigned*>(tile + 8192 * stage);
        words[i] = words[i];
      }
      proxy_fence();
      named_barrier(2, 128);
      wgmma_fence(d);""",
)
# One product of each step is under way while the next is issued.
DEEP = BODY.replace(
    "wgmma_wait<0>(d);\n      empty[stage].arrive();",
    "wgmma_wait<1>();\n      if (step > 0) empty[stage ^ 1].arrive();",
)
DEEP = DEEP.replace("    const int lane", "    wgmma_wait<0>(d);\n    const int lane")


@pytest.mark.parametrize("body", [WRITTEN, DEEP], ids=["written by threads", "a group under way"])
def test_other_ways_are_exact(body):
    np.testing.assert_array_equal(outcome(body, 2), EXPECTED)


PLANTS = [
    ("no wait for the tiles", BODY, "full[stage].wait(step / 2 % 2);", "", "is not waited for|race: |no barrier"),
    ("parity of the full barriers", BODY, "full[stage].wait(step / 2 % 2);", "full[stage].wait(step / 2 % 2 ^ 1);",
     "is not waited for|race: |for ever"),
    ("parity by the step", BODY, "full[stage].wait(step / 2 % 2);", "full[stage].wait(step % 2);",
     "is not waited for|race: |for ever"),
    ("parity of the empty barriers", BODY, "step / 2 % 2 ^ 1", "step / 2 % 2",
     "for ever at line .* lacks 128 arrivals"),
    ("no wait for the consumers", BODY, "empty[stage].wait(step / 2 % 2 ^ 1);", "",
     "race: |is not waited for|for ever|all have arrived"),
    ("no arrival of the consumers", BODY, "empty[stage].arrive();", "", "lacks 128 arrivals"),
    ("arrival before the products are done", BODY, "wgmma_wait<0>(d);\n      empty[stage].arrive();",
     "empty[stage].arrive();\n      wgmma_wait<0>(d);", "race: writes byte .* which a wgmma read, with no wait for it"),
    ("a group too many under way", BODY, "wgmma_wait<0>(d);", "wgmma_wait<1>();",
     "race: writes byte .* which a wgmma read, with no wait|sum .* of a wgmma that is not waited for"),
    ("sums of a group under way", BODY, "wgmma_wait<0>(d);", "wgmma_wait<1>(d);", "waits for sums of which a wgmma is"),
    ("stage of the running group released", DEEP, "empty[stage ^ 1].arrive", "empty[stage].arrive",
     "race: writes byte .* which a wgmma read, with no wait|lacks|all have arrived"),
    ("last group not waited for", DEEP, "    wgmma_wait<0>(d);\n    const", "    const",
     "sum .* of a wgmma that is not waited for"),
    ("group not committed", BODY, "wgmma_commit();", "", "sums of which a wgmma is under way"),
    ("no fence", BODY, "wgmma_fence(d);", "", "wgmma with no wgmma_fence before"),
    ("sums changed after the fence", BODY, "wgmma_fence(d);", "wgmma_fence(d); if (step) d[5] *= 2;",
     "sums that were accessed since the last wgmma_fence"),
    ("sums read too early", BODY, "wgmma_commit();", "wgmma_commit(); d[7] += 1;",
     "reads sum 7 of a wgmma that is not waited for"),
    ("stride of half a group", BODY, "tile + 8192 * stage, 0, 1024", "tile + 8192 * stage, 0, 512",
     "the groups of A are 512 and 0 bytes apart: expected multiples of 1024"),
    ("another swizzle", BODY, "matrix_descriptor<128>(tile + 8192", "matrix_descriptor<64>(tile + 8192",
     "a wgmma reads byte .* with a swizzle of 64 bytes, which a bulk copy wrote with one of 128"),
    ("k in elements times four", BODY, "advanced(a, 2 * k)", "advanced(a, 4 * k)", "in row 1 of 8 of its swizzle"),
    ("an odd address", BODY, "advanced(b, 2 * k)", "advanced(b, 2 * k) | 1ull << 15", "bits that belong to no field"),
    ("base offset", BODY, "advanced(b, 2 * k)", "advanced(b, 2 * k) | 1ull << 49", "of B has a base offset of 1"),
    ("operand beyond shared memory", BODY, "advanced(b, 2 * k)", "advanced(b, 2 * k + 65536)",
     "reads bytes .* has 32800"),
    ("operands of a thread", BODY, "advanced(b, 2 * k)", "advanced(b, 2 * k + t / 255 * 1024)",
     "other operands than those of other threads"),
    ("three warps", BODY, "wgmma(d,", "if (t >= 160) wgmma(d,", "96 of the 128 threads of its warpgroup|divergent"),
    ("part of a block", BODY, "if (t < 128) {", "if (t < 0) {", "takes|for ever|divergent|all have arrived"),
    ("no fence after init", BODY, "    }\n    proxy_fence();\n  }", "    }\n  }",
     "initialised with no proxy fence since"),
    ("no fence after writes of an operand", WRITTEN, "      proxy_fence();\n      named", "      named",
     "a wgmma reads byte .* wrote, with no proxy fence"),
    ("no barrier after writes of an operand", WRITTEN, "named_barrier(2, 128);", "",
     "race: reads byte .* with no barrier"),
    ("no fence before the store", BODY, "proxy_fence();\n    named", "named", "a bulk store reads .* no proxy fence"),
    ("no barrier before the store", BODY, "named_barrier(1, 128);", "", "race: |no proxy fence"),
    ("no wait for the store", BODY, "store_wait_read<0>();", "", "ends while its bulk store may read"),
    ("registers by a warp", BODY, "give_up_registers<40>();", "if (t < 32) give_up_registers<40>();",
     "32 of the 128 threads of its warpgroup have come to the setmaxnreg"),
    ("tile at 512", BODY, "tile + 16384 + 8192 * stage, arg", "tile + 16896 + 8192 * stage, arg",
     "not aligned to 1024"),
    ("bytes of three tiles expected", BODY, "expect(16384)", "expect(24576)", "lacks 0 arrivals and 8192 bytes"),
    ("bytes of one tile expected", BODY, "expect(16384)", "expect(8192)", "-8192 bytes|is not waited for|race: "),
]  # fmt: skip


@pytest.mark.parametrize(("body", "old", "new", "error"), [p[1:] for p in PLANTS], ids=[p[0] for p in PLANTS])
def test_the_bug_is_caught(body, old, new, error):
    assert body.count(old) == 1
    for seed in SEEDS[:2]:
        with pytest.raises(EmulatorError, match=error):
            outcome(body.replace(old, new), seed)


REGISTERS = "if (t < 128) { give_up_registers<24>(); } else { take_registers<240>(); }"


def test_some_warpgroups_take_the_registers_that_others_give_up():
    def registers(body):
        execute(
            tensor_program(body, {}, {"y": "float*"}, threads=384, headers=("register_count",)),
            {"y": np.zeros(1, np.float32)},
            ("y",),
        )

    registers(REGISTERS)
    with pytest.raises(EmulatorError, match="takes 240 registers where it has 168, and 40 are free"):
        registers(REGISTERS.replace("<24>", "<56>"))
    with pytest.raises(EmulatorError, match="takes 240 registers where it has 168, and 0 are free"):
        registers(REGISTERS.replace("give_up_registers<24>();", ""))


WRONG = [
    ("sums begin with what was there", "step + k > 0", "1"),
    ("k in elements", "advanced(a, 2 * k)", "advanced(a, k)"),
    ("half of k", "k < 64", "k < 32"),
    ("a group of rows twice", "tile + 8192 * stage, 0, 1024", "tile + 8192 * stage, 0, 0"),
]


@pytest.mark.parametrize(("old", "new"), [p[1:] for p in WRONG], ids=[p[0] for p in WRONG])
def test_the_bug_shows_in_the_sums(old, new):
    assert BODY.count(old) == 1
    assert not np.array_equal(outcome(BODY.replace(old, new)), EXPECTED)
