#pragma once
#include "cuda/packed.cuh"
// Vectors of a row that are aligned where it is read, and not where it is written. Each lane stores the
// aligned vector that begins among the elements of the lane before it, and ends among its own. Element by
// element, L2 takes in each sector again for each element of a vector, and halves of a word take it longer: a
// gradient of 128 x 65537 bfloat16 took an H200 52 us, where its bytes take 10.

constexpr int storing_lanes = Schedule::threads_per_row < 32 ? Schedule::threads_per_row : 32;

// The last `ahead` elements of one vector, and then the first ones of the next.
template <typename Number, int width>
__device__ __forceinline__ Packed<Number, width> joined(const Packed<Number, width>& before,
                                                        const Packed<Number, width>& after, int ahead) {
  constexpr int count = width * sizeof(Number) / 4;
  unsigned words[2 * count];
#pragma unroll
  for (int i = 0; i < count; ++i) {
    words[i] = reinterpret_cast<const unsigned*>(&before)[i];
    words[count + i] = reinterpret_cast<const unsigned*>(&after)[i];
  }
  const int bytes = ahead * static_cast<int>(sizeof(Number));
#pragma unroll
  for (int distance = count / 2; distance > 0; distance /= 2) {
    const bool moved = (bytes / 4 & distance) != 0;
#pragma unroll
    for (int i = 2 * count - 1; i >= distance; --i) words[i] = moved ? words[i - distance] : words[i];
  }
  Packed<Number, width> result;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const auto both = static_cast<unsigned long long>(words[count + i]) << 32 | words[count + i - 1];
    reinterpret_cast<unsigned*>(&result)[i] = static_cast<unsigned>(both >> (32 - bytes % 4 * 8));
  }
  return result;
}

// Stores the elements of a vector that are inside of the row. All lanes of a warp take part.
template <typename Number>
__device__ __forceinline__ void store_row_vector(Number* target,
                                                 const Packed<Number, Schedule::vector_width>& vector,
                                                 Span inside) {
  constexpr int width = Schedule::vector_width;
  using Row = Packed<Number, width>;
  static_assert(sizeof(Row) >= 4, "lanes exchange words");
  const int lane = threadIdx.x % storing_lanes;
  Row before;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(Row)) / 4; ++i) {
    const unsigned word = reinterpret_cast<const unsigned*>(&vector)[i];
    reinterpret_cast<unsigned*>(&before)[i] = __shfl_up_sync(0xffffffffu, word, 1, storing_lanes);
  }
  const auto address = reinterpret_cast<unsigned long long>(target);
  const int ahead = static_cast<int>(address % sizeof(Row) / sizeof(Number));
  const Row aligned = joined(before, vector, ahead);
  // The first lane has nothing before its own elements, and the last one's are nobody else's.
  const int begin = max(inside.begin + ahead, lane > 0 ? 0 : ahead), end = inside.end + ahead;
  if (begin == 0 && end >= width) {
    store_global<Schedule::streaming>(target - ahead, aligned);
  } else {
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (begin <= i && i < end) target[i - ahead] = aligned.elements[i];
    }
  }
  if (lane == storing_lanes - 1 && ahead > 0) {
#pragma unroll
    for (int i = 1; i < width; ++i) {
      if (i >= width - ahead && inside.has(i)) target[i] = vector.elements[i];
    }
  }
}
