#pragma once
#include "sorting/radix_sort/in_block.cuh"
#include "sorting/radix_sort/onesweep.cuh"
// The last launch of a sort whose rows took one pass by their highest digit, if no digit had more keys than a
// tile: a block sorts the keys of each digit where they are. Rows with others took a pass for each digit.

__device__ __forceinline__ void sort_bucket(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long tiles = (problem.columns + tile_keys - 1) / tile_keys, row = blockIdx.x / bins;
  const Workspace workspace(arguments.workspace, problem.rows, tiles);
  if ((workspace.varying[row] & in_buckets) == 0) return;
  const int pass = 31 - __clz(workspace.digits(row)), digit = blockIdx.x % bins;
  const Count* begins = workspace.begins + row * all_bins + pass * bins;
  const long long begin = begins[digit], end = digit + 1 < bins ? begins[digit + 1] : problem.columns;
  const int count = static_cast<int>(end - begin);
  if (count < 2) return;
  Bits* bucket = reinterpret_cast<Bits*>(arguments.keys_out) + row * problem.columns + begin;
  BlockKeys own;
  own.load(bucket, count);
  const int end_bit = Problem::begin_bit + pass * Problem::digit_bits;
  own.sort(*dynamic_shared<BlockMemory>(), count, Problem::begin_bit, end_bit);
#if has_values
  Result* values = reinterpret_cast<Result*>(arguments.values_out) + row * problem.columns + begin;
  Result moved[items];
#  pragma unroll
  for (int i = 0; i < items; ++i) {
    if (first_key() + i * 32 < count) moved[i] = values[own.columns[i]];
  }
  __syncthreads();
#endif
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int place = first_key() + i * 32;
    if (place >= count) break;
    bucket[place] = own.keys[i];
#if has_values
    values[place] = moved[i];
#endif
  }
}
