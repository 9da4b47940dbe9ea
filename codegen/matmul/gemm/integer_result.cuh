#pragma once
// Results of int32: alpha·sum, to the nearest whole number.

__device__ __forceinline__ int finished_integer(const Arguments& arguments, const Problem& problem,
                                                double sum) {
  if (arguments.alpha == 0.0f || problem.k == 0) return 0;
  const double z = rint(arguments.alpha * sum);
  return static_cast<int>(z < -2147483648.0 ? -2147483648.0 : z > 2147483647.0 ? 2147483647.0 : z);
}
__device__ __forceinline__ int finished_integer(const Arguments& arguments, const Problem& problem, int sum) {
  return arguments.alpha == 1.0f ? sum : finished_integer(arguments, problem, static_cast<double>(sum));
}
