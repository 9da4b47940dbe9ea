#pragma once
#include "vision/letterbox/filter.cuh"

// A thread for each pixel of a target, which finds out all by itself.
__device__ __forceinline__ void letterbox_naive(const Arguments& arguments) {
  const long long pixels = static_cast<long long>(arguments.height) * arguments.width;
  const long long own = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x, image = own / pixels;
  if (image >= arguments.batch) return;
  const int y = static_cast<int>(own % pixels / arguments.width);
  const int x = static_cast<int>(own % arguments.width);
  const Picture picture = picture_of(arguments, image);
  const Place place = place_of(picture.height, picture.width, arguments.height, arguments.width);
  if (own % pixels == 0) write_placement(arguments, place, image);
  const int down = y - place.top, across = x - place.left;
  const bool inside = down >= 0 && down < place.height && across >= 0 && across < place.width;
#if filtered
  const Filter rows = filter_of(down, place.height, picture.height, place.down);
  const Filter columns = filter_of(across, place.width, picture.width, place.across);
#endif
  for (int channel = 0; channel < 3; ++channel) {
    target_of(arguments, image)[place_in_target(arguments, y, x, channel)] =
#if filtered
        inside ? filtered_pixel(arguments, picture, rows, columns, channel)
#else
        inside ? resized(arguments, picture, tap_of<true>(down, picture.height, place.down),
                         tap_of<false>(across, picture.width, place.across), channel)
#endif
               : number_of(arguments, arguments.pad, channel);
  }
}
