#pragma once

// How many of `count` ascending numbers are below a key. The lanes of a warp look at 32 of them at once.
__device__ __forceinline__ long long count_below(const long long* numbers, long long count, long long key) {
  const int lane = threadIdx.x % 32;
  long long begin = 0;
  while (count > 0) {
    const long long step = (count + 31) / 32, end = (lane + 1) * step;
    const bool below = end <= count && numbers[begin + end - 1] < key;
    const long long passed = __popc(__ballot_sync(0xffffffffu, below)) * step;
    begin += passed;
    count = min(count - passed, step - 1);
  }
  return begin;
}
