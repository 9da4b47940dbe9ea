#pragma once
#include "convolution/conv2d/store_finished.cuh"
#include "matmul/gemm/tiling.cuh"
#include "matmul/sgemm/epilogue.cuh"
// A thread's tile of D, with what is fused to it.

// Stores all that this thread writes of a tile. `load` sets a fragment to the sums from a vector on.
template <class Load>
__device__ __forceinline__ void store_result(const Arguments& arguments, const Problem& problem,
                                             const Tile& tile, Position thread, Load load) {
  constexpr int width = Output::width;
  const int first_filter = tile.batch * problem.n;
  for_each_fragment([&](int first) {
    Output::Fragment fragment;
    load(fragment, first);
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
      const Position from = Output::position(first + i);
      const int m = tile.m + thread.m + from.m / StripsM::width * StripsM::step + from.m % StripsM::width;
      const int n = tile.n + thread.n + from.n / StripsN::width * StripsN::step + from.n % StripsN::width;
      if (m >= problem.m) continue;
#if guard_n
      if (n + width > problem.n) {
#  pragma unroll
        for (int j = 0; j < width; ++j) {
          if (n + j < problem.n)
            store_finished<1>(arguments, problem, &fragment.elements[i][j], m, first_filter + n + j);
        }
        continue;
      }
#endif
      store_finished<width>(arguments, problem, fragment.elements[i], m, first_filter + n);
    }
  });
}
