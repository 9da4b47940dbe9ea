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

// Where a segment begins or ends. Offsets are not trusted: the nearest place that there is stands for one.
__device__ __forceinline__ long long bound_at(const Offset* offsets, const Problem& problem,
                                              long long number) {
  const long long offset = offsets[number];
  return offset < 0 ? 0 : offset < problem.columns ? offset : problem.columns;
}

// The segment that has a key, if a search found the first offset behind it; an empty one of a key in none.
__device__ __forceinline__ Segment segment_ahead(const Offset* offsets, const Problem& problem,
                                                 long long next, long long place) {
  const Segment found = {bound_at(offsets, problem, next - 1), bound_at(offsets, problem, next)};
  return found.begin <= place && place < found.end ? found : Segment{place, place};
}
