// Multiplies random matrices of some sizes and compares words of the result with a sum in double precision:
//   nvcc -O2 example.cpp sgemm.cpp -lcuda -o example && ./example .
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sgemm.h"
#include "tables.hpp"

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown error";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text);
  std::exit(1);
}

CUdeviceptr uploaded(const std::vector<float>& values) {
  CUdeviceptr pointer;
  check(cuMemAlloc(&pointer, values.size() * sizeof(float)), "cuMemAlloc");
  check(cuMemcpyHtoD(pointer, values.data(), values.size() * sizeof(float)), "cuMemcpyHtoD");
  return pointer;
}

std::vector<float> random_words(size_t count) {
  std::vector<float> words(count);
  for (float& word : words) word = 2.0f * std::rand() / RAND_MAX - 1.0f;
  return words;
}

// The largest error of every 997th word of C.
double multiply(int m, int n, int k) {
  const auto a = random_words(size_t(m) * k), b = random_words(size_t(k) * n);
  std::vector<float> c(size_t(m) * n);
  const CUdeviceptr at_a = uploaded(a), at_b = uploaded(b), at_c = uploaded(c);
  CUdeviceptr workspace = 0;
  if (const size_t bytes = autotune_sgemm_workspace_bytes(m, n, k)) {
    check(cuMemAlloc(&workspace, bytes), "cuMemAlloc");
    check(cuMemsetD8(workspace, 0, bytes), "cuMemsetD8");
  }
  check(autotune_sgemm(at_a, at_b, at_c, m, n, k, 1.0f, 0.0f, workspace, nullptr), "autotune_sgemm");
  check(cuMemcpyDtoH(c.data(), at_c, c.size() * sizeof(float)), "cuMemcpyDtoH");
  for (CUdeviceptr pointer : {at_a, at_b, at_c, workspace}) cuMemFree(pointer);
  double worst = 0;
  for (size_t word = 0; word < c.size(); word += 997) {
    const size_t row = word / n, column = word % n;
    double sum = 0;
    for (int i = 0; i < k; ++i)
      sum += double(autotune::transpose_a ? a[size_t(i) * m + row] : a[row * k + i]) *
             (autotune::transpose_b ? b[column * k + i] : b[size_t(i) * n + column]);
    worst = std::fmax(worst, std::fabs(sum - c[word]));
  }
  return worst;
}

}  // namespace

int main(int count, char** arguments) {
  CUdevice gpu;
  CUcontext context;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&gpu, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, gpu), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(autotune_sgemm_load(count > 1 ? arguments[1] : "."), "autotune_sgemm_load");
  bool passed = true;
  for (const auto& record : autotune::records) {
    const int m = record.size.m, n = record.size.n, k = record.size.k;
    for (const int more : {0, 1}) {
      const double error = multiply(m + more, n + more, k + more);
      passed = passed && error < 4 * std::ldexp(1.0, -24) * (k + 5);
      std::printf("%d x %d x %d: largest error %g\n", m + more, n + more, k + more, error);
    }
  }
  std::puts(passed ? "passed" : "FAILED");
  return passed ? 0 : 1;
}
