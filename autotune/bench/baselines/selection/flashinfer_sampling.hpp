// FlashInfer's softmax and its draw of a token, compiled by nvcc for the parameters that are defined ahead of
// it.
#include <flashinfer/sampling.cuh>

// With `scratch` null it writes the bytes that are needed there. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, float* x,
#if TEMPERATURES
                           float* temperature,
#endif
#if TOP_K
                           int* top_k,
#endif
#if TOP_P
                           float* top_p,
#endif
#if MIN_P
                           float* min_p,
#endif
                           void* tokens, long long rows, long long columns, void* stream) {
  using namespace flashinfer::sampling;
  constexpr size_t workspace_bytes = 1 << 20;  // as flashinfer.sampling.softmax takes
  *bytes = workspace_bytes + rows * (columns * sizeof(float) + sizeof(int) + sizeof(bool)) + 256;
  if (scratch == nullptr) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
#if FROM_LOGITS
  float* probs = reinterpret_cast<float*>(static_cast<char*>(scratch) + workspace_bytes);
#  if TEMPERATURES
  float* divisors = temperature;
#  else
  float* divisors = nullptr;
#  endif
  const cudaError_t status =
      OnlineSoftmax<float>(x, probs, rows, columns, divisors, 1.0f, scratch, workspace_bytes, false, on);
  if (status != cudaSuccess) return status;
  int* drawn = reinterpret_cast<int*>(probs + rows * columns);
#else
  float* probs = x;
  int* drawn = reinterpret_cast<int*>(static_cast<char*>(scratch) + workspace_bytes);
#endif
  bool* valid = reinterpret_cast<bool*>(drawn + rows);
#if TOP_K && TOP_P
  return TopKTopPSamplingFromProb<float, int>(probs, top_k, top_p, drawn, valid, nullptr, rows, 0, 1.0f,
                                              columns, true, nullptr, 1, nullptr, 0, on);
#elif TOP_K
  return TopKTopPSamplingFromProb<float, int>(probs, top_k, nullptr, drawn, valid, nullptr, rows, 0, 1.0f,
                                              columns, true, nullptr, 1, nullptr, 0, on);
#elif TOP_P
  return TopPSamplingFromProb<float, int>(probs, drawn, valid, nullptr, top_p, rows, 1.0f, columns, true,
                                          nullptr, 1, nullptr, 0, on);
#elif MIN_P
  return MinPSamplingFromProb<float, int>(probs, min_p, drawn, valid, nullptr, rows, 0.0f, columns, true,
                                          nullptr, 1, nullptr, 0, on);
#else
  return SamplingFromProb<float, int>(probs, drawn, valid, nullptr, rows, columns, true, nullptr, 1, nullptr,
                                      0, on);
#endif
}
