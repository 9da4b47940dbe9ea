"""A radix sort of unsigned numbers: eight passes of one source, then a second program that writes them backwards."""

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Counting, InTurn, Launch, Memset, Repeat
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.plain_program import plain_program

DIGITS, BITS = 16, 4
COUNT = 300
_BODY = """
__device__ __forceinline__ unsigned digit(unsigned key, int shift) { return key >> shift & 15; }

__device__ __forceinline__ void count_digits(const Arguments& arguments) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own < arguments.count) atomicAdd(arguments.histogram + digit(arguments.source[own], arguments.shift), 1u);
}

// A thread for each digit, which keeps the order of its keys.
__device__ __forceinline__ void scatter_keys(const Arguments& arguments) {
  unsigned next = 0;
  for (unsigned below = 0; below < threadIdx.x; ++below) next += arguments.histogram[below];
  for (int i = 0; i < arguments.count; ++i) {
    const unsigned key = arguments.source[i];
    if (digit(key, arguments.shift) == threadIdx.x) arguments.target[next++] = key;
  }
}
"""
_REVERSE = """
extern "C" __global__ void reverse(const Arguments arguments) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own < arguments.count) arguments.y[own] = arguments.sorted[arguments.count - 1 - own];
}
"""


def sort(steps=None, count=COUNT):
    """``sorted`` gets the numbers of ``x``; ``ping`` and ``histogram`` are scratch, which `in_workspace` is to find."""
    members = (
        Argument("source", "const unsigned*"),
        Argument("target", "unsigned*"),
        Argument("histogram", "unsigned*"),
        Argument("shift", "int"),
        Argument("count", "int", count),
    )
    calls = {COUNTING: "count_digits(arguments);", SCATTERING: "scatter_keys(arguments);"}
    return plain_program("sort", members, "", _BODY, calls, steps=steps or passes())


COUNTING = Launch("count", (3, 1, 1), (128, 1, 1))
SCATTERING = Launch("scatter", (1, 1, 1), (DIGITS, 1, 1))


def passes(start=2 * BITS, step=BITS, times=6):
    """Two passes from x, and six from where the last one has put the numbers."""
    turns = ("sorted", "ping")
    return (
        *_pass(0, source="x", target="ping"),
        *_pass(BITS, source="ping", target="sorted"),
        Repeat(times, _pass(Counting(start, step), source=InTurn(turns), target=InTurn(turns[::-1]))),
    )


def _pass(shift, **arrays):
    counting = COUNTING.taking(source=arrays["source"], target=None, shift=shift)
    return Memset(0, 4 * DIGITS, region="histogram"), counting, SCATTERING.taking(shift=shift, **arrays)


def reverse(count=COUNT):
    """``y`` gets the numbers of ``sorted``."""
    members = (Argument("sorted", "const unsigned*"), Argument("y", "unsigned*"), Argument("count", "int", count))
    return Program(f"{cuda_arguments(members)}\n{_REVERSE}", members, (Launch("reverse", (3, 1, 1), (128, 1, 1)),))


def sorted_backwards(first=None):
    """``y`` gets the numbers of ``x``, the largest first."""
    numbers = 4 * COUNT
    return (first or sort()).then(reverse()).in_workspace(ping=numbers, sorted=numbers, histogram=4 * DIGITS)
