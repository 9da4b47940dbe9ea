"""Every header of codegen/cuda compiles for every architecture: one kernel uses them all."""

import pytest

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined
from autotune.compiler import compile_kernel

ARGUMENTS = (Argument("x", "const void*"), Argument("y", "float*"))
# What the kernel does with each header; `t` is the thread.
USES = {
    "packed": "",
    "read_once": """
        store_global<false>(y + 8 * t, load_once<2, false>(static_cast<const float*>(arguments.x) + 8 * t));
        store_global<false>(y + 8 * t + 4, load_once<4, true>(static_cast<const float*>(arguments.x) + 8 * t));
    """,
    "numbers": """
        const auto halves = load_global<8, true>(static_cast<const float16*>(arguments.x) + 8 * t);
        float values[8];
        to_floats(values, halves.elements);
        Packed<bfloat16, 8> rounded;
        from_floats(rounded.elements, values);
        rounded.elements[3] = from_float_saturated<bfloat16>(values[4]);
        store_global<false>(reinterpret_cast<bfloat16*>(y) + 8 * t, rounded);
        Packed<float16, 8> rounded_too;
        from_floats(rounded_too.elements, values);
        store_global<false>(reinterpret_cast<float16*>(y) + 8 * t + 999, rounded_too);
    """,
    "math": "y[t] = exp2_flushed(y[t] * log2_e) + min_nan(expf(y[t]), max_nan(logf(y[t]), -infinity()));",
    "special_functions": "y[t] = reciprocal(y[t]);",
    "streamed": "y[t] += load_streamed<StreamedLoad::no_allocate>(reinterpret_cast<const uint2*>(y) + t).x;",
    "shared_memory": "",
    "row_reduce": """
        y[t] = reduce_row<256>(softmax_term(y[t]), AddSoftmaxSums(), dynamic_shared<SoftmaxSum>()).sum;
        y[t] += reduce_lanes<8>(Indexed<float, long long>{y[t], t}, ArgMax()).index;
        y[t] += reduce_cluster<16>(y[t], Min(), dynamic_shared<float>(), *dynamic_shared<Barrier>());
    """,
    "tensor_copy": """
        Barrier* barrier = tile_memory<Barrier>();
        if (t == 0) {
          barrier->init(2);
          proxy_fence();
          barrier->arrive();
          barrier->arrive_and_expect(16);
          bulk_copy(barrier + 2, arguments.x, 16, *barrier);
        }
        __syncthreads();
        barrier->wait(0);
    """,
    "acquire_release": """
        store_release(reinterpret_cast<long long*>(y), load_acquire(reinterpret_cast<const long long*>(y + 2)));
        store_release(reinterpret_cast<unsigned*>(y), load_acquire(reinterpret_cast<const unsigned*>(y + 2)));
    """,
    "tickets": """
        int* counter = reinterpret_cast<int*>(y + 256);
        int sum = t;
        reduce_blocks<256>(sum, 0, Sum(), blockIdx.x, gridDim.x, counter + 1, counter, dynamic_shared<int>());
        y[t] += sum;
    """,
}


def every_header():
    body = "\n".join(f"{{{use}}}" for use in USES.values())
    text = f"""{inlined(*(f"cuda/{name}.cuh" for name in USES))}
{cuda_arguments(ARGUMENTS)}
extern "C" __global__ void __launch_bounds__(256) kernel(const Arguments arguments) {{
  const int t = threadIdx.x;
  float* y = arguments.y;
  {body}
}}
"""
    return Program(text, ARGUMENTS, (Launch("kernel", (1, 1, 1), (256, 1, 1)),))


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_every_header_compiles(arch):
    assert compile_kernel(every_header(), arch).resources.spill_store_bytes == 0
