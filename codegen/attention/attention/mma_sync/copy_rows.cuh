#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/numbers.cuh"
// Rows of heads on their way to shared memory.

// Begins to copy rows of so many elements; those from `there` on become zeros.
template <int elements, int rows, int pitch, typename Element>
__device__ __forceinline__ void copy_rows(unsigned char* target, const Element* source, long long stride,
                                          int there) {
#if vector_width == 1
  // Through registers, of which a few have elements on their way.
#  pragma unroll 4
  for (int i = threadIdx.x; i < rows * elements; i += Schedule::threads) {
    const int row = i / elements, column = i % elements;
    reinterpret_cast<Element*>(target + row * pitch)[column] =
        row < there ? source[row * stride + column] : Element{};
  }
#else
  constexpr int vector = Schedule::vector_width, vectors = elements / vector, all = rows * vectors;
  constexpr int bytes = vector * sizeof(Element);
#  pragma unroll
  for (int base = 0; base < all; base += Schedule::threads) {
    const int i = base + threadIdx.x, row = i / vectors, column = i % vectors * vector;
    if (all % Schedule::threads != 0 && i >= all) break;
    unsigned char* own = target + row * pitch + column * static_cast<int>(sizeof(Element));
    async_copy_guarded<bytes>(own, source + row * stride + column, row < there ? bytes : 0);
  }
#endif
}
