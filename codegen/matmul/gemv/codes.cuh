#pragma once
#include "matmul/gemv/weights.cuh"
#if weights == fp8
#  include "cuda/number_pairs.cuh"
#endif
// Quantised weights: where a row's codes and groups are, and which numbers codes stand for. A vector is
// decoded in chunks of 8 weights. A scale multiplies the sum of its group, and that of a whole row is left to
// the end.

#if group_size > 0
using Scale = Problem::Scale;
#endif

constexpr int terms = width * Problem::packed;  // weights of a vector
constexpr int chunk = terms < 8 ? terms : 8;

// Rows of W from one on: those of a batch, or a single one.
struct QuantisedRows {
  const Stored* codes;
#if group_size > 0
  const Scale* scales;
#endif
#if zeros
  const unsigned char* zeros;
#endif

  __device__ __forceinline__ QuantisedRows from(const Problem& problem, int n) const {
    QuantisedRows rows;
    rows.codes = codes + n * problem.ldw;
#if group_size > 0
    const long long group = static_cast<long long>(n / Problem::scale_rows) * problem.groups;
    rows.scales = scales + group;
#endif
#if zeros
    rows.zeros = zeros + group;
#endif
    return rows;
  }
};

__device__ __forceinline__ QuantisedRows rows_of_batch(const Arguments& arguments, const Problem& problem,
                                                       int batch) {
  QuantisedRows rows;
  rows.codes = arguments.w + batch * problem.stride_w;
#if group_size > 0
  rows.scales = arguments.scales + batch * problem.stride_scales;
#endif
#if zeros
  rows.zeros = arguments.zeros + batch * problem.stride_scales;
#endif
  return rows;
}

#if group_size > 0
// Scale and zero point of a group.
struct Group {
  float scale, zero;
};

// That of the weight `k` of a row; of the last one, if the row ends before.
__device__ __forceinline__ Group group_at(const QuantisedRows& row, int k, int groups) {
  const int index = min(k / Problem::group_size, groups - 1);
  Group group{to_float(load_global<1, false>(row.scales + index).elements[0]), 8.0f};
#  if zeros
  group.zero = static_cast<float>(__ldg(row.zeros + index));
#  endif
  return group;
}
#endif

#if weights == int4
// The 8 codes of a chunk, the first one in the lowest bits.
template <int count>
__device__ __forceinline__ unsigned codes_of(const Packed<Stored, count>& vector, int index) {
  if constexpr (count < 4) {
    return vector.bits;
  } else {
    Packed<unsigned, count / 4> words;
    words.bits = vector.bits;
    return words.elements[index];
  }
}

// A code becomes a number as the last bits of 2^23, or of 2^19, 2^15, …: no conversion, and no shift but one.
__device__ __forceinline__ void decode(float (&w)[chunk], const Vector& vector, int index, float zero) {
  const unsigned codes = codes_of(vector, index);
#  pragma unroll
  for (int i = 0; i < chunk; ++i) {
    const int place = i < 5 ? 4 * i : 4 * i - 12;
    const float step = 1.0f / (1 << place);
    const unsigned bits = (i < 5 ? codes : codes >> 12) & (0xfu << place);
    w[i] = fmaf(__uint_as_float(bits | 0x4b000000u), step, -8388608.0f * step - zero);
  }
}
#elif weights == int8
__device__ __forceinline__ void decode(float (&w)[chunk], const Vector& vector, int index, float) {
#  pragma unroll
  for (int i = 0; i < chunk; ++i) w[i] = static_cast<float>(vector.elements[index * chunk + i]);
}
#else
__device__ __forceinline__ void decode(float (&w)[chunk], const Vector& vector, int index, float) {
  const float8_e4m3* codes = vector.elements + index * chunk;
  if constexpr (chunk == 1) {
    w[0] = to_float(codes[0]);
  } else {
#  pragma unroll
    for (int i = 0; i < chunk; i += 2) {
      const unsigned pair = float16_pair(codes[i].bits | codes[i + 1].bits << 8);
      w[i] = first_of<float16>(pair);
      w[i + 1] = second_of<float16>(pair);
    }
  }
}
#endif
