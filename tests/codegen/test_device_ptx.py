"""The PTX of the device headers, which the emulator's twins stand in for: every instruction with its operands.

``device_ptx.toml`` lists uses of the headers and what becomes of them on an architecture and on all newer ones, up to
the next that is listed. A use lies between two stores to the same word. The first one is listed as ``before`` if it
must stay, since the use may read it or wait for it; the compiler drops it where it can.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from ptx_effects import effects

from autotune.codegen.source import emission
from autotune.codegen.source.emission import inlined
from autotune.contract.nvrtc import compiled_ptx

CUDA = Path(emission.__file__).parents[1] / "cuda"
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_120")
PINNED = tomllib.loads(Path(__file__).with_name("device_ptx.toml").read_text())
USES = [(header, use) for header, uses in PINNED.items() for use in uses]
PARAMETERS = ("word", "out", "global", "number", "wide", "x", "z")
ENTRY = """
extern "C" __global__ void use_{index}(int* word, float* out, const float* global, int number, long long wide, float x,
                                       float z) {{
  float* shared = dynamic_shared<float>();
  Barrier* barrier = reinterpret_cast<Barrier*>(shared + 8);
  *word = 1;
  {use}
  *word = 2;
}}
"""


@cache
def compiled(arch):
    entries = "".join(ENTRY.format(index=index, use=use["use"]) for index, (_, use) in enumerate(USES))
    return compiled_ptx(inlined(*(f"cuda/{header}.cuh" for header in PINNED)) + entries, arch)


@cache
def found(arch):
    marks = {"st.global.b32 [word], 1": "before", "st.global.b32 [word], 2": "after"}
    return {
        entry: [marks.get(effect, effect) for effect in listed]
        for entry, listed in effects(compiled(arch), PARAMETERS).items()
    }


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("index", "use"), list(enumerate(use for _, use in USES)), ids=[use["use"] for _, use in USES])
def test_a_use_becomes_these_instructions(index, use, arch):
    listed = [use[known] for known in ARCHS[: ARCHS.index(arch) + 1] if known in use]
    if listed:
        assert found(arch)[f"use_{index}"] == [*listed[-1], "after"]


def test_shared_memory_is_aligned():
    for arch in ARCHS:
        aligned = re.findall(r"\.extern \.shared \.align (\d+) \.b8 (\w+)\[\]", compiled(arch))
        assert set(aligned) == {("16", "shared_bytes"), ("1024", "tile_bytes")}


def test_volatile_assembly_clobbers_memory():
    """NVRTC keeps accesses on their side of volatile assembly in any case, though it need not: no PTX shows this."""
    for path in sorted(CUDA.glob("*.cuh")):
        for statement in re.findall(r"asm volatile\((.*?)\);", path.read_text(), re.DOTALL):
            template = statement.split("::")[0]
            nothing = template.startswith(('"" :', '"prefetch'))
            assert '"memory"' in statement or nothing, f"{path.name}: {statement}"
