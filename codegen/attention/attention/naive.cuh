#pragma once
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
// O = softmax(scale·Q·Kᵀ)·V: a block for each row, which computes its scores twice.

__device__ __forceinline__ float natural_power(float x) { return expf(x); }
__device__ __forceinline__ double natural_power(double x) { return exp(x); }
__device__ __forceinline__ float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ __forceinline__ double hyperbolic_tangent(double x) { return tanh(x); }

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

// `Number` is what is computed with; `weights` in shared memory has one for each thread, and one for each
// warp.
template <int threads, typename Number>
__device__ __forceinline__ void attend_row(const Arguments& arguments, const Problem& problem, long long row,
                                           Number* weights) {
  using Element = Problem::Element;
  Number* scratch = weights + threads;
  const int head = row % problem.heads, query = row / problem.heads % problem.queries;
  const long long sequence = row / problem.heads / problem.queries;
  const int served = head / problem.group;
  const Element* q =
      arguments.q + sequence * problem.stride_q_b + query * problem.stride_q_s + head * problem.stride_q_h;
  const Element* k = arguments.k + sequence * problem.stride_k_b + served * problem.stride_k_g;
  const Element* v = arguments.v + sequence * problem.stride_v_b + served * problem.stride_v_g;
  const int first = Problem::bounded_left ? max(0, query + problem.low) : 0;
  const int end = Problem::bounded_right ? min(problem.keys, query + problem.high + 1) : problem.keys;
  const Number scale = arguments.scale == 0.0f ? Number(Problem::usual_scale) : Number(arguments.scale);
  const auto score = [&](int key) {
    Number sum = 0;
    for (int i = 0; i < Problem::head_dim; ++i)
      sum += Number(to_float(q[i])) * Number(to_float(k[key * problem.stride_k_t + i]));
    sum *= scale;
#if softcap
    const Number cap = arguments.softcap;
    sum = cap * hyperbolic_tangent(sum / cap);
#endif
    return sum;
  };

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
    const Number weight = key < end ? natural_power(score(key) - largest) : 0;
    __syncthreads();
    weights[threadIdx.x] = weight;
    sum += weight;
    __syncthreads();
    for (int other = base; other < min(end, base + threads); ++other) {
      for (int i = 0; i < own_columns<threads>; ++i) {
        const int column = i * threads + threadIdx.x;
        if (column >= Problem::value_dim) break;
        const Number value = to_float(v[other * problem.stride_v_t + column]);
        sums[i] += weights[other - base] * value;
#if reference
        sizes[i] += weights[other - base] * fabs(value);
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
  const long long place =
      sequence * problem.stride_o_b + query * problem.stride_o_s + head * problem.stride_o_h;
  for (int i = 0; i < own_columns<threads>; ++i) {
    const int column = i * threads + threadIdx.x;
    if (column >= Problem::value_dim) break;
    const Number result = sums[i] / divisor;
    store(arguments.o + place + column, result);
#if reference
    arguments.o_scale[place + column] =
        fabs(result) + (sizes[i] + Problem::flushed * unweighted[i]) / divisor;
#endif
  }
#if lse
  const long long of_lse = (sequence * problem.heads + head) * problem.queries + query;
  if (threadIdx.x == 0) store(arguments.lse + of_lse, nothing ? -infinity() : largest + log(sum));
#endif
}

template <int threads, typename Number>
__device__ __forceinline__ void attention_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  Number* weights = dynamic_shared<Number>();
#if reference
  for (long long sample = blockIdx.x; sample < arguments.sampled_count; sample += gridDim.x) {
    attend_row<threads>(arguments, problem, arguments.sampled_rows[sample], weights);
    __syncthreads();  // before the next row
  }
#else
  attend_row<threads>(arguments, problem, blockIdx.x, weights);
#endif
}
