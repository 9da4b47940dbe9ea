#pragma once

__device__ __forceinline__ bool is_first_of_row(const RowPart& part) {
  const bool first = blockIdx.x % Schedule::cluster == 0 && threadIdx.x % Schedule::threads_per_row == 0;
  return first && part.columns.end > 0;
}
