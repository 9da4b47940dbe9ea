#pragma once
// A sort of numbers in shared memory by a block of `threads`. What includes it defines these, and `Entry`.

// The larger or the smaller of a lane's entry and that of another lane.
__device__ __forceinline__ Entry chosen_of_two(Entry own, int step, bool larger) {
  const Entry other = __shfl_xor_sync(0xffffffffu, own, step);
  return (own < other) == larger ? other : own;
}

// The steps of a stage from `step` on, 32 at most, of 64 neighbours: a lane has entries `lane` and `lane +
// 32`.
__device__ __forceinline__ void merge_neighbours(Entry& low, Entry& high, int first, int size, int step) {
  const int lane = threadIdx.x % 32;
  if (step == 32) {
    const bool falling = (first & size) == 0, swaps = (low < high) == falling;
    const Entry kept = low;
    low = swaps ? high : low;
    high = swaps ? kept : high;
    step = 16;
  }
#pragma unroll 1
  for (; step > 0; step /= 2) {
    const bool upper = (lane & step) != 0;
    low = chosen_of_two(low, step, (((first + lane) & size) == 0) != upper);
    high = chosen_of_two(high, step, (((first + lane + 32) & size) == 0) != upper);
  }
}

// Sorts entries, of which there are a power of two and 64 at least, the largest first (Batcher, Sorting
// networks and their applications, 1968). Steps within 64 neighbours are those of a warp, in registers.
__device__ __forceinline__ void sort_entries(Entry* entries, int count) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int size = 64; size <= count; size *= 2) {
#pragma unroll 1
    for (int step = size / 2; step > 32; step /= 2) {
      for (int i = threadIdx.x; i < count / 2; i += threads) {
        const int first = 2 * i - (i & (step - 1)), second = first + step;
        const Entry a = entries[first], b = entries[second];
        const bool falling = (first & size) == 0;
        if ((a < b) == falling) {
          entries[first] = b;
          entries[second] = a;
        }
      }
      __syncthreads();
    }
    for (int first = threadIdx.x / 32 * 64; first < count; first += threads * 2) {
      Entry low = entries[first + lane], high = entries[first + lane + 32];
      if (size == 64) {
#pragma unroll 1
        for (int earlier = 2; earlier < 64; earlier *= 2)
          merge_neighbours(low, high, first, earlier, earlier / 2);
      }
      merge_neighbours(low, high, first, size, 32);
      entries[first + lane] = low;
      entries[first + lane + 32] = high;
    }
    __syncthreads();
  }
}
