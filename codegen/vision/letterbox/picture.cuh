#pragma once
// Where pictures are in memory.

// Distances are in bytes. Pixels have three channels, side by side.
struct Picture {
  const unsigned char* first;
  long long row, column;
  int height, width;

  __device__ __forceinline__ const unsigned char* at(int y, int x) const {
    return first + y * row + x * column;
  }
};

#if mixed
// By a table on the device: of each picture, the byte where it begins, its height, its width, and the bytes
// from one row to the next. What does not lie within the bytes that there are is an empty picture.
__device__ __forceinline__ Picture picture_of(const Arguments& arguments, long long image) {
  constexpr long long most_side = 1 << 24, channels = 3;
  const long long* entry = arguments.table + 4 * image;
  const long long begin = entry[0], height = entry[1], width = entry[2], row = entry[3];
  const bool has_sides = height > 0 && height <= most_side && width > 0 && width <= most_side;
  const long long behind = begin < 0 ? -1 : arguments.bytes - begin;  // bytes from its first one on
  const bool has_row = has_sides && row >= channels * width && behind >= channels * width;
  if (!has_row || height - 1 > (behind - channels * width) / row)
    return {arguments.images, 0, channels, 0, 0};
  return {arguments.images + begin, row, channels, static_cast<int>(height), static_cast<int>(width)};
}
#else
__device__ __forceinline__ Picture picture_of(const Arguments& arguments, long long image) {
  return {arguments.images + image * arguments.stride_images_b, arguments.stride_images_h,
          arguments.stride_images_w, arguments.picture_height, arguments.picture_width};
}
#endif
