#pragma once
#include "matmul/gemv/codes.cuh"
// Scales and zero points of a warp's tile, as tensor cores need them. The four lanes of a row have
// neighbouring groups of it each and exchange them: a load of each lane's own would touch a line for every
// row, like a load of codes that is 8 times as wide.

class WarpGroups {
 public:
  // Those of a warp's tile, which begins at column `first_k` of W.
  template <bool guarded>
  __device__ __forceinline__ void load(const QuantisedRows (&rows)[strips], int first_k, int groups) {
    const int first = first_k / size;
#pragma unroll
    for (int strip = 0; strip < strips; ++strip) {
#pragma unroll
      for (int i = 0; i < own; ++i) {
        int index = min(place() * own + i, count - 1);
        if (guarded) index = min(index, groups - 1 - first);  // the last one's, if the row ends before
        scales_[strip][i] = load_global<1, false>(rows[strip].scales + first + index).elements[0];
#if zeros
        zeros_[strip][i] = __ldg(rows[strip].zeros + first + index);
#endif
      }
    }
  }

  // Of the group of a load, which may be another one in each lane. Loads that differ by an even number have
  // the same `slot`.
  __device__ __forceinline__ float scale(int strip, int load, int slot) const {
    return of_row(to_float(scales_[strip][slot % own]), load);
  }
#if zeros

  // Twice, as a pair.
  __device__ __forceinline__ unsigned zeros(int strip, int load) const {
    return of_row(zeros_[strip][load % own] * 0x00010001u, load);
  }
#endif

 private:
  static constexpr int size = Problem::group_size;
  static constexpr int count = warp_k < size ? 1 : warp_k / size;  // those of a row
  static constexpr int own =
      (count + lanes_k - 1) / lanes_k;  // those of a lane: two only for loads that have one each

  static __device__ __forceinline__ int place() { return threadIdx.x % lanes_k; }

  template <class T>
  static __device__ __forceinline__ T of_row(T own_value, int load) {
    if constexpr (count == 1) {
      return own_value;
    } else {
      return __shfl_sync(0xffffffffu, own_value, load * load_k / size / own, lanes_k);
    }
  }

  Scale scales_[strips][own];
#if zeros
  unsigned char zeros_[strips][own];
#endif
};
