#pragma once
#include "sorting/radix_sort/ranks.cuh"
#include "sorting/radix_sort/workspace.cuh"
// How many keys of earlier tiles have a digit, after Merrill and Garland, Single-pass Parallel Prefix Scan
// with Decoupled Look-back, 2016, for each digit (Adinets and Merrill, Onesweep, 2022). A tile leaves its
// count at once. Its total, the place behind its last key with the digit, takes the count's place as soon as
// it is known: the counts of the tiles before, down to the first total among them. Words carry the launch's
// number, so they need not be cleared.

// Lanes that look for the same digit, each at tiles of its own: a power of two, as the block has threads for.
__device__ __forceinline__ constexpr int lookers_of(int threads) {
  int lookers = 1;
  while (2 * lookers * bins <= threads && lookers < 32) lookers *= 2;
  return lookers;
}
constexpr int lookers = lookers_of(Schedule::threads);

class LookBack {
 public:
  // `words` are those of a row: one of each tile for each digit.
  __device__ __forceinline__ LookBack(Status* words, unsigned epoch)
      : words_(words), count_(epoch << 1), total_(epoch << 1 | 1) {}

  __device__ __forceinline__ void leave_count(unsigned tile, int digit, Count count) const {
    store_status(word(tile, digit), {count, count_});
  }
  __device__ __forceinline__ void leave_total(unsigned tile, int digit, Count total) const {
    replace_status(word(tile, digit), {total, total_});
  }

  // The total of the tile before, of the first one where it begins. All lanes of a warp call it, and those of
  // the same digit are `32 / lookers` apart.
  __device__ __forceinline__ Count total_before(unsigned tile, int digit) const {
    constexpr int stride = 32 / lookers, window = Schedule::window;
    const int looker = threadIdx.x % 32 / stride;
    Count sum = 0;
    bool done = false;
    while (!__all_sync(0xffffffffu, done)) {
      const int mine = static_cast<int>(tile) - 1 - looker * window;
      Status found[window];
#pragma unroll
      for (int i = 0; i < window; ++i) {
        found[i] = mine >= i && !done ? load_status(word(mine - i, digit)) : Status{0, 0};
      }
      Count own = 0;
      int added = 0;
      bool ends = false;
#pragma unroll
      for (int i = 0; i < window; ++i) {
        if (added != i || ends) break;
        ends = found[i].mark == total_;
        if (ends || found[i].mark == count_) {
          own += found[i].number;
          ++added;
        }
      }
      // What the lanes of a digit have found, from the nearest tiles on, as far as none lacks.
      bool whole = true;
#pragma unroll
      for (int other = 0; other < lookers; ++other) {
        const int lane = threadIdx.x % stride + other * stride;
        const Count number = from_lane<32>(own, lane);
        const int tiles = __shfl_sync(0xffffffffu, added, lane);
        const bool is_last = __shfl_sync(0xffffffffu, static_cast<int>(ends), lane) != 0;
        if (!whole || done) continue;
        sum += number;
        tile -= tiles;
        done = is_last;
        whole = tiles == window;
      }
    }
    return sum;
  }

 private:
  __device__ __forceinline__ Status* word(unsigned tile, int digit) const {
    return words_ + static_cast<size_t>(tile) * bins + digit;
  }

  Status* words_;
  unsigned count_, total_;
};
