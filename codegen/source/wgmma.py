"""The function `wgmma` of one size and type: its text lists a register for each sum, so no header has all sizes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from autotune.codegen.model.dtype import DType

ROWS = 64  # rows of A, and of the sums
K_BYTES = 32  # bytes of a product along k
LEAST_COLUMNS, MOST_COLUMNS = 8, 256  # columns of B: any multiple of the least

_NAMES: Mapping[DType, str] = {
    DType.FLOAT16: "f16",
    DType.BFLOAT16: "bf16",
    DType.FLOAT32: "tf32",  # the 13 lowest bits do not count
    DType.FLOAT8_E4M3: "e4m3",
    DType.FLOAT8_E5M2: "e5m2",
    DType.INT8: "s8",
    DType.UINT8: "u8",
}
_16_BITS = (DType.FLOAT16, DType.BFLOAT16)
_FLOAT8 = (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2)
_INTEGERS = (DType.INT8, DType.UINT8)
_FRAGMENT = 4  # registers of a thread that hold A


def violations(columns: int, a: DType, b: DType, *, m_adjacent: bool = False, n_adjacent: bool = False) -> list[str]:
    """Why wgmma has no such product, in one line each; see `wgmma_source`."""
    return [
        text
        for wrong, text in (
            (
                a not in _NAMES or not (a is b or {a, b} <= set(_FLOAT8) or {a, b} <= set(_INTEGERS)),
                f"wgmma does not multiply {a} by {b}",
            ),
            (
                columns % LEAST_COLUMNS != 0 or not LEAST_COLUMNS <= columns <= MOST_COLUMNS,
                f"wgmma of {columns} columns: expected 8, 16, … 256",
            ),
            (
                a in _INTEGERS and columns > 32 and columns % 16 != 0,
                f"wgmma of {columns} columns of {a}: expected a multiple of 16 beyond 32",
            ),
            (
                (m_adjacent or n_adjacent) and a not in _16_BITS,
                f"wgmma of {a}: expected k to be adjacent in both operands",
            ),
        )
        if wrong
    ]


def wgmma_source(
    columns: int,
    a: DType,
    b: DType,
    *,
    m_adjacent: bool = False,
    n_adjacent: bool = False,
    registers_a: bool = False,
    function: str = "wgmma",
) -> str:
    """The text of ``wgmma(d, a, b, accumulate)``: D = A·B, plus D if `accumulate` is not 0; see cuda/wgmma.cuh.

    It comes after cuda/wgmma.cuh. Two of them in one source differ in the size of `d`.

    Args:
        columns: of B and of D; ``d`` has half as many registers.
        a, b: the types of the operands; float32 stands for tf32.
        m_adjacent, n_adjacent: whether A lies with m adjacent, and B with n, rather than k.
        registers_a: whether A, of float32 or 16 bits, is in four registers of each thread: of its row lane / 4 of its
            warp's 16 and of the one 8 below in column lane % 4, then likewise 4 columns behind. A column is a register:
            an element of 32 bits, or two of 16.
        function: the name, of which a source has two whose `d` are of one size.

    Raises:
        ValueError: there is no such instruction.
    """
    for wrong in violations(columns, a, b, m_adjacent=m_adjacent, n_adjacent=n_adjacent):
        raise ValueError(wrong)
    if registers_a and (a.bytes == 1 or m_adjacent):
        raise ValueError(f"wgmma of {a} in registers: expected {DType.FLOAT32} or 16 bits, with k adjacent")
    integers = a in _INTEGERS
    sums, kind, constraint = columns // 2, "int" if integers else "float", "r" if integers else "f"
    terms = K_BYTES // a.bytes
    result = "s32" if integers else "f32"
    name = f"wgmma.mma_async.sync.aligned.m{ROWS}n{columns}k{terms}.{result}.{_NAMES[a]}.{_NAMES[b]}"
    registers = _wrapped(", ".join(f"%{index}" for index in range(sums)), '      "', ' "')
    held = _wrapped(", ".join(f'"+{constraint}"(d[{index}])' for index in range(sums)), "        ", "")
    flags = [] if integers else ["1", "1"]  # signs of A and B
    if a in _16_BITS:
        flags += [*([] if registers_a else [str(int(m_adjacent))]), str(int(n_adjacent))]
    given = _FRAGMENT if registers_a else 1  # operands that A takes
    left = [f"%{sums + index}" for index in range(given)]
    first = "{" + ", ".join(left) + "}" if registers_a else left[0]
    parameter = f"const unsigned (&a)[{_FRAGMENT}]" if registers_a else "unsigned long long a"
    passed = ", ".join(f'"r"(a[{index}])' for index in range(_FRAGMENT)) if registers_a else '"l"(a)'
    operands = ", ".join([first, f"%{sums + given}", "accumulate", *flags])
    form = ", ".join(
        [
            str(columns),
            *(f"Operand::{_NAMES[one]}" for one in (a, b)),
            *("true" if one else "false" for one in (m_adjacent, n_adjacent)),
        ]
    )
    return f"""// D = A·B, plus D if `accumulate` is not 0, for A of {ROWS}×{terms} and B of {terms}×{columns}.
__device__ __forceinline__ void {function}({kind} (&d)[{sums}], {parameter}, unsigned long long b,
{" " * len(function)}                                 int accumulate, int line = __builtin_LINE()) {{
#ifdef AUTOTUNE_EMULATOR
  using Operand = autotune_emulator::Operand;
  autotune_emulator::wgmma(d, a, b, accumulate != 0, {{{form}}}, line);
#else
  asm volatile(
      "{{.reg .pred accumulate; setp.ne.b32 accumulate, %{sums + given + 1}, 0; "
      "{name} {{"
{registers}
      "}}, {operands};}}"
      : {held.lstrip()}
      : {passed}, "l"(b), "r"(accumulate)
      : "memory");
#endif
}}
"""


def _wrapped(text: str, before: str, after: str) -> str:
    lines = textwrap.wrap(text, 96)
    return "\n".join(f"{before}{line}{after.rstrip() if line is lines[-1] else after}" for line in lines)
