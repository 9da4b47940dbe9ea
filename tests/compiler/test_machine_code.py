"""The digest of machine code tells kernels apart by what a GPU executes, and by nothing else."""

from dataclasses import replace

import pytest

from autotune.codegen.model.program import Launch, Program
from autotune.compiler import compile_kernel
from autotune.machine_code import machine_code_digest


def kernel(entry, before=""):
    source = f'{before}extern "C" __global__ void {entry}'
    return compile_kernel(Program(source, (), (Launch("probe", (1, 1, 1), (32, 1, 1)),)), "sm_75")


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
