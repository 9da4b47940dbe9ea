#pragma once
#include "cuda/cluster_writes.cuh"
#include "cuda/shared_memory.cuh"
#include "cuda/warp_scan.cuh"
#include "selection/row.cuh"
#include "selection/topk/results.cuh"
// A cluster for each row, whose keys are in its registers. Its blocks count the digits of the keys until few
// enough entries reach the floor that follows, and leave these to the first block, which orders them.

constexpr int threads = Schedule::threads;
#include "cuda/sort_entries.cuh"
constexpr int blocks = Schedule::cluster;
constexpr int items = Schedule::vectors * width;  // keys of a thread; 0 where there is no element
constexpr int digit_bits = 11, bins = 1 << digit_bits;
// Entries that are ordered by comparing each with all others.
constexpr int most_compared = threads < 256 ? threads : 256;

struct Shared {
  unsigned counts[bins];  // of the block's keys by digit, the largest digit first
  unsigned totals[bins];  // of the row's
  Entry entries[Schedule::candidates];
  int found;  // entries of the first block
  int bin;
};

struct Keys {
  unsigned keys[items];
  int first;  // column of the first one

  __device__ __forceinline__ int column(int item) const {
    return first + item / width * blocks * threads * width + item % width;
  }
  // 0 where there is no element.
  __device__ __forceinline__ Entry entry(int item) const {
    return keys[item] ? entry_of(keys[item], column(item)) : 0;
  }
};

// Adds up what all blocks have counted: each block the counts of as many digits, for all of them.
__device__ __forceinline__ void add_counts(Shared& shared, int rank) {
  constexpr int own = bins / blocks;
  for (int i = threadIdx.x; i < own; i += threads) {
    const int bin = rank * own + i;
    unsigned total = 0;
#pragma unroll
    for (int other = 0; other < blocks; ++other) total += *shared_of_rank(shared.counts + bin, other);
#pragma unroll
    for (int other = 0; other < blocks; ++other) *shared_of_rank(shared.totals + bin, other) = total;
  }
}

// The first bin with which `wanted` are reached, by a warp. `wanted` becomes what is wanted of this bin.
__device__ __forceinline__ int bin_of(const unsigned* totals, unsigned& wanted) {
  constexpr int of_lane = bins / 32;
  const int lane = threadIdx.x % 32;
  unsigned own = 0;
#pragma unroll 8
  for (int i = 0; i < of_lane; ++i) own += totals[lane * of_lane + (i + lane) % of_lane];
  unsigned through = scan_lanes<32>(own, Sum());
  const int group = __ffs(__ballot_sync(0xffffffffu, through >= wanted)) - 1;
  wanted -= from_lane<32>(through - own, group);
  for (int base = group * of_lane;; base += 32) {
    own = totals[base + lane];
    through = scan_lanes<32>(own, Sum());
    const unsigned reached = __ballot_sync(0xffffffffu, through >= wanted);
    if (reached) {
      wanted -= from_lane<32>(through - own, __ffs(reached) - 1);
      return base + __ffs(reached) - 1;
    }
    wanted -= from_lane<32>(through, 31);
  }
}

// A floor that k of the row's entries reach, and no more than there is room for: the first digits of the k-th
// one, as many as that takes.
__device__ __forceinline__ Entry floor_of_row(Shared& shared, const Keys& own, int k, int rank) {
  Entry floor = 0;
  unsigned wanted = k, reached;
  int shift = Problem::element_bits + 32;
  do {
    const int bits = shift < digit_bits ? shift : digit_bits;
    shift -= bits;
    for (int i = threadIdx.x; i < bins; i += threads) shared.counts[i] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const Entry entry = own.entry(i);
      if (entry == 0 || (entry ^ floor) >> shift >> bits != 0) continue;
      atomicAdd(shared.counts + (bins - 1 - static_cast<int>(entry >> shift & ((1 << bits) - 1))), 1u);
    }
    cluster_barrier();
    add_counts(shared, rank);
    cluster_barrier();
    const int bin = bin_of(shared.totals, wanted);
    floor |= static_cast<Entry>(bins - 1 - bin) << shift;
    reached = k - wanted + shared.totals[bin];
    __syncthreads();
  } while (shift > 0 && reached > Schedule::candidates);
  return floor ? floor : 1;
}

// Entries that reach the floor go to the first block, in any order.
__device__ __forceinline__ void gather_entries(Shared& shared, const Keys& own, Entry floor) {
  int kept = 0;
#pragma unroll
  for (int i = 0; i < items; ++i) kept += own.entry(i) >= floor;
  const int through = scan_lanes<32>(kept, Sum()), all = from_lane<32>(through, 31);
  if (all == 0) return;
  int slot = 0;
  if (threadIdx.x % 32 == 0) slot = atomicAdd(shared_of_rank(&shared.found, 0), all);
  slot = from_lane<32>(slot, 0) + through - kept;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const Entry entry = own.entry(i);
    if (entry >= floor) *shared_of_rank(shared.entries + slot++, 0) = entry;
  }
}

// Puts entries in order, the largest first.
__device__ __forceinline__ void order_entries(Entry* entries, int count) {
  const int thread = threadIdx.x;
  if (count > most_compared) {
    int padded = 2 * most_compared;
    while (padded < count) padded *= 2;
    for (int i = count + thread; i < padded; i += threads) entries[i] = 0;
    __syncthreads();
    sort_entries(entries, padded);
    return;
  }
  __syncthreads();
  const Entry own = thread < count ? entries[thread] : 0;
  const int place = thread < count ? place_among(entries, count, own) : 0;
  __syncthreads();
  if (thread < count) entries[place] = own;
  __syncthreads();
}

__device__ __forceinline__ void topk_cluster(const Arguments& arguments) {
  const Problem problem(arguments);
  Shared& shared = *dynamic_shared<Shared>();
  const int rank = blockIdx.x % blocks, thread = threadIdx.x;
  const long long number = blockIdx.x / blocks;
  const Row row(arguments, problem, number);
  const int k = problem.k < row.length ? problem.k : row.length, vector = rank * threads + thread;
  Vector vectors[Schedule::vectors];
#pragma unroll
  for (int i = 0; i < Schedule::vectors; ++i) vectors[i] = row.load_inside(vector + i * blocks * threads);
  Keys own;
  own.first = row.column(vector);
  if (thread == 0) shared.found = 0;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    own.keys[i] = row.has(own.column(i)) ? key_of(vectors[i / width].elements[i % width]) : 0;
  }
  gather_entries(shared, own, floor_of_row(shared, own, k, rank));
  cluster_barrier();
  if (rank > 0) return;
  Entry* entries = shared.entries;
  order_entries(entries, shared.found);
#if order == index
  for (int i = thread; i < k; i += threads) entries[i] = result_order(entries[i]);
  order_entries(entries, k);
#endif
  for (int i = thread; i < problem.k; i += threads) {
    store_result(arguments, problem, number, i, i < k ? entries[i] : 0);
  }
}
