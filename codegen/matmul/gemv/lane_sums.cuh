#pragma once
// Sums over the lanes of a warp, of many values at once: in each step a lane hands half of its values to
// another one and adds up the other half, so that `count` values take about as many shuffles, rather than
// five times as many. The order of additions is fixed.

// Of the `count` values ahead in the array, a power of two; those behind its end are 0. The index of the
// first of the values that are left ahead, of which there are `lane_share`.
template <int step, int count, int size>
__device__ __forceinline__ int scatter_lane_sums(float (&values)[size]) {
  if constexpr (step == 0) {
    return 0;
  } else if constexpr (count == 1) {
    values[0] += __shfl_xor_sync(0xffffffffu, values[0], step);
    return scatter_lane_sums<step / 2, 1>(values);
  } else {
    constexpr int half = count / 2;
    const bool upper = threadIdx.x & step;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const float low = values[i], high = half + i < size ? values[half + i] : 0.0f;
      values[i] = (upper ? high : low) + __shfl_xor_sync(0xffffffffu, upper ? low : high, step);
    }
    return (upper ? half : 0) + scatter_lane_sums<step / 2, half>(values);
  }
}

__device__ constexpr int power_of_two(int least) {
  return least <= 1 ? 1 : 2 * power_of_two((least + 1) / 2);
}

// Calls `visit` with the index and the sum of each value over each `lanes` neighbouring lanes, once.
template <int lanes, int size, class Visit>
__device__ __forceinline__ void for_each_lane_sum(float (&values)[size], Visit visit) {
  constexpr int count = power_of_two(size);
  constexpr int share = count > lanes ? count / lanes : 1, copies = count < lanes ? lanes / count : 1;
  const int first = scatter_lane_sums<lanes / 2, count>(values);
  if (threadIdx.x % copies != 0) return;
#pragma unroll
  for (int i = 0; i < share; ++i) {
    if (first + i < size) visit(first + i, values[i]);
  }
}
