"""The digest of machine code tells kernels apart by what a GPU executes, and by nothing else."""

from dataclasses import replace

import pytest

from autotune.codegen.model.program import Launch, Program
from autotune.compiler import compile_kernel
from autotune.machine_code import machine_code_digest


def kernel(entry, before="", arch="sm_75"):
    source = f'{before}extern "C" __global__ void {entry}'
    return compile_kernel(Program(source, (), (Launch("probe", (1, 1, 1), (32, 1, 1)),)), arch)


@pytest.fixture(scope="module")
def probe():
    return kernel("probe(int* out) { const int value = 1; *out = value; }")


def test_names_and_compilers_make_no_difference(probe):
    other = kernel("probe(int* renamed) {\n  *renamed = 1;\n}")
    assert machine_code_digest(replace(other, compiler="NVRTC 1.0")) == machine_code_digest(probe)


def test_instructions_constants_registers_and_shared_memory_do(probe):
    body = "probe(int* out) { *out = table[threadIdx.x]; }"
    others = [
        kernel("probe(int* out) { *out = 2; }"),
        *(kernel(body, f"__constant__ int table[2] = {{0, {value}}};\n") for value in (1, 2)),
        replace(probe, resources=replace(probe.resources, registers=99)),
        replace(probe, resources=replace(probe.resources, shared_bytes=99)),
        replace(probe, cubin=b"no ELF file"),
    ]
    assert len({machine_code_digest(one) for one in (probe, *others)}) == 7


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_variables_count_if_an_instruction_reads_them(arch):
    table = "constexpr int table[4] = {{0, 1, 2, {}}};\n__device__ int counter = {};\n"
    for body, ways in (
        ("*out = table[0] + n;", 1),
        ("*out = table[n];", 2),
        ("if (n > 4) *out = table[n] + table[n + 1];", 2),
        ("*out = atomicAdd(&counter, n);", 2),
        ("if (n > 4) counter = n; else *out = counter;", 2),
    ):
        versions = [(table.format(3, 5), "a"), (table.format(9, 7), "ab")]
        made = [
            kernel(
                f"probe(int* out, int n) {{ {body} }}",
                text + f"struct Facts {{ static constexpr int {name} = 1; }};\n",
                arch,
            )
            for text, name in versions
        ]
        assert len({machine_code_digest(one) for one in made}) == ways, body
