#pragma once
#include "cuda/numbers.cuh"
// Products of matrices by the tensor cores of a warp, as nvcuda::wmma has them: wmma.load, wmma.mma and
// wmma.store (sm_75 and newer, bfloat16 and TF32 sm_80). A is 16×terms, B is terms×16, sums are 16×16. All of
// them lie in shared memory, row by row or column by column. PTX does not say which elements a lane gets. So
// a fragment can only be loaded, multiplied and stored; of sums, all may be set to one number.
//
// A row or a column begins at a multiple of the bytes that a lane gets: 32 of float16 and of sums, 16 of
// bfloat16 and TF32, 8 of int8.

// The types: what lies in memory, the type of sums, terms along k, the registers of a lane, and the least
// architecture.
struct WmmaFloat16 {
  using Number = float16;
  using Sum = float;
  static constexpr int terms = 16, registers = 8, least_arch = 750;
  static constexpr char shape[] = ".m16n16k16", number[] = ".f16", numbers[] = ".f32.f32";
};

struct WmmaBfloat16 {
  using Number = bfloat16;
  using Sum = float;
  static constexpr int terms = 16, registers = 4, least_arch = 800;
  static constexpr char shape[] = ".m16n16k16", number[] = ".bf16", numbers[] = ".f32.bf16.bf16.f32";
};

struct WmmaTf32 {  // floats that are rounded
  using Number = float;
  using Sum = float;
  static constexpr int terms = 8, registers = 4, least_arch = 800;
  static constexpr char shape[] = ".m16n16k8", number[] = ".tf32", numbers[] = ".f32.tf32.tf32.f32";
};

struct WmmaInt8 {
  using Number = signed char;
  using Sum = int;
  static constexpr int terms = 16, registers = 2, least_arch = 750;
  static constexpr char shape[] = ".m16n16k16", number[] = ".s8", numbers[] = ".s32.s8.s8.s32";
};

// How a matrix lies in memory: row by row, or column by column.
template <bool rows>
struct WmmaLayout;

template <>
struct WmmaLayout<true> {
  static constexpr char name[] = ".row";
};

template <>
struct WmmaLayout<false> {
  static constexpr char name[] = ".col";
};

// Which of the two that are multiplied.
struct OperandA {
  static constexpr char name[] = ".a";
};
struct OperandB {
  static constexpr char name[] = ".b";
};

// A fragment of A or B. From a row, or from a column, to the next it is `stride` elements. All lanes of the
// warp give the same address.
template <typename Type, typename Operand, typename Layout>
__device__ __forceinline__ void wmma_load(unsigned (&fragment)[Type::registers],
                                          const typename Type::Number* matrix, int stride) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::wmma_load(fragment, Type::registers, matrix, stride, Operand::name, Layout::name,
                               Type::number);
#else
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(matrix));
  if constexpr (Type::registers == 8) {
    asm volatile("wmma.load%8.sync.aligned%9%10.shared%11 {%0, %1, %2, %3, %4, %5, %6, %7}, [%12], %13;"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3]),
                   "=r"(fragment[4]), "=r"(fragment[5]), "=r"(fragment[6]), "=r"(fragment[7])
                 : "C"(Operand::name), "C"(Layout::name), "C"(Type::shape), "C"(Type::number), "r"(address),
                   "r"(stride)
                 : "memory");
  } else if constexpr (Type::registers == 4) {
    asm volatile("wmma.load%4.sync.aligned%5%6.shared%7 {%0, %1, %2, %3}, [%8], %9;"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                 : "C"(Operand::name), "C"(Layout::name), "C"(Type::shape), "C"(Type::number), "r"(address),
                   "r"(stride)
                 : "memory");
  } else {
    asm volatile("wmma.load%2.sync.aligned%3%4.shared%5 {%0, %1}, [%6], %7;"
                 : "=r"(fragment[0]), "=r"(fragment[1])
                 : "C"(Operand::name), "C"(Layout::name), "C"(Type::shape), "C"(Type::number), "r"(address),
                   "r"(stride)
                 : "memory");
  }
#endif
}

// D += A·B, of fragments that were loaded with these layouts. All lanes of the warp take part.
template <typename Type, typename LayoutA, typename LayoutB>
__device__ __forceinline__ void wmma_multiply(typename Type::Sum (&d)[8],
                                              const unsigned (&a)[Type::registers],
                                              const unsigned (&b)[Type::registers]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::wmma_multiply(d, a, b, LayoutA::name, LayoutB::name, Type::number);
#else
  if constexpr (Type::registers == 8) {
    asm("wmma.mma.sync.aligned%24%25%26%27 {%0, %1, %2, %3, %4, %5, %6, %7}, "
        "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, "
        "{%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]),
          "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "C"(LayoutA::name),
          "C"(LayoutB::name), "C"(Type::shape), "C"(Type::numbers));
  } else if constexpr (Type::registers == 4) {
    asm("wmma.mma.sync.aligned%16%17%18%19 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "C"(LayoutA::name), "C"(LayoutB::name), "C"(Type::shape), "C"(Type::numbers));
  } else {
    asm("wmma.mma.sync.aligned%12%13%14%15 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "
        "{%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "C"(LayoutA::name), "C"(LayoutB::name),
          "C"(Type::shape), "C"(Type::numbers));
  }
#endif
}

// Sums to 16 rows of shared memory. From a row to the next it is `stride` elements.
template <typename Type>
__device__ __forceinline__ void wmma_store(typename Type::Sum* matrix, const typename Type::Sum (&d)[8],
                                           int stride) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::wmma_store(matrix, d, stride);
#else
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(matrix));
  if constexpr (Type::registers == 2) {
    asm volatile(
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::
            "r"(address),
        "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]), "r"(d[4]), "r"(d[5]), "r"(d[6]), "r"(d[7]), "r"(stride)
        : "memory");
  } else {
    asm volatile(
        "wmma.store.d.sync.aligned.row%10.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"r"(
            address),
        "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]), "r"(stride),
        "C"(Type::shape)
        : "memory");
  }
#endif
}

template <typename Type>
__device__ constexpr bool wmma_exists() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ >= Type::least_arch;
#else
  return false;
#endif
}

// The same for devices that lack a type, by FMAs: D += A·B of tiles without gaps. Lane l has the sums l, l +
// 32, …, row by row.
template <typename Type, bool a_along_k, bool b_along_k>
__device__ __forceinline__ void multiply_tiles_by_fma(typename Type::Sum (&d)[8],
                                                      const typename Type::Number* a,
                                                      const typename Type::Number* b) {
  for (int i = 0; i < 8; ++i) {
    const int row = i * 2 + threadIdx.x % 32 / 16, column = threadIdx.x % 16;
    for (int k = 0; k < Type::terms; ++k) {
      d[i] += to_float(a[a_along_k ? row * Type::terms + k : k * 16 + row]) *
              to_float(b[b_along_k ? column * Type::terms + k : k * 16 + column]);
    }
  }
}

// D += A·B of tiles in shared memory without gaps. `along_k`: whether neighbours along k are neighbours
// there.
template <typename Type, bool a_along_k, bool b_along_k>
__device__ __forceinline__ void wmma_multiply_tiles(typename Type::Sum (&d)[8],
                                                    const typename Type::Number* a,
                                                    const typename Type::Number* b) {
  if constexpr (!wmma_exists<Type>()) {
    multiply_tiles_by_fma<Type, a_along_k, b_along_k>(d, a, b);
  } else {
    unsigned fragment_a[Type::registers], fragment_b[Type::registers];
    wmma_load<Type, OperandA, WmmaLayout<a_along_k>>(fragment_a, a, a_along_k ? Type::terms : 16);
    wmma_load<Type, OperandB, WmmaLayout<!b_along_k>>(fragment_b, b, b_along_k ? Type::terms : 16);
    wmma_multiply<Type, WmmaLayout<a_along_k>, WmmaLayout<!b_along_k>>(d, fragment_a, fragment_b);
  }
}

// Their sums, row by row.
template <typename Type>
__device__ __forceinline__ void wmma_store_tile(typename Type::Sum* tile, const typename Type::Sum (&d)[8]) {
  if constexpr (!wmma_exists<Type>()) {
    for (int i = 0; i < 8; ++i) tile[i * 32 + threadIdx.x % 32] = d[i];
  } else {
    wmma_store<Type>(tile, d, 16);
  }
}
