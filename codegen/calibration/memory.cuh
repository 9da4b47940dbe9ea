#pragma once
// Word i of the arrays is i: a sum of all words shows that none was left out. Threads take turns, and each
// has `Constants::unroll` loads in flight: a loop that is not unrolled, whose loads come before their sum.

__device__ __forceinline__ unsigned thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ unsigned threads_of_grid() { return gridDim.x * blockDim.x; }

// One sum of each warp: what nobody uses would not be loaded.
__device__ __forceinline__ void store_sum(unsigned sum, unsigned* sums) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) sums[thread_of_grid() / 32] = sum;
}

// Reads `vectors` of 16 bytes `passes` times, each time in another order. L1 keeps none of them.
__device__ __forceinline__ void read_vectors_block(const Arguments& arguments) {
  const unsigned threads = threads_of_grid();
  unsigned sum = 0;
  unsigned shift = 0;
  for (int pass = 0; pass < arguments.passes; ++pass) {
#pragma unroll 1
    for (unsigned i = thread_of_grid(); i < arguments.vectors; i += threads * Constants::unroll) {
      uint4 loaded[Constants::unroll];
#pragma unroll
      for (int u = 0; u < Constants::unroll; ++u) {
        unsigned place = i + u * threads;
        loaded[u] = {0, 0, 0, 0};
        if (place < arguments.vectors) {
          place += shift;
          if (place >= arguments.vectors) place -= arguments.vectors;
          loaded[u] = __ldcg(arguments.x + place);
        }
      }
#pragma unroll
      for (int u = 0; u < Constants::unroll; ++u)
        sum += loaded[u].x + loaded[u].y + loaded[u].z + loaded[u].w;
    }
    shift += arguments.shift;
    if (shift >= arguments.vectors) shift -= arguments.vectors;
  }
  store_sum(sum, arguments.sums);
}

__device__ __forceinline__ void copy_vectors_block(const Arguments& arguments) {
  const unsigned threads = threads_of_grid();
#pragma unroll 1
  for (unsigned i = thread_of_grid(); i < arguments.vectors; i += threads * Constants::unroll) {
    uint4 loaded[Constants::unroll];
#pragma unroll
    for (int u = 0; u < Constants::unroll; ++u) {
      if (i + u * threads < arguments.vectors) loaded[u] = __ldcg(arguments.x + i + u * threads);
    }
#pragma unroll
    for (int u = 0; u < Constants::unroll; ++u) {
      if (i + u * threads < arguments.vectors) arguments.y[i + u * threads] = loaded[u];
    }
  }
}

__device__ __forceinline__ void write_vectors_block(const Arguments& arguments) {
  const unsigned threads = threads_of_grid();
#pragma unroll 1
  for (unsigned i = thread_of_grid(); i < arguments.vectors; i += threads * Constants::unroll) {
#pragma unroll
    for (int u = 0; u < Constants::unroll; ++u) {
      const unsigned place = i + u * threads, word = 4 * place;
      if (place < arguments.vectors) arguments.y[place] = {word, word + 1, word + 2, word + 3};
    }
  }
}

// Reads `chunks`, a power of two, of 2^`log2_words` words each. They begin `pitch` words apart, `offset`
// words behind a multiple of that, and are read in the order of `multiplier`, an odd number.
__device__ __forceinline__ void gather_words_block(const Arguments& arguments) {
  const unsigned threads = threads_of_grid();
  const unsigned last = arguments.chunks - 1, words = 1u << arguments.log2_words;
  const unsigned count = arguments.chunks << arguments.log2_words;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = thread_of_grid(); i < count; i += threads * Constants::unroll) {
    unsigned loaded[Constants::unroll];
#pragma unroll
    for (int u = 0; u < Constants::unroll; ++u) {
      const unsigned n = i + u * threads, within = n & (words - 1);
      const unsigned chunk = (n >> arguments.log2_words) * arguments.multiplier & last;
      loaded[u] = n < count ? __ldg(arguments.x + (chunk * arguments.pitch + arguments.offset + within)) : 0;
    }
#pragma unroll
    for (int u = 0; u < Constants::unroll; ++u) sum += loaded[u];
  }
  store_sum(sum, arguments.sums);
}
