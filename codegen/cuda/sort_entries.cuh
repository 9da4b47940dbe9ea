#pragma once
// A sort of numbers in shared memory by a block of `threads`. What includes it defines these, and `Entry`.

// Sorts entries, of which there are a power of two, the largest first (Batcher, Sorting networks and their
// applications, 1968).
__device__ __forceinline__ void sort_entries(Entry* entries, int count) {
  for (int size = 2; size <= count; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
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
  }
}
