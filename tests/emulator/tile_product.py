"""A small product of matrices as Hopper's kernels do it: D = A·Bᵀ of bfloat16, sums of float."""

from tensor_programs import tensor_program

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.wgmma import wgmma_source

M, N, K = 100, 72, 200
BLOCKS = 4

# One warpgroup brings tiles of 64 by 64 in two stages, the other multiplies; the sums leave through the stages.
BODY = """
  Barrier* full = reinterpret_cast<Barrier*>(tile + 32768);
  Barrier* empty = full + 2;
  const int row = 64 * (blockIdx.x % 2), column = 64 * (blockIdx.x / 2);
  if (t == 0) {
    for (int stage = 0; stage < 2; ++stage) {
      full[stage].init(1);
      empty[stage].init(128);
    }
    proxy_fence();
  }
  __syncthreads();
  if (t < 128) {
    give_up_registers<40>();
    for (int step = 0; t == 0 && step < STEPS; ++step) {
      const int stage = step % 2;
      empty[stage].wait(step / 2 % 2 ^ 1);
      full[stage].arrive_and_expect(16384);
      tensor_copy(tile + 8192 * stage, arguments.a, {row, 64 * step}, full[stage]);
      tensor_copy(tile + 16384 + 8192 * stage, arguments.b, {column, 64 * step}, full[stage]);
    }
  } else {
    take_registers<232>();
    float d[32];
    for (int step = 0; step < STEPS; ++step) {
      const int stage = step % 2;
      full[stage].wait(step / 2 % 2);
      const unsigned long long a = matrix_descriptor<128>(tile + 8192 * stage, 0, 1024);
      const unsigned long long b = matrix_descriptor<128>(tile + 16384 + 8192 * stage, 0, 1024);
      wgmma_fence(d);
#pragma unroll
      for (int k = 0; k < 64; k += 16) wgmma(d, advanced(a, 2 * k), advanced(b, 2 * k), step + k > 0);
      wgmma_commit();
      wgmma_wait<0>(d);
      empty[stage].arrive();
    }
    const int lane = t % 32, first = t / 32 % 4 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int r = first + i / 2 % 2 * 8, c = i / 4 * 8 + lane % 4 * 2 + i % 2;
      reinterpret_cast<float*>(tile)[c / 32 * 2048 + swizzled(r * 128 + c % 32 * 4, 128) / 4] = d[i];
    }
    proxy_fence();
    named_barrier(1, 128);
    if (t == 128) {
      tensor_store(arguments.d, {row, column}, tile);
      tensor_store(arguments.d, {row, column + 32}, tile + 8192);
      store_commit();
      store_wait_read<0>();
    }
  }
"""


def tile_product(body=BODY, threads=256):
    """A of M×K, B of N×K and D of M×N, one row after another."""
    maps = {
        "a": TensorMap("x", DType.BFLOAT16, (M, K), (K, 1), (64, 64), Swizzle.B128),
        "b": TensorMap("y", DType.BFLOAT16, (N, K), (K, 1), (64, 64), Swizzle.B128),
        "d": TensorMap("z", DType.FLOAT32, (M, N), (N, 1), (64, 32), Swizzle.B128),
    }
    text = body.replace("STEPS", str(-(-K // 64)))
    return tensor_program(
        text,
        maps,
        {},
        threads=threads,
        blocks=BLOCKS,
        shared_bytes=32768 + 32,
        headers=("wgmma", "register_count"),
        declared=wgmma_source(64, DType.BFLOAT16, DType.BFLOAT16),
    )
