#pragma once
#include "cuda/cluster_writes.cuh"
#include "cuda/row_reduce.cuh"
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
  unsigned counts[bins];       // of the block's keys by digit, the largest digit first
  unsigned totals[bins];       // of the row's
  unsigned groups[bins / 32];  // of 32 totals each
  Entry entries[Schedule::candidates];
  int found;  // entries of the first block
  unsigned least;
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

// Drops keys of the block that cannot be among the first k of the row: those below the least of the largest
// keys of at least k groups of threads.
__device__ __forceinline__ void drop_keys(Shared& shared, Keys& own, int k) {
  if (k > threads) return;
  unsigned largest = 0;
#pragma unroll
  for (int i = 0; i < items; ++i) largest = own.keys[i] > largest ? own.keys[i] : largest;
  for (int lanes = 1; lanes < 32 && 2 * lanes * k <= threads; lanes *= 2) {
    const unsigned other = __shfl_xor_sync(0xffffffffu, largest, lanes);
    if (other > largest) largest = other;
  }
  largest = reduce_lanes<32>(largest, Min());
  if (threadIdx.x % 32 == 0) atomicMin(&shared.least, largest);
  __syncthreads();
  const unsigned least = shared.least;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    if (own.keys[i] < least) own.keys[i] = 0;
  }
}

// Adds up what all blocks have counted: each block the counts of as many digits, for all of them.
__device__ __forceinline__ void add_counts(Shared& shared, int rank) {
  constexpr int own = bins / blocks;
  for (int i = threadIdx.x; i < own; i += threads) {
    const int bin = rank * own + i, lane = i % 32;
    unsigned total = 0;
#pragma unroll
    for (int other = 0; other < blocks; ++other) total += *shared_of_rank(shared.counts + bin, other);
    const unsigned group = reduce_lanes<32>(total, Sum());
#pragma unroll
    for (int other = 0; other < blocks; ++other) *shared_of_rank(shared.totals + bin, other) = total;
    if (lane < blocks) *shared_of_rank(shared.groups + bin / 32, lane) = group;
  }
}

// The lane in which a sum over lanes reaches `wanted`, which becomes what is wanted of that lane.
__device__ __forceinline__ int lane_reaching(unsigned own, unsigned& wanted) {
  const unsigned through = scan_lanes<32>(own, Sum());
  const int lane = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, through >= wanted))) - 1;
  wanted -= from_lane<32>(through - own, lane);
  return lane;
}

// The first bin with which `wanted` are reached, by a warp. `wanted` becomes what is wanted of this bin.
__device__ __forceinline__ int bin_of(const Shared& shared, unsigned& wanted) {
  const int lane = threadIdx.x % 32;
  const unsigned first = shared.groups[2 * lane], second = shared.groups[2 * lane + 1];
  int group = 2 * lane_reaching(first + second, wanted);
  const unsigned of_first = shared.groups[group];
  if (of_first < wanted) {
    wanted -= of_first;
    ++group;
  }
  return 32 * group + lane_reaching(shared.totals[32 * group + lane], wanted);
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
    const int bin = bin_of(shared, wanted);
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
  constexpr int sharers = threads / most_compared;  // threads that compare an entry with all others
  __syncthreads();
  const int slot = thread / sharers;
  const Entry own = slot < count ? entries[slot] : 0;
  int place = 0;
#pragma unroll 4
  for (int i = thread % sharers; i < count; i += sharers) place += entries[i] > own;
  place = reduce_lanes<sharers>(place, Sum());
  __syncthreads();
  if (slot < count && thread % sharers == 0) entries[place] = own;
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
  if (thread == 0) {
    shared.found = 0;
    shared.least = ~0u;
  }
#pragma unroll
  for (int i = 0; i < items; ++i) {
    own.keys[i] = row.has(own.column(i)) ? key_of(vectors[i / width].elements[i % width]) : 0;
  }
  __syncthreads();
  drop_keys(shared, own, k);
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
