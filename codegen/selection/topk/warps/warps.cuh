#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/warp_scan.cuh"
#include "selection/highest_reached.cuh"
#include "selection/row.cuh"
#include "selection/topk/results.cuh"
// A warp for each row, whose keys are in registers, and which waits for no other warp.

constexpr int items = Schedule::vectors * width;  // keys of a lane; 0 where there is no element
constexpr int slots = Schedule::slots;            // entries of a row in shared memory

// The column of a lane's key, in a row that it has `first` of as its first column.
__device__ __forceinline__ int column_of_item(int first, int item) {
  return first + item / width * 32 * width + item % width;
}

// Those of `keys`, in the lanes of a warp, that reach a floor: at least k, and at most as many as there are
// slots. The largest keys of k lanes are a first bound: it often is enough.
__device__ __forceinline__ Entry floor_of_row(const unsigned (&keys)[items], int first, int k) {
  unsigned largest = 0;
#pragma unroll
  for (int i = 0; i < items; ++i) largest = keys[i] > largest ? keys[i] : largest;
  const auto count_lanes = [=](unsigned floor) {
    return __popc(__ballot_sync(0xffffffffu, largest >= floor));
  };
  const auto count_keys = [&](unsigned floor) {
    int reached = 0;
#pragma unroll
    for (int i = 0; i < items; ++i) reached += keys[i] >= floor;
    return sum_lanes(reached);
  };
  const auto count_entries = [&](Entry floor) {
    int reached = 0;
#pragma unroll
    for (int i = 0; i < items; ++i) {
      reached += keys[i] != 0 && entry_of(keys[i], column_of_item(first, i)) >= floor;
    }
    return sum_lanes(reached);
  };
  const unsigned bound = k <= 32 ? highest_reached(1u, all_ones, k, k, count_lanes) : 1u;
  if (count_keys(bound) <= slots) return static_cast<Entry>(bound) << 32;
  const unsigned key = highest_reached(bound, all_ones, k, slots, count_keys);
  const Entry lowest = static_cast<Entry>(key) << 32;
  if (count_keys(key) <= slots) return lowest;
  return highest_reached(lowest, lowest | 0xffffffffu, k, slots, count_entries);
}

// The entries that reach the floor go to shared memory, in any order; how many there are.
__device__ __forceinline__ int gather_entries(const unsigned (&keys)[items], int first, Entry floor,
                                              Entry* entries) {
  int own = 0;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    own += keys[i] != 0 && entry_of(keys[i], column_of_item(first, i)) >= floor;
  }
  const int through = scan_lanes<32>(own, Sum());
  Entry* target = entries + (through - own);
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const Entry entry = entry_of(keys[i], column_of_item(first, i));
    if (keys[i] != 0 && entry >= floor) *target++ = entry;
  }
  __syncwarp();
  return __shfl_sync(0xffffffffu, through, 31);
}

#if order == index
// Leaves of the entries the columns of the first k, and zeros of the others.
__device__ __forceinline__ void keep_columns(Entry* entries, int found, int k) {
  Entry kept[slots / 32];
#  pragma unroll
  for (int i = 0; i < slots / 32; ++i) {
    const int slot = threadIdx.x % 32 + 32 * i;
    const Entry entry = slot < found ? entries[slot] : 0;
    kept[i] = entry && place_among(entries, found, entry) < k ? result_order(entry) : 0;
  }
  __syncwarp();
#  pragma unroll
  for (int i = 0; i < slots / 32; ++i) entries[threadIdx.x % 32 + 32 * i] = kept[i];
  __syncwarp();
}
#endif

__device__ __forceinline__ void topk_warps(const Arguments& arguments) {
  const Problem problem(arguments);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long number = static_cast<long long>(blockIdx.x) * (Schedule::threads / 32) + warp;
  if (number >= problem.rows) return;
  const Row row(arguments, problem, number);
  Vector vectors[Schedule::vectors];
#pragma unroll
  for (int i = 0; i < Schedule::vectors; ++i) vectors[i] = row.load_inside(lane + 32 * i);
  const int first = row.column(lane);
  unsigned keys[items];
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const bool exists = row.has(column_of_item(first, i));
    keys[i] = exists ? key_of(vectors[i / width].elements[i % width]) : 0;
  }
  const int k = problem.k < row.length ? problem.k : row.length;
  Entry* entries = dynamic_shared<Entry>() + warp * slots;
  const int found = gather_entries(keys, first, floor_of_row(keys, first, k), entries);
#if order == index
  keep_columns(entries, found, k);
#endif
  for (int slot = lane; slot < found; slot += 32) {
    const Entry entry = entries[slot];
    const int place = place_among(entries, found, entry);
    if (place < k) store_result(arguments, problem, number, place, entry);
  }
  for (int place = k + lane; place < problem.k; place += 32) {
    store_result(arguments, problem, number, place, 0);
  }
}
