#pragma once
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
// A row of O by a block, which computes its scores twice.

__device__ __forceinline__ float natural_power(float x) { return expf(x); }
__device__ __forceinline__ double natural_power(double x) { return exp(x); }
__device__ __forceinline__ float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ __forceinline__ double hyperbolic_tangent(double x) { return tanh(x); }

// An element as a number.
__device__ __forceinline__ double number_of(double value) { return value; }
template <typename Element>
__device__ __forceinline__ float number_of(Element value) {
  return to_float(value);
}

// What is written: the number, or its rounding to the output's type.
__device__ __forceinline__ void store(double* target, double value) { *target = value; }
template <typename Result>
__device__ __forceinline__ void store(Result* target, double value) {
  *target = from_float<Result>(static_cast<float>(value));
}

struct LargerOrNan {
  template <typename Number>
  __device__ __forceinline__ Number operator()(Number a, Number b) const {
    return a > b || a != a ? a : b;
  }
};

// Columns of o that a thread has.
template <int threads>
constexpr int own_columns = (Problem::value_dim + threads - 1) / threads;

// A row as fragments have it.
struct RowName {
  int sequence;
  int query;
};

// The score of query `place` of `batch` and `head` with a key, of which k[i] is an element.
template <typename Number, class Key>
__device__ __forceinline__ Number score_with(const Arguments& arguments, const Problem& problem,
                                             long long batch, int place, RowName name, int head, int key,
                                             Key k) {
  const Problem::Element* q =
      arguments.q + batch * problem.stride_q_b + place * problem.stride_q_s + head * problem.stride_q_h;
  Number sum = 0;
  for (int i = 0; i < Problem::head_dim; ++i) sum += Number(to_float(q[i])) * Number(number_of(k[i]));
  sum *= arguments.scale == 0.0f ? Number(Problem::usual_scale) : Number(arguments.scale);
#if softcap
  const Number cap = arguments.softcap;
  sum = cap * hyperbolic_tangent(sum / cap);
#endif
#if scored
  sum = Problem::score_of(sum, arguments, name.sequence, head, name.query, key);
#endif
#if masked
  if (!Problem::sees(arguments, name.sequence, head, name.query, key)) sum = -infinity();
#endif
  return sum;
}

// `query` of `batch` and `head` sees the keys from `first` on, up to the one before `end`, with scores
// score(key); value_at(key)[i] are elements of their values. `Number` is what is computed with; `weights` in
// shared memory has one for each thread, and one for each warp.
template <int threads, typename Number, class Score, class ValueAt>
__device__ __forceinline__ void attend_scores(const Arguments& arguments, const Problem& problem,
                                              long long batch, int place, RowName name, int head, int first,
                                              int end, Score score, ValueAt value_at, Number* weights) {
  Number* scratch = weights + threads;
  Number largest = -infinity();
  for (int key = first + static_cast<int>(threadIdx.x); key < end; key += threads)
    largest = LargerOrNan()(largest, score(key));
  largest = reduce_row<threads>(largest, LargerOrNan(), scratch);
#if sinks
  const Number sink = arguments.sinks[head];
  largest = LargerOrNan()(largest, sink);
#endif
  const bool nothing = largest == -infinity();
  Number sum = 0, sums[own_columns<threads>] = {};
#if reference
  double sizes[own_columns<threads>] = {}, unweighted[own_columns<threads>] = {};
#endif
  for (int base = first; base < end; base += threads) {
    const int key = base + static_cast<int>(threadIdx.x);
    const Number weight = key < end && !nothing ? natural_power(score(key) - largest) : 0;
    __syncthreads();
    weights[threadIdx.x] = weight;
    sum += weight;
    __syncthreads();
    for (int other = base; other < min(end, base + threads); ++other) {
      const auto v = value_at(other);
      for (int i = 0; i < own_columns<threads>; ++i) {
        const int column = i * threads + threadIdx.x;
        if (column >= Problem::value_dim) break;
        const Number value = number_of(v[column]);
        sums[i] += weights[other - base] * value;
#if reference
        sizes[i] += weights[other - base] * fabs(value);
#  if masked
        if (!Problem::sees(arguments, name.sequence, head, name.query, other)) continue;
#  endif
        unweighted[i] += fabs(value);
#endif
      }
    }
  }
  __syncthreads();
  sum = reduce_row<threads>(sum, Sum(), scratch);
#if sinks
  if (!nothing) sum += natural_power(sink - largest);
#endif
  const Number divisor = nothing ? Number(1) : sum;
  const long long of_o = batch * problem.stride_o_b + place * problem.stride_o_s + head * problem.stride_o_h;
  for (int i = 0; i < own_columns<threads>; ++i) {
    const int column = i * threads + threadIdx.x;
    if (column >= Problem::value_dim) break;
    const Number result = sums[i] / divisor;
    store(arguments.o + of_o + column, result);
#if reference
    arguments.o_scale[of_o + column] = fabs(result) + (sizes[i] + Problem::flushed * unweighted[i]) / divisor;
#endif
  }
#if lse
  const long long of_lse = (batch * problem.heads + head) * problem.queries + place;
  if (threadIdx.x == 0) store(arguments.lse + of_lse, nothing ? -infinity() : largest + log(sum));
#endif
}

// The same of keys with elements key_at(key)[i].
template <int threads, typename Number, class KeyAt, class ValueAt>
__device__ __forceinline__ void attend_keys(const Arguments& arguments, const Problem& problem,
                                            long long batch, int place, RowName name, int head, int first,
                                            int end, KeyAt key_at, ValueAt value_at, Number* weights) {
  const auto score = [&](int key) {
    return score_with<Number>(arguments, problem, batch, place, name, head, key, key_at(key));
  };
  attend_scores<threads>(arguments, problem, batch, place, name, head, first, end, score, value_at, weights);
}
