#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "vision/letterbox/picture.cuh"
#include "vision/letterbox/place.cuh"
// A pixel of a target, as three numbers of a network.

using Element = Problem::Element;

#if rule == cv2
__device__ __forceinline__ float mixed(int a, int b, int c, int d, const Tap& down, const Tap& across) {
  const int above = (a * across.near + b * across.far) >> 4;
  const int below = (c * across.near + d * across.far) >> 4;
  return static_cast<float>(((down.near * above >> 16) + (down.far * below >> 16) + 2) >> 2);
}
#else
__device__ __forceinline__ float mixed(float one, float other, const Tap& tap) {
  return __fadd_rn(__fmul_rn(one, tap.near), __fmul_rn(other, tap.far));
}
__device__ __forceinline__ float mixed(int a, int b, int c, int d, const Tap& down, const Tap& across) {
  return mixed(mixed(a, b, across), mixed(c, d, across), down);
}
#endif

// A level as the number of a channel of the target.
__device__ __forceinline__ Element number_of(const Arguments& arguments, float level, int channel) {
  float number = __fmul_rn(level, arguments.scale);
#if normalised
  number = (number - arguments.mean[channel]) / arguments.std[channel];
#endif
  return from_float<Element>(number);
}

// The channel of the picture that is one of the target's.
__device__ __forceinline__ int source_of(int channel) {
#if swap_channels
  return 2 - channel;
#else
  return channel;
#endif
}

// What of a picture's target is number `channel` of a pixel, made by two rows and two columns.
__device__ __forceinline__ Element resized(const Arguments& arguments, const Picture& picture,
                                           const Tap& down, const Tap& across, int channel) {
  const int source = source_of(channel);
  const int a = picture.at(down.first, across.first)[source],
            b = picture.at(down.first, across.second)[source];
  const int c = picture.at(down.second, across.first)[source];
  const int d = picture.at(down.second, across.second)[source];
  return number_of(arguments, mixed(a, b, c, d, down, across), channel);
}

// The place of a pixel's number in the target of a picture.
__device__ __forceinline__ long long place_in_target(const Arguments& arguments, int y, int x, int channel) {
#if order == nchw
  return (static_cast<long long>(channel) * arguments.height + y) * arguments.width + x;
#else
  return (static_cast<long long>(y) * arguments.width + x) * 3 + channel;
#endif
}

__device__ __forceinline__ Element* target_of(const Arguments& arguments, long long image) {
  return arguments.target + image * 3 * arguments.height * arguments.width;
}

// Stores neighbours of a row, of which the first is in column `x`: all numbers of each channel together.
template <int pixels>
__device__ __forceinline__ void store_pixels(const Arguments& arguments, long long image, int y, int x,
                                             const Element (&numbers)[3][pixels]) {
  Element* target = target_of(arguments, image);
#pragma unroll
  for (int part = 0; part < 3; ++part) {
    Packed<Element, pixels> packed;
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
#if order == nchw
      packed.elements[i] = numbers[part][i];
#else
      packed.elements[i] = numbers[(part * pixels + i) % 3][(part * pixels + i) / 3];
#endif
    }
#if order == nchw
    store_global<false>(target + place_in_target(arguments, y, x, part), packed);
#else
    store_global<false>(target + place_in_target(arguments, y, x, 0) + part * pixels, packed);
#endif
  }
}

__device__ __forceinline__ void write_placement(const Arguments& arguments, const Place& place,
                                                long long image) {
  float* placement = arguments.placement + 3 * image;
  placement[0] = place.ratio;
  placement[1] = static_cast<float>(place.left);
  placement[2] = static_cast<float>(place.top);
}
