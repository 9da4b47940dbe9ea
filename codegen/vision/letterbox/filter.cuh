#pragma once
#include "vision/letterbox/pixel.cuh"
// Rows or columns of a picture that make one of a target: those that it covers, or that a filter of its width
// reaches. Each product and sum is rounded.

struct Filter {
  int first, count;  // none outside the picture
#if rule == area
  float begin, end;  // of the target's, from the first one on
#else
  float offset, inverse;  // of the first one's centre from the target's, and of the filter's width
#endif
  float total;  // of all weights

  __device__ __forceinline__ float weight(int i) const {
#if rule == area
    return fminf(static_cast<float>(i + 1), end) - fmaxf(static_cast<float>(i), begin);
#else
    return weight_at(fabsf(__fmul_rn(__fadd_rn(offset, static_cast<float>(i)), inverse)));
#endif
  }

 private:
#if rule == bicubic
  // The cubic that is Catmull and Rom's: its slope at 1 is −½.
  __device__ __forceinline__ static float weight_at(float x) {
    if (x >= 2) return 0.0f;
    if (x < 1) {
      const float sum = __fadd_rn(__fmul_rn(x, 1.5f), -2.5f);
      return __fadd_rn(__fmul_rn(__fmul_rn(sum, x), x), 1.0f);
    }
    const float sum = __fadd_rn(__fmul_rn(__fadd_rn(x, -5.0f), x), 8.0f);
    return __fmul_rn(__fadd_rn(__fmul_rn(sum, x), -4.0f), -0.5f);
  }
#else
  __device__ __forceinline__ static float weight_at(float x) { return fmaxf(__fadd_rn(1.0f, -x), 0.0f); }
#endif
};

// That of number `i` of `scaled` rows or columns, which a side of a picture becomes.
__device__ __forceinline__ Filter filter_of(int i, int scaled, int side, double step) {
  Filter filter;
  filter.first = filter.count = 0;
  filter.total = 0.0f;
  if (i < 0 || i >= scaled) return filter;
#if rule == area
  const double begin = __dmul_rn(i, step), end = __dmul_rn(i + 1, step);
  filter.first = static_cast<int>(begin);
  int last = -static_cast<int>(floor(-end));
  filter.begin = static_cast<float>(begin - filter.first);
  filter.end = static_cast<float>(end - filter.first);
#else
#  if rule == bicubic
  constexpr double radius = 2;
#  else
  constexpr double radius = 1;
#  endif
  const double stretch = step > 1 ? step : 1.0, reach = radius * stretch, center = __dmul_rn(i + 0.5, step);
  filter.first = static_cast<int>(floor(center - reach + 0.5));
  if (filter.first < 0) filter.first = 0;
  int last = static_cast<int>(floor(center + reach + 0.5));
  filter.offset = static_cast<float>(filter.first + 0.5 - center);
  filter.inverse = static_cast<float>(1.0 / stretch);
#endif
  if (last > side) last = side;
  filter.count = last - filter.first;
  for (int tap = 0; tap < filter.count; ++tap) filter.total = __fadd_rn(filter.total, filter.weight(tap));
  return filter;
}

// A sum with one more level.
__device__ __forceinline__ float with_level(float sum, float weight, float level) {
  return __fadd_rn(sum, __fmul_rn(weight, level));
}

// What all sums along rows make: a level of a picture, which has none below 0 or above 255.
__device__ __forceinline__ float level_of(float sum, const Filter& down) {
#if rule == bicubic
  return fminf(fmaxf(sum / down.total, 0.0f), 255.0f);
#else
  return sum / down.total;
#endif
}

// A channel of a pixel of the target.
__device__ __forceinline__ Element filtered_pixel(const Arguments& arguments, const Picture& picture,
                                                  const Filter& down, const Filter& across, int channel) {
  float sum = 0.0f;
  for (int row = 0; row < down.count; ++row) {
    float part = 0.0f;
    for (int i = 0; i < across.count; ++i) {
      const int level = picture.at(down.first + row, across.first + i)[source_of(channel)];
      part = with_level(part, across.weight(i), level);
    }
    sum = with_level(sum, down.weight(row), part / across.total);
  }
  return number_of(arguments, level_of(sum, down), channel);
}
