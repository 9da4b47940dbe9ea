#pragma once

// The pointer to z is one of doubles where this is the reference.
__device__ __forceinline__ void axpby_naive(const Arguments& arguments) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= arguments.n) return;
#if reference
  using Result = double;
#else
  using Result = float;
#endif
  arguments.z[i] = static_cast<Result>(arguments.alpha) * arguments.x[i] +
                   static_cast<Result>(arguments.beta) * arguments.y[i];
}
