#pragma once
#include "matmul/gemm/wgmma/sums.cuh"
#if tensor_store
#  include "cuda/named_barrier.cuh"
#  include "cuda/number_pairs.cuh"
#  include "cuda/shared_matrices.cuh"
#  include "cuda/tensor_store.cuh"
#elif wide_rows && result_bytes == 1
#  include "matmul/gemm/wgmma/byte_rows.cuh"
#elif wide_rows
#  include "matmul/gemm/wgmma/wide_rows.cuh"
#endif
// A consumer's sums on their way to D: from registers, or through shared memory, from which tensor copies
// store them while the next tile is multiplied.

#if tensor_store
// The 16-byte units of a row of a box: the most up to 128 bytes of which a row of the tile is a multiple.
__device__ constexpr int box_units(int units, int most) {
  return units % most == 0 ? most : box_units(units, most - 1);
}

// Each consumer has two buffers of 64 rows, so that it fills one while the other is read. Rows of 32, 64 or
// 128 bytes are swizzled; those of other lengths begin in different banks, or in a few that are the same.
constexpr int store_buffers = 2;
constexpr int store_bytes = product_rows * row_bytes;
constexpr int stored_units = stored_columns / parts * static_cast<int>(sizeof(Result)) / 16;
constexpr int store_row_bytes = 16 * box_units(stored_units, row_bytes / 16);
constexpr int store_swizzle = (store_row_bytes & (store_row_bytes - 1)) == 0 ? store_row_bytes : 0;
constexpr int store_columns = store_row_bytes / sizeof(Result);
constexpr int ring_boxes = 8;  // boxes of C, where they come by a ring
constexpr int staged_bytes = Problem::residual_ring     ? ring_boxes * store_bytes
                             : Problem::residual_stages ? 0  // see residual.cuh
                                                        : Schedule::consumers * store_buffers * store_bytes;

#  if swap && result_bytes == 4
// A buffer has two boxes side by side, with columns of the tile as rows.
constexpr int swapped_columns = row_bytes / static_cast<int>(sizeof(Result));
static_assert(store_columns * store_row_bytes == store_bytes / 2, "rows of 128 bytes");

#  endif
// With `swap`, columns of the tile are rows of a buffer, which have 128 bytes.
__device__ __forceinline__ unsigned char* buffer_column(unsigned char* buffer, int row, int column) {
  return buffer + swizzled(column * row_bytes + row * static_cast<int>(sizeof(Result)), row_bytes);
}

// Where an element of a row is in a buffer.
__device__ __forceinline__ Result* buffer_element(unsigned char* buffer, int row, int column) {
  const int offset = row * store_row_bytes + column * static_cast<int>(sizeof(Result));
  return reinterpret_cast<Result*>(buffer + swizzled(offset, store_swizzle));
}

// What a buffer holds in a column for the thread's rows.
__device__ __forceinline__ void load_pairs(Pair (&pairs)[2], unsigned char* buffer, int row, int column) {
#  pragma unroll
  for (int half = 0; half < 2; ++half)
    pairs[half].packed =
        *reinterpret_cast<const Packed<Result, 2>*>(buffer_element(buffer, row + 8 * half, column));
}

// Writes what the sums of `store_columns` columns become to a buffer, which holds C if that comes by stages.
__device__ __forceinline__ void fill_buffer(unsigned char* buffer, const Arguments& arguments,
                                            const Problem& problem, const Problem::Sum* sums,
                                            const SumRows& rows, int n) {
  const int warp_row = threadIdx.x % warpgroup_threads / 32 * 16, lane = threadIdx.x % 32;
#  if result_bytes == 2
  constexpr int units = store_columns / 8;
#    if held_columns
  ColumnFactors columns[units];
#      pragma unroll
  for (int j = 0; j < units; ++j) rows.held->get(columns[j], (n - rows.n) / 8 + j);
#    elif by_column
  ColumnFactors columns[units];  // all loads are in flight at once
#      pragma unroll
  for (int j = 0; j < units; ++j) columns[j].load(arguments, problem, n + 8 * j);
#    endif
#    pragma unroll
  for (int j = 0; j < units - units % 2; j += 2) {
    unsigned registers[4];
#    pragma unroll
    for (int i = 0; i < 2; ++i) {
      Pair results[2];
      if constexpr (Problem::residual_stages)
        load_pairs(results, buffer, warp_row + lane / 4, 8 * (j + i) + SumRows::column());
#    if by_column
      finish_sums(results, arguments, problem, sums + 4 * (j + i), rows, n + 8 * (j + i), columns[j + i]);
#    else
      finish_sums(results, arguments, problem, sums + 4 * (j + i), rows, n + 8 * (j + i));
#    endif
      registers[2 * i] = results[0].packed.bits, registers[2 * i + 1] = results[1].packed.bits;
    }
    if constexpr (Problem::residual_stages) __syncwarp();  // all lanes have what they need of C
    if constexpr (Schedule::swap) {
      store_transposed(buffer_column(buffer, warp_row + lane / 8 % 2 * 8, 8 * (j + lane / 16) + lane % 8),
                       registers);
    } else {
      store_matrices(buffer_element(buffer, warp_row + lane % 16, 8 * (j + lane / 16)), registers);
    }
  }
  if constexpr (units % 2 != 0) {
    Pair results[2];
    if constexpr (Problem::residual_stages)
      load_pairs(results, buffer, warp_row + lane / 4, 8 * (units - 1) + SumRows::column());
#    if held_columns
    finish_sums(results, arguments, problem, sums + 4 * (units - 1), rows, n + 8 * (units - 1),
                columns[units - 1]);
#    else
    finish_sums(results, arguments, problem, sums + 4 * (units - 1), rows, n + 8 * (units - 1));
#    endif
#    pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + lane / 4 + 8 * half, column = 8 * (units - 1) + SumRows::column();
      if constexpr (Schedule::swap) {
#    pragma unroll
        for (int i = 0; i < 2; ++i)
          *reinterpret_cast<Result*>(buffer_column(buffer, row, column + i)) =
              results[half].packed.elements[i];
      } else {
        store_global<false>(buffer_element(buffer, row, column), results[half].packed);
      }
    }
  }
#  elif swap
  // Columns of the tile are rows of D: four of them are written at once, to different banks.
  unsigned char* box = buffer + warp_row / swapped_columns * (store_bytes / 2);
#    pragma unroll
  for (int j = 0; j < store_columns / 8; ++j) {
    Pair results[2];
    finish_sums(results, arguments, problem, sums + 4 * j, rows, n + 8 * j);
#    pragma unroll
    for (int i = 0; i < 4; ++i)
      *buffer_element(box, 8 * j + SumRows::column() + i % 2,
                      warp_row % swapped_columns + lane / 4 + i / 2 * 8) =
          results[i / 2].packed.elements[i % 2];
  }
#  else
  // A row is written 32 bytes at a time, four rows at once: these lie in different banks if every other row
  // begins with the columns that are 16 behind.
  constexpr int apart = 2;  // groups of 8 columns
  static_assert(store_columns == 2 * apart * 8, "rows of 128 bytes have four such groups");
  const bool odd = lane / 4 % 2 != 0;
#    pragma unroll
  for (int j = 0; j < apart; ++j) {
    Pair results[2][2];
    if constexpr (Problem::residual_stages) {
      Pair before[2][2];
#    pragma unroll
      for (int i = 0; i < 2; ++i)
        load_pairs(before[i], buffer, warp_row + lane / 4,
                   8 * (j + apart * (odd ? 1 - i : i)) + SumRows::column());
#    pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int half = i / 2 % 2, e = i % 2;
        results[i / 4][half].packed.elements[e] =
            odd ? before[1 - i / 4][half].packed.elements[e] : before[i / 4][half].packed.elements[e];
      }
    }
#    pragma unroll
    for (int i = 0; i < 2; ++i)
      finish_sums(results[i], arguments, problem, sums + 4 * (j + apart * i), rows, n + 8 * (j + apart * i));
#    pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int column = 8 * (j + apart * (odd ? 1 - i : i)) + SumRows::column();
#    pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp_row + lane / 4 + 8 * half;
        Pair own;
#    pragma unroll
        for (int e = 0; e < 2; ++e)
          own.packed.elements[e] =
              odd ? results[1 - i][half].packed.elements[e] : results[i][half].packed.elements[e];
        store_global<false>(buffer_element(buffer, row, column), own.packed);
      }
    }
  }
#  endif
}

#  if grouped_boxes
// Boxes whose rows are half as long as a buffer's, or shorter, side by side in it.
constexpr int boxes_across = stored_columns / parts / store_columns;
constexpr int group_boxes = row_bytes / store_row_bytes;
constexpr int box_bytes = product_rows * store_row_bytes;

__device__ __forceinline__ void fill_buffer_with_boxes(unsigned char* buffer, const Arguments& arguments,
                                                       const Problem& problem, const Problem::Sum* sums,
                                                       const SumRows& rows, int n, int first) {
#    pragma unroll
  for (int box = first; box < first + group_boxes; ++box) {
    if (box < boxes_across)
      fill_buffer(buffer + (box - first) * box_bytes, arguments, problem, sums + box * (store_columns / 2),
                  rows, n + box * store_columns);
  }
}
__device__ __forceinline__ void store_boxes(const unsigned char* buffer, const Arguments& arguments,
                                            const Tile& tile, int row, int first) {
#    pragma unroll
  for (int box = first; box < first + group_boxes; ++box) {
    const MapPlace to(tile.batch, tile.m + row, tile.n / parts + box * store_columns);
    if (box < boxes_across) tensor_store(arguments.map_d, to.at, buffer + (box - first) * box_bytes);
  }
}

#  endif
// Has tensor copies store the sums of a consumer's tile.
__device__ __forceinline__ void store_sums(const Arguments& arguments, const Problem& problem,
                                           const Tile& tile, const Consumer& own, const StoredSums& sums) {
  unsigned char* buffers = tile_memory<unsigned char>() + Schedule::stages * stage_bytes +
                           own.number * (store_buffers * store_bytes);
  const bool storing = threadIdx.x % warpgroup_threads == 0;
#  if grouped_boxes
  constexpr int across = (boxes_across - 1) / group_boxes + 1, stores = products_m * across;
#  else
  constexpr int across = stored_columns / parts / store_columns, stores = products_m * across;
#  endif
#  if scales == tensor_scales || scales == row_scales
  SumRows rows(arguments, problem, tile, own.row);  // loads scales
#  endif
#  pragma unroll
  for (int store = 0; store < stores; ++store) {
#  if grouped_boxes
    const int row = own.row + store / across * product_rows, first = store % across * group_boxes;
#  else
    const int row = own.row + store / across * product_rows, column = store % across * store_columns;
#  endif
    unsigned char* buffer = buffers + store % store_buffers * store_bytes;
    if (storing) {
      // The last store of the tile before may be in the first buffer, too.
      if (store == 0 && stores % store_buffers != 0) {
        store_wait_read<0>();
      } else {
        store_wait_read<store_buffers - 1>();
      }
    }
    named_barrier(1 + own.number, warpgroup_threads);
#  if scales == tensor_scales || scales == row_scales
    if (store > 0 && store % across == 0) rows = SumRows(arguments, problem, tile, row);
#  else
    const SumRows rows(arguments, problem, tile, row);
#  endif
#  if grouped_boxes
    fill_buffer_with_boxes(buffer, arguments, problem, sums.d[store / across], rows,
                           tile.n / parts + SumRows::column(), first);
#  else
    fill_buffer(buffer, arguments, problem, sums.d[store / across] + column / 2, rows,
                tile.n / parts + column + SumRows::column());
#  endif
    proxy_fence();
    named_barrier(1 + own.number, warpgroup_threads);
    if (storing) {
#  if grouped_boxes
      store_boxes(buffer, arguments, tile, row, first);
#  elif swap && result_bytes == 2
      tensor_store(arguments.map_d, {tile.n + column, tile.m + row}, buffer);
#  elif swap
#    pragma unroll
      for (int box = 0; box < 2; ++box)
        tensor_store(arguments.map_d, {tile.n + column, tile.m + row + box * swapped_columns},
                     buffer + box * (store_bytes / 2));
#  else
      tensor_store(arguments.map_d, MapPlace(tile.batch, tile.m + row, tile.n / parts + column).at, buffer);
#  endif
      store_commit();
    }
  }
}

// A block may not end before its buffers have been read.
__device__ __forceinline__ void finish_stores() {
  if (threadIdx.x % warpgroup_threads == 0) store_wait_read<0>();
}
#elif !wide_rows
constexpr int staged_bytes = 0;

// Stores the sums from registers.
__device__ __forceinline__ void store_sums(const Arguments& arguments, const Problem& problem,
                                           const Tile& tile, const Consumer& own, const StoredSums& sums) {
#  pragma unroll
  for (int product = 0; product < products_m; ++product) {
    const SumRows rows(arguments, problem, tile, own.row + product * product_rows);
#  pragma unroll
    for (int j = 0; j < stored_columns / parts / 8; ++j) {
      const int n = tile.n / parts + 8 * j + SumRows::column();
      if (Problem::edge_n && n >= problem.n / parts) continue;
      Pair results[2];
      finish_sums(results, arguments, problem, sums.d[product] + 4 * j, rows, n);
#  pragma unroll
      for (int half = 0; half < 2; ++half)
        if (rows.inside(problem, half))
          results[half].store(arguments.d + rows.offset[half] + n * step_d(problem), problem.n / parts - n,
                              step_d(problem));
    }
  }
}

__device__ __forceinline__ void finish_stores() {}
#endif
