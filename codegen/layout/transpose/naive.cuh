#pragma once
// B[batch][n][m] = A[batch][m][n], one thread an element: the truth for the others.

__device__ __forceinline__ void transpose_element(const Arguments& arguments) {
  const long long m = arguments.m, n = arguments.n;
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long batch = element / (m * n);
  const long long row = element / n % m;
  const long long column = element % n;
  if (batch < arguments.batch) {
    arguments.b[batch * arguments.stride_b + column * arguments.ldb + row] =
        arguments.a[batch * arguments.stride_a + row * arguments.lda + column];
  }
}
