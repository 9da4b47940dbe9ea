#pragma once
// Pairs of elements of heads are turned by the place of their token.

// The cosines of a token's pairs, ahead of their sines. A place that the table lacks is taken for the
// nearest.
__device__ __forceinline__ const float* turns_of(const Arguments& arguments, const Problem& problem,
                                                 int token) {
#if by_request
  const long long place =
      static_cast<long long>(arguments.lengths[token / problem.fresh]) + token % problem.fresh;
#else
  const long long place = arguments.positions[token];
#endif
  const long long last = problem.table_rows - 1;
  return arguments.turns + max(0ll, min(place, last)) * Problem::rotary_dim;
}

// Each product and each sum is rounded, so that all kernels have the same bits.
__device__ __forceinline__ void turn(Element& first, Element& second, const float* turns, int pair) {
  const float cosine = turns[pair], sine = turns[Problem::rotary_dim / 2 + pair];
  const float a = to_float(first), b = to_float(second);
  first = from_float<Element>(__fadd_rn(__fmul_rn(a, cosine), -__fmul_rn(b, sine)));
  second = from_float<Element>(__fadd_rn(__fmul_rn(a, sine), __fmul_rn(b, cosine)));
}
#if queries

__device__ __forceinline__ Element* query_of(const Arguments& arguments, const Problem& problem, int token,
                                             int head) {
  return arguments.q + token * problem.stride_q_t + head * problem.stride_q_h;
}
#endif
