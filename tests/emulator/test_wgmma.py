"""codegen/source/wgmma.py and its twin: what each form multiplies, by the layouts of the PTX manual."""

import re

import numpy as np
import pytest
from refusals import refused
from tensor_programs import execute, tensor_program
from wgmma_forms import FORMS, Form

from autotune.codegen.model.dtype import DType
from autotune.codegen.source.wgmma import violations, wgmma_source
from autotune.contract.nvrtc import compiled_ptx

FLOAT8 = Form(DType.FLOAT8_E4M3, DType.FLOAT8_E4M3, 8)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_products_are_exact(form):
    arrays = form.arrays()
    execute(form.program(), arrays, ("z",))
    np.testing.assert_array_equal(arrays["z"].reshape(64, form.columns), form.expected(arrays))


@pytest.mark.parametrize(("form", "bits"), [(FORMS[0], 21), (FLOAT8, 9)], ids=str)
def test_sums_of_random_numbers_are_those_of_the_unit(form, bits):
    arrays = form.arrays(1, small=False)
    execute(form.program(), arrays, ("z",))
    error = abs(arrays["z"].reshape(64, 8) - form.expected(arrays))
    sizes = form.expected({name: abs(array.astype(np.float32)) for name, array in arrays.items()})
    assert 0 < (error / sizes).max() < 2.0**-bits


def sum_of(form, a, b):
    """The sum of products of the first terms of a row and of a column."""
    arrays = form.arrays()
    for name, values in (("x", a), ("y", b)):
        arrays[name][:] = 0
        arrays[name][: len(values)] = values
    execute(form.program(), arrays, ("z",))
    return float(arrays["z"][0])


def test_sums_are_cut_off():
    """As tensor cores do it: a kernel may not rely on rounding to nearest."""
    assert sum_of(FORMS[0], [1, 2.0**-12, 2.0**-12], [1, 2.0**-12, 2.0**-13]) == 1


def test_sums_of_float8_keep_14_bits():
    assert sum_of(FLOAT8, [8, 0.125], [8, 0.0625]) == 64 + 2.0**-7
    assert sum_of(FLOAT8, [8, 0.125], [8, 0.03125]) == 64


def test_float8_has_numbers_below_its_normal_ones():
    assert sum_of(FLOAT8, [3 * 2.0**-9], [1]) == 3 * 2.0**-9
    assert sum_of(Form(DType.FLOAT8_E5M2, DType.FLOAT8_E5M2, 8), [3 * 2.0**-16], [1]) == 3 * 2.0**-16


def test_tf32_drops_its_lowest_bits():
    assert sum_of(Form(DType.FLOAT32, DType.FLOAT32, 8), [1 + 2.0**-10 + 2.0**-11], [1]) == 1 + 2.0**-10


test_what_is_no_instruction_is_refused = refused(
    wgmma_source,
    [
        ((12, DType.BFLOAT16, DType.BFLOAT16), "12 columns: expected 8, 16, … 256"),
        ((264, DType.BFLOAT16, DType.BFLOAT16), "264 columns"),
        ((40, DType.INT8, DType.INT8), "40 columns of int8: expected a multiple of 16 beyond 32"),
        ((64, DType.BFLOAT16, DType.FLOAT16), "does not multiply bfloat16 by float16"),
        ((64, DType.INT32, DType.INT32), "does not multiply int32 by int32"),
    ],
)


def test_k_is_adjacent_in_operands_of_8_bits():
    assert violations(64, DType.INT8, DType.INT8, n_adjacent=True) == [
        "wgmma of int8: expected k to be adjacent in both operands"
    ]


PTX = {
    Form(DType.BFLOAT16, DType.BFLOAT16, 8, m_adjacent=True): (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {D}, A, B, accumulate, 1, 1, 1, 0;"
    ),
    Form(DType.FLOAT32, DType.FLOAT32, 16): (
        "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {D}, A, B, accumulate, 1, 1;"
    ),
    Form(DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, 24): (
        "wgmma.mma_async.sync.aligned.m64n24k32.f32.e4m3.e5m2 {D}, A, B, accumulate, 1, 1;"
    ),
    Form(DType.FLOAT32, DType.FLOAT32, 8, registers_a=True): (
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {D}, {A}, B, accumulate, 1, 1;"
    ),
    Form(DType.FLOAT16, DType.FLOAT16, 64, n_adjacent=True, registers_a=True): (
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {D}, {A}, B, accumulate, 1, 1, 1;"
    ),
    Form(DType.INT8, DType.UINT8, 16): ("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8 {D}, A, B, accumulate;"),
}


ORDER = {
    "wgmma_fence(d);": "wgmma.fence.sync.aligned;",
    "wgmma_commit();": "wgmma.commit_group.sync.aligned;",
    "wgmma_wait<2>();": "wgmma.wait_group.sync.aligned 2;",
    "give_up_registers<24>();": "setmaxnreg.dec.sync.aligned.u32 24;",
    "take_registers<240>();": "setmaxnreg.inc.sync.aligned.u32 240;",
}


def test_what_orders_products_becomes_these_instructions():
    program = tensor_program(
        "float d[4];\n" + "\n".join(ORDER), {}, {"y": "float*"}, headers=("wgmma", "register_count")
    )
    lines = [line.strip() for line in compiled_ptx(program.source, "sm_90a").splitlines()]
    assert [line for line in lines if line.startswith(("wgmma", "setmaxnreg"))] == list(ORDER.values())


@pytest.mark.parametrize("form", PTX, ids=str)
def test_a_product_becomes_this_instruction(form):
    ptx = compiled_ptx(form.program().source, "sm_90a")
    products = re.findall(r"\{\.reg \.pred accumulate; setp\.ne\.b32 accumulate, %r\d+, 0; (.*?)\}\n", ptx)
    sums = rf"\{{(?:%[rf]\d+(?:, | )?){{{form.columns // 2}}}\}}"
    for product in products:
        instruction = re.sub(r"(, )%rd\d+, %rd\d+", r"\1A, B", re.sub(sums, "{D}", product, count=1))
        instruction = re.sub(r"\{(?:%r\d+(?:, )?){4}\}, %rd\d+", "{A}, B", instruction)
        assert instruction == PTX[form]
    assert len(products) == 4
