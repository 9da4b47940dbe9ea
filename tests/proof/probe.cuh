#pragma once
#include "cuda/numbers.cuh"
#include "cuda/report.cuh"
#include "cuda/tensor_copy.cuh"
#include "cuda/tickets.cuh"
// y = kept ? (x + bias) / max |x + bias| : 0, and how many elements of each column are kept, by two launches.
// Each has a source of its own. At the start of its workspace is how many blocks have finished: 0 between
// launches. A block has a tile, which a tensor copy brings, or its threads load.

constexpr int threads = 128;
constexpr int tile_columns = 64;  // 128 bytes, the span of the swizzle
constexpr int tile_elements = Schedule::tile_rows * tile_columns;
#if tensor_copy
constexpr int barrier_offset = 2 * tile_elements;
constexpr int scratch_offset = barrier_offset + 8;
#else
constexpr int scratch_offset = 0;
#endif

// An instruction that sm_90a alone has: orders this warpgroup's accesses to registers before a wgmma that
// follows. All threads of four adjacent warps take part.
__device__ __forceinline__ void warpgroup_fence() {
#ifndef AUTOTUNE_EMULATOR
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

struct AbsoluteMax {
  __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(fabsf(a), fabsf(b)); }
};

__device__ __forceinline__ bool is_kept(u64 number) { return mixed(number) >> 63 == 0; }

struct Element {
  int row, column;
  bool inside;
};

struct Tile {
  const Arguments& arguments;
  int row, column;         // of its first element
  const bfloat16* copied;  // swizzled; unless threads load

  __device__ __forceinline__ explicit Tile(const Arguments& given)
      : arguments(given),
        row(blockIdx.x / given.tiles_across * Schedule::tile_rows),
        column(blockIdx.x % given.tiles_across * tile_columns),
        copied(nullptr) {
#if tensor_copy
    copy();
#endif
  }

  __device__ __forceinline__ Element element(int index) const {
    const int r = row + index / tile_columns, c = column + index % tile_columns;
    return {r, c, r < arguments.rows && c < arguments.columns};
  }

  // x + bias.
  __device__ __forceinline__ float shifted(int index, Element at) const {
#if tensor_copy
    float value = to_float(copied[swizzled(2 * index, 128) / 2]);
#else
    float value = to_float(arguments.x[at.row * static_cast<long long>(arguments.ldx) + at.column]);
#endif
#if biased
    value += arguments.bias[at.column];
#endif
    return value;
  }

#if tensor_copy
  __device__ __forceinline__ void copy() {
    bfloat16* tile = tile_memory<bfloat16>();
    Barrier& arrived = *reinterpret_cast<Barrier*>(tile_memory<unsigned char>() + barrier_offset);
    if (threadIdx.x == 0) {
      arrived.init(1);
      proxy_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      arrived.arrive_and_expect(2 * tile_elements);
      tensor_copy(tile, arguments.x_map, {row, column}, arrived);
    }
    arrived.wait(0);
    copied = tile;
  }
#endif
};

__device__ __forceinline__ void find_largest(const Arguments& arguments) {
  const Tile tile(arguments);
  float* scratch = reinterpret_cast<float*>(tile_memory<unsigned char>() + scratch_offset);
  float largest = 0.0f;
  for (int index = threadIdx.x; index < tile_elements; index += threads) {
    const Element at = tile.element(index);
    if (at.inside) largest = fmaxf(largest, fabsf(tile.shifted(index, at)));
  }
  largest = reduce_row<threads>(largest, AbsoluteMax(), scratch);
  if (reduce_blocks<threads>(largest, 0.0f, AbsoluteMax(), blockIdx.x, gridDim.x, arguments.maxima,
                             arguments.workspace, scratch) &&
      threadIdx.x == 0) {
    *arguments.largest = largest;
  }
}

__device__ __forceinline__ void scale(const Arguments& arguments) {
  const Tile tile(arguments);
  const unsigned long long offset = *arguments.offset;
  const float largest = *arguments.largest;
#if tensor_copy
  warpgroup_fence();
#endif
  for (int index = threadIdx.x; index < tile_elements; index += threads) {
    const Element at = tile.element(index);
    if (!at.inside) continue;
    const bool kept =
        is_kept(offset + at.row * static_cast<unsigned long long>(arguments.columns) + at.column);
    const float scaled = largest > 0.0f ? tile.shifted(index, at) / largest : 0.0f;
    bfloat16* target = arguments.y + at.row * static_cast<long long>(arguments.ldy) + at.column;
    *target = from_float<bfloat16>(kept ? scaled : 0.0f);
    if (!kept) continue;
    const int place = atomicAdd(arguments.counts + at.column, 1);
    if (0 <= place && place < arguments.rows) {
      arguments.kept_rows[at.column * static_cast<long long>(arguments.rows) + place] = at.row;
    }
  }
  if (is_last_block(arguments.workspace, gridDim.x)) {
    for (int column = threadIdx.x; column < arguments.columns; column += threads) {
      arguments.kept[column] = arguments.counts[column];
    }
  }
}

// The truth on a device: a thread for each column, each of which looks at all elements.
__device__ __forceinline__ void compute_column(const Arguments& arguments) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= arguments.columns) return;
  const auto shifted = [&](int row, int column) {
    double value = to_float(arguments.x[row * static_cast<long long>(arguments.ldx) + column]);
#if biased
    value += arguments.bias[column];
#endif
    return value;
  };
  double largest = 0.0;
  for (int row = 0; row < arguments.rows; ++row) {
    for (int column = 0; column < arguments.columns; ++column) {
      const double value = shifted(row, column);
      largest = value > largest ? value : -value > largest ? -value : largest;
    }
  }
  int count = 0;
  for (int row = 0; row < arguments.rows; ++row) {
    const bool kept =
        is_kept(*arguments.offset + row * static_cast<unsigned long long>(arguments.columns) + own);
    if (kept) arguments.kept_rows[own * static_cast<long long>(arguments.rows) + count++] = row;
  }
  arguments.kept[own] = count;
  for (int sample = 0; sample < arguments.sampled_count; ++sample) {
    const long long row = arguments.sampled_rows[sample];
    const bool kept = is_kept(*arguments.offset + row * static_cast<u64>(arguments.columns) + own);
    arguments.y[row * arguments.ldy + own] = kept && largest > 0.0 ? shifted(row, own) / largest : 0.0;
  }
}

// A thread's column lists rows that it keeps, none of them twice.
__device__ __forceinline__ void check_column(const Arguments& arguments) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  Findings findings;
  if (column < arguments.columns) {
    const long long begin = column * static_cast<long long>(arguments.rows);
    unsigned char* seen = arguments.workspace + begin;
    for (long long i = begin; i < begin + min(arguments.kept[column], arguments.rows); ++i) {
      const int row = arguments.kept_rows[i];
      const bool right = 0 <= row && row < arguments.rows && !seen[row] &&
                         is_kept(*arguments.offset + row * static_cast<u64>(arguments.columns) + column);
      if (!right) findings.add_wrong(i);
      if (0 <= row && row < arguments.rows) seen[row] = 1;
    }
  }
  findings.write(arguments.kept_rows_report);
}
