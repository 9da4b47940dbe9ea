#pragma once
// out[i] = alpha · x[i] for the arrays of a list: a block has a part of one array, which may end earlier.

__device__ __forceinline__ void scale_part(const Arguments& arguments) {
  const int number = blockIdx.y;
  const long long length = arguments.length[number];
  const float* source = arguments.x[number];
  float* target = arguments.out[number];
  const long long begin = blockIdx.x * static_cast<long long>(Schedule::threads * Schedule::items);
  for (int item = 0; item < Schedule::items; ++item) {
    const long long index = begin + item * Schedule::threads + threadIdx.x;
    if (index < length) target[index] = arguments.alpha * source[index];
  }
}
