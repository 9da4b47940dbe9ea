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
// Scale and zero point of a group, as they are stored: while they are on their way, nothing is done to them.
struct Group {
  Scale stored_scale;
#  if zeros
  unsigned char stored_zero;
#  endif

  __device__ __forceinline__ float scale() const { return to_float(stored_scale); }
  __device__ __forceinline__ float zero() const {
#  if zeros
    return static_cast<float>(stored_zero);
#  else
    return 8.0f;
#  endif
  }
};

// That of the weight `first_k` + `k` of a row, where `k` is a constant; the last one's, if the row ends
// before.
template <bool guarded>
__device__ __forceinline__ Group group_at(const QuantisedRows& row, int first_k, int k, int groups) {
  constexpr int size = Problem::group_size;
  int first = first_k / size, index = k / size;
  if (k % size != 0) {
    first = (first_k + k) / size;
    index = 0;
  }
  if (guarded) index = min(index, groups - 1 - first);
  Group group;
  group.stored_scale = load_global<1, false>(row.scales + first + index).elements[0];
#  if zeros
  group.stored_zero = __ldg(row.zeros + first + index);
#  endif
  return group;
}
#  if stages > 1

// The groups of a thread's vectors, those of a tile ahead of its turn: tiles are copied, and groups would be
// waited for instead.
struct TileGroups {
  Group now[loads][strips], next[loads][strips];

  // Of the tile at whose column `first_k` the thread begins; its vectors are `step_k` apart.
  __device__ __forceinline__ void load(const QuantisedRows (&rows)[strips], int first_k, int step_k,
                                       int groups) {
#    pragma unroll
    for (int load = 0; load < loads; ++load) {
#    pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
#    if edge_k
        next[load][strip] = group_at<true>(rows[strip], first_k, load * step_k, groups);
#    else
        next[load][strip] = group_at<false>(rows[strip], first_k, load * step_k, groups);
#    endif
      }
    }
  }

  __device__ __forceinline__ void advance() {
#    pragma unroll
    for (int load = 0; load < loads; ++load) {
#    pragma unroll
      for (int strip = 0; strip < strips; ++strip) now[load][strip] = next[load][strip];
    }
  }
};
#  endif
#endif

// Codes as bits, the first one in the lowest: 4 bytes of a vector, or all of it.
template <int count>
__device__ __forceinline__ unsigned codes_of(const Packed<Stored, count>& vector, int index) {
  if constexpr (count >= 4) {
    Packed<unsigned, count / 4> words;
    words.bits = vector.bits;
    return words.elements[index];
  } else {
    return vector.bits;
  }
}

#if weights == int4
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
// Likewise of 2^23, to which 128 is added so that no code is negative.
__device__ __forceinline__ void decode(float (&w)[chunk], const Vector& vector, int index, float) {
#  pragma unroll
  for (int i = 0; i < chunk; ++i) {
    const unsigned codes = codes_of(vector, (index * chunk + i) / 4) ^ 0x80808080u;
    w[i] = __uint_as_float(__byte_perm(codes, 0x4b000000u, 0x7650u | i % 4)) - 8388736.0f;
  }
}
#else
// Two codes become two float16.
__device__ __forceinline__ unsigned decoded_pair(const Vector& vector, int first) {
  return float16_pair(static_cast<unsigned short>(codes_of(vector, first / 4) >> first % 4 * 8));
}

__device__ __forceinline__ void decode(float (&w)[chunk], const Vector& vector, int index, float) {
#  pragma unroll
  for (int i = 0; i < chunk; i += 2) {
    const unsigned pair = decoded_pair(vector, index * chunk + i);
    w[i] = first_of<float16>(pair);
    if (i + 1 < chunk) w[i + 1] = second_of<float16>(pair);
  }
}
#endif
