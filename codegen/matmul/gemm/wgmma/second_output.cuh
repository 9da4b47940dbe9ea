#pragma once
#include "matmul/gemm/wgmma/epilogue.cuh"
// Z, what is before the activation, by tensor copies beside D.

// Has tensor copies store what the sums of a consumer's tile become. Z and D have a buffer each.
__device__ __forceinline__ void store_both(const Arguments& arguments, const Problem& problem,
                                           const Tile& tile, const Consumer& own, const StoredSums& sums) {
  unsigned char* buffers = tile_memory<unsigned char>() + Schedule::stages * stage_bytes +
                           own.number * (store_buffers * store_bytes);
  const bool storing = threadIdx.x % warpgroup_threads == 0;
  constexpr int across = stored_columns / store_columns;
#pragma unroll
  for (int store = 0; store < products_m * across; ++store) {
    const int row = own.row + store / across * product_rows, column = store % across * store_columns;
    SumRows rows(arguments, problem, tile, row);
#pragma unroll
    for (int output = 0; output < store_buffers; ++output) {
      unsigned char* buffer = buffers + output * store_bytes;
      rows.of_z = output == 0;
      if (storing) store_wait_read<store_buffers - 1>();
      named_barrier(1 + own.number, warpgroup_threads);
      fill_buffer(buffer, arguments, problem, sums.d[store / across] + column / 2, rows,
                  tile.n + column + SumRows::column());
      proxy_fence();
      named_barrier(1 + own.number, warpgroup_threads);
      const TensorMap& map = rows.of_z ? arguments.map_z : arguments.map_d;
      if (storing) {
        tensor_store(map, MapPlace(tile.batch, tile.m + row, tile.n + column).at, buffer);
        store_commit();
      }
    }
  }
}
