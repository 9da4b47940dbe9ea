#pragma once
#include "vision/letterbox/pixel.cuh"

// A part of a target, of which each block has one.
struct Part {
  long long image;
  int x, y;  // its first column and row
};

template <int width, int height>
__device__ __forceinline__ Part part_of(const Arguments& arguments) {
  const int across = (arguments.width + width - 1) / width;
  const int down = (arguments.height + height - 1) / height;
  const long long parts = static_cast<long long>(across) * down;
  const int number = static_cast<int>(blockIdx.x % parts);
  return {blockIdx.x / parts, number % across * width, number / across * height};
}

// The picture of a block's part. `place`, where it lies, is in shared memory.
__device__ __forceinline__ Picture placed_picture(const Arguments& arguments, const Part& part,
                                                  Place& place) {
  const Picture picture = picture_of(arguments, part.image);
  if (threadIdx.x == 0) {
    place = place_of(picture.height, picture.width, arguments.height, arguments.width);
    if (part.x == 0 && part.y == 0) write_placement(arguments, place, part.image);
  }
  __syncthreads();
  return picture;
}
