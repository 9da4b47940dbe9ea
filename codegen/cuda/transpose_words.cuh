#pragma once
// A matrix of 4×4 words, of which each of four neighbouring lanes has a row, is transposed.

__device__ __forceinline__ void transpose_words(unsigned (&words)[4]) {
  const unsigned lane = threadIdx.x % 4;
#pragma unroll
  for (int step = 1; step <= 2; step *= 2) {
    const bool upper = (lane & step) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & step) continue;
      const unsigned sent = upper ? words[i] : words[i + step];
      const unsigned got = __shfl_xor_sync(0xffffffffu, sent, step);
      if (upper) {
        words[i] = got;
      } else {
        words[i + step] = got;
      }
    }
  }
}
