#pragma once
#include "vision/letterbox/filter.cuh"

// A thread for each pixel of a target, which finds out all by itself.
__device__ __forceinline__ void letterbox_naive(const Arguments& arguments) {
  const long long pixels = static_cast<long long>(arguments.height) * arguments.width;
  const long long own = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x, image = own / pixels;
  if (image >= arguments.batch) return;
  const int y = static_cast<int>(own % pixels / arguments.width);
  const int x = static_cast<int>(own % arguments.width);
  const Place place =
      place_of(arguments.picture_height, arguments.picture_width, arguments.height, arguments.width);
  if (own % pixels == 0) write_placement(arguments, place, image);
  const int down = y - place.top, across = x - place.left;
  const bool inside = down >= 0 && down < place.height && across >= 0 && across < place.width;
#if filtered
  const Filter rows = filter_of(down, place.height, arguments.picture_height, place.down);
  const Filter columns = filter_of(across, place.width, arguments.picture_width, place.across);
#endif
  for (int channel = 0; channel < 3; ++channel) {
    target_of(arguments, image)[place_in_target(arguments, y, x, channel)] =
#if filtered
        inside ? filtered_pixel(arguments, picture_of(arguments, image), rows, columns, channel)
#else
        inside ? resized(arguments, picture_of(arguments, image),
                         tap_of<true>(down, arguments.picture_height, place.down),
                         tap_of<false>(across, arguments.picture_width, place.across), channel)
#endif
               : number_of(arguments, arguments.pad, channel);
  }
}
