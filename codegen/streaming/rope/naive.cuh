#pragma once
#include "cuda/numbers.cuh"
#include "streaming/rope/angles.cuh"
// A thread turns a pair, or copies an element, and computes in `Number`. The reference computes and stores
// double.

template <typename Result>
__device__ __forceinline__ Result to_result(float value) {
  return from_float<Result>(value);
}
template <typename Result>
__device__ __forceinline__ double to_result(double value) {
  return value;
}

// A turn, and its angle in radians, which is 0 with a table.
template <typename Number>
struct Turn {
  Number cosine, sine, angle;
};

__device__ __forceinline__ void find(Turn<float>& turn, const Arguments& arguments, const Problem& problem,
                                     long long position, int pair) {
  float cosines[1], sines[1];
  angles_at(cosines, sines, arguments, problem, position, pair);
  turn = {cosines[0], sines[0], 0.0f};
}

__device__ __forceinline__ void find(Turn<double>& turn, const Arguments& arguments, const Problem& problem,
                                     long long position, int pair) {
#if angles == computed
  double turns[1];
  frequencies(turns, arguments, problem, pair);
  const double all = position * turns[0];
  sincospi(2.0 * (all - rint(all)), &turn.sine, &turn.cosine);
  turn.angle = 6.283185307179586 * all;
#else
  const float* row = arguments.table + (position * problem.rotated + pair);
  turn = {row[0], row[problem.rotated / 2], 0.0};
#endif
}

template <typename Number, typename Result>
__device__ __forceinline__ void rope_naive(const Arguments& arguments, Result* r, Result* s,
                                           double error_weight = 0.0) {
  const Problem problem(arguments);
  const int half = problem.rotated / 2, of_head = problem.head_dim - half;
  const int heads = problem.heads_q + problem.heads_k;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int number = static_cast<int>(thread % of_head), head = static_cast<int>(thread / of_head % heads);
  const long long token = thread / of_head / heads;
  if (token >= problem.batch) return;

  const bool of_q = head < problem.heads_q;
  const int row = of_q ? head : head - problem.heads_q;
  const Problem::Element* x = of_q ? arguments.q + (token * problem.stride_q + row * problem.ldq)
                                   : arguments.k + (token * problem.stride_k + row * problem.ldk);
  const long long to =
      of_q ? token * problem.stride_r + row * problem.ldr : token * problem.stride_s + row * problem.lds;
  Result* y = (of_q ? r : s) + to;
#if reference
  double* scale = (of_q ? arguments.r_scale : arguments.s_scale) + to;
#endif
  if (number >= half) {
    const Number copied = to_float(x[half + number]);
    y[half + number] = to_result<Result>(copied);
#if reference
    scale[half + number] = fabs(copied);
#endif
    return;
  }
  Turn<Number> turn;
  find(turn, arguments, problem, position_of(arguments, problem, token), number);
#if conj
  turn.sine = -turn.sine;
#endif
  const int first = Problem::interleaved ? 2 * number : number;
  const int second = Problem::interleaved ? first + 1 : first + half;
  const Number a = to_float(x[first]), b = to_float(x[second]);
  const Number c = a * turn.cosine - b * turn.sine, d = a * turn.sine + b * turn.cosine;
  y[first] = to_result<Result>(c);
  y[second] = to_result<Result>(d);
#if reference
  const double weight = (fabs(a) + fabs(b)) * (1.0 + fabs(turn.angle)) * error_weight;
  scale[first] = fabs(c) + weight;
  scale[second] = fabs(d) + weight;
#endif
}
