#pragma once
// Which segment a key is in.

using Offset = Problem::Offset;

struct Segment {
  long long begin, end;
};

// The first of the offsets `low` to `high` that is behind a place, or `high`.
__device__ __forceinline__ long long first_behind(const Offset* offsets, long long low, long long high,
                                                  long long place) {
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (offsets[middle] > place) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The segment that has a key, by a search among all of them.
__device__ __forceinline__ Segment segment_of(const Offset* offsets, long long segments, long long place) {
  const long long next = first_behind(offsets, 1, segments, place);
  return {static_cast<long long>(offsets[next - 1]), static_cast<long long>(offsets[next])};
}
