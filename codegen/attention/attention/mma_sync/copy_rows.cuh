#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/numbers.cuh"
// Rows of heads on their way to shared memory.

// Begins to copy rows of so many elements; those from `there` on become zeros.
template <int elements, int rows, int pitch, typename Element>
__device__ __forceinline__ void copy_rows(unsigned char* target, const Element* source, long long stride,
                                          int there) {
  constexpr int vector = Schedule::vector_width, vectors = elements / vector, all = rows * vectors;
  constexpr int bytes = vector * sizeof(Element);
#pragma unroll
  for (int base = 0; base < all; base += Schedule::threads) {
    const int i = base + threadIdx.x, row = i / vectors, column = i % vectors * vector;
    if (all % Schedule::threads != 0 && i >= all) break;
    unsigned char* own = target + row * pitch + column * static_cast<int>(sizeof(Element));
    if constexpr (vector == 1) {
      *reinterpret_cast<Element*>(own) = row < there ? source[row * stride + column] : Element{};
    } else {
      async_copy_guarded<bytes>(own, source + row * stride + column, row < there ? bytes : 0);
    }
  }
}
