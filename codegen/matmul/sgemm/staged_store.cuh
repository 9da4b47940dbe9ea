#pragma once
#include "cuda/shared_memory.cuh"
#include "matmul/sgemm/epilogue.cuh"

// C = scaled + beta·C for all that a warp writes. `load` sets a fragment to the vectors from an index on. The
// strips of threads are wider than what rows of C are aligned for, so that each of them would store a part of
// a sector: rows pass through shared memory, and neighbours of a row are stored together.
template <class Load>
__device__ __forceinline__ void store_staged(const OutputTile& tile, float beta, Load load) {
  constexpr int columns = Schedule::warp_n;
  constexpr int pitch = columns + 16;  // lanes of two rows write to different banks
  constexpr int staged_rows = Output::rows * StripsM::lanes;
  const int lane = threadIdx.x % 32;
  const Position position = lane_position(lane);
  const int own_row = position.m * StripsM::width, own_column = position.n * StripsN::width;
  float* staged = dynamic_shared<float>() + threadIdx.x / 32 * (staged_rows * pitch);
  float* warp_c = tile.c - own_row * tile.leading - own_column;
  __syncthreads();  // others may still read the tiles that the sums overwrite, or fill them
#pragma unroll
  for (int first = 0; first < Schedule::thread_m; first += Output::rows) {
    Output::Fragment fragment;
    load(fragment, first * Schedule::thread_n / Output::width);
#pragma unroll
    for (int i = 0; i < Output::rows * StripsN::count; ++i) {
      const int row = i / StripsN::count * StripsM::lanes + position.m;
      const int column = i % StripsN::count * StripsN::step + own_column;
      copy_vector<StripsN::width>(staged + row * pitch + column,
                                  &fragment.elements[0][0] + i * StripsN::width);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < staged_rows * columns / 32; ++i) {
      const int staged_row = (i * 32 + lane) / columns, column = (i * 32 + lane) % columns;
      const int thread_row = first + staged_row / StripsM::lanes;
      const int row = thread_row / StripsM::width * StripsM::step + thread_row % StripsM::width +
                      staged_row % StripsM::lanes * StripsM::width;
#if guard_m
      if (row >= tile.bounds.end_m + own_row) continue;
#endif
#if guard_n
      if (column >= tile.bounds.end_n + own_column) continue;
#endif
#if overlap_last_m
      if (row < tile.bounds.begin_m + own_row) continue;
#endif
#if overlap_last_n
      if (column < tile.bounds.begin_n + own_column) continue;
#endif
      store_to_c<1>(warp_c + row * tile.leading + column, staged + staged_row * pitch + column, beta);
    }
    __syncwarp();
  }
}
