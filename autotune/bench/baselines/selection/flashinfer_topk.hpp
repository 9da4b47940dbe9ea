// FlashInfer's selection from rows, compiled by nvcc for the types that are defined ahead of it.
#include <flashinfer/math.cuh>
#include <flashinfer/topk.cuh>

// With `scratch` null it writes the bytes that are needed there, of which the first are zeros between
// launches. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, Element* x, Element* values, void* indices,
                           long long rows, long long columns, long long k, void* stream) {
  constexpr size_t state_bytes = 1 << 20;  // as flashinfer.top_k takes
  *bytes = state_bytes + rows * k * sizeof(int);
  if (scratch == nullptr) return cudaSuccess;
  int* found = reinterpret_cast<int*>(static_cast<char*>(scratch) + state_bytes);
  return flashinfer::sampling::TopKDispatch<Element, int>(
      x, found, values, rows, k, columns, static_cast<flashinfer::sampling::RadixRowState*>(scratch), SORTED,
      false, flashinfer::sampling::TopKTieBreak::None, static_cast<cudaStream_t>(stream));
}
