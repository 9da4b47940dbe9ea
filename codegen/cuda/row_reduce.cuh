#pragma once
#include "cuda/barrier.cuh"
#include "cuda/cluster.cuh"
#include "cuda/math.cuh"
// Reductions of one value of each thread, in a fixed order: over the lanes of a segment of a warp, over the
// threads of a row, over the blocks of a cluster. A value is a number or a plain struct of words. `combine`
// is commutative bit for bit, so all threads get the same bits.

template <typename Value>
union Words {
  static_assert(sizeof(Value) % 4 == 0, "lanes exchange words of 4 bytes");
  Value value;
  unsigned words[sizeof(Value) / 4];
};

// Over each `lanes` neighbouring lanes, a power of two; all lanes of the warp take part.
template <int lanes, typename Value, class Combine>
__device__ __forceinline__ Value reduce_lanes(Value value, Combine combine) {
#pragma unroll
  for (int step = lanes / 2; step > 0; step /= 2) {
    Words<Value> own, other;
    own.value = value;
#pragma unroll
    for (unsigned i = 0; i < sizeof(Value) / 4; ++i) {
      other.words[i] = __shfl_xor_sync(0xffffffffu, own.words[i], step);
    }
    value = combine(value, other.value);
  }
  return value;
}

// Over each `threads` neighbouring threads, a power of two; all threads of the block take part. Rows of more
// than a warp need `scratch` in shared memory, one value for each warp of the block, which may be written
// again after the next barrier.
template <int threads, typename Value, class Combine>
__device__ __forceinline__ Value reduce_row(Value value, Combine combine, Value* scratch) {
  value = reduce_lanes<(threads < 32 ? threads : 32)>(value, combine);
  if constexpr (threads > 32) {
    constexpr unsigned warps = threads / 32;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) scratch[warp] = value;
    __syncthreads();
    value = reduce_lanes<warps>(scratch[warp / warps * warps + lane % warps], combine);
  }
  return value;
}

// Over the `blocks` of a cluster, up to 16, each of which has one value, in all of its threads. Each sends
// its own to all others, so none reads what is not its own, and it may end when it has the result. `scratch`
// has one value for each block, and `barrier` is for one arrival; all blocks have begun, and neither is used
// again.
template <int blocks, typename Value, class Combine>
__device__ __forceinline__ Value reduce_cluster(Value value, Combine combine, Value* scratch,
                                                Barrier& barrier) {
  if (threadIdx.x == 0) barrier.arrive_and_expect(blocks * sizeof(Value));
  if (threadIdx.x < blocks) send_to_rank(scratch + blockIdx.x % blocks, threadIdx.x, value, barrier);
  barrier.wait(0);
  return reduce_lanes<blocks>(scratch[threadIdx.x % blocks], combine);
}

struct Sum {
  template <typename Number>
  __device__ __forceinline__ Number operator()(Number a, Number b) const {
    return a + b;
  }
};

// NaN if any number is NaN.
struct Max {
  template <typename Number>
  __device__ __forceinline__ Number operator()(Number a, Number b) const {
    return a > b ? a : b;
  }
  __device__ __forceinline__ float operator()(float a, float b) const { return max_nan(a, b); }
};
struct Min {
  template <typename Number>
  __device__ __forceinline__ Number operator()(Number a, Number b) const {
    return a < b ? a : b;
  }
  __device__ __forceinline__ float operator()(float a, float b) const { return min_nan(a, b); }
};

template <typename Number, typename Index>
struct Indexed {
  Number value;
  Index index;
};

// The largest number and its index: the first index of equal numbers; NaN is larger than all numbers.
struct ArgMax {
  template <typename Number, typename Index>
  __device__ __forceinline__ Indexed<Number, Index> operator()(Indexed<Number, Index> a,
                                                               Indexed<Number, Index> b) const {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool tie = a.value == b.value || (a_nan && b_nan);
    const bool a_first = tie ? a.index < b.index : a_nan || a.value > b.value;
    return a_first ? a : b;
  }
};

// Σ 2^(factor (x - max)) over the x so far, and their maximum. Without any x: -infinity and 0.
struct SoftmaxSum {
  float max;
  float sum;
};

// A single x. That of -infinity adds nothing, even if there is nothing else.
__device__ __forceinline__ SoftmaxSum softmax_term(float x) { return {x, x == -infinity() ? 0.0f : 1.0f}; }

// Infinite maxima are equal rather than subtracted, which would give NaN: of some x = infinity the sum is
// their number. NaN in any x gives NaN.
struct AddSoftmaxSums {
  float factor = 1.0f;  // more than 0
  __device__ __forceinline__ SoftmaxSum operator()(SoftmaxSum a, SoftmaxSum b) const {
    const float max = max_nan(a.max, b.max);
    const float a_scale = a.max == max ? 1.0f : exp2_flushed(factor * (a.max - max));
    const float b_scale = b.max == max ? 1.0f : exp2_flushed(factor * (b.max - max));
    return {max, __fadd_rn(__fmul_rn(a.sum, a_scale), __fmul_rn(b.sum, b_scale))};
  }
};
