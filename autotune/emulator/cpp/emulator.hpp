#pragma once
// What a kernel sees of CUDA when g++ compiles it for the emulator. It includes no header of the system, so
// that a kernel compiles fast; all that needs state is declared here and lives in the runtime, which is
// compiled once.

#define AUTOTUNE_EMULATOR 1

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// One block runs at a time, so its static arrays are variables of the library. It has no others without a
// value.
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

using size_t = decltype(sizeof(0));

#include "vector_types.hpp"

struct dim3 {
  unsigned int x = 1, y = 1, z = 1;
};

extern uint3 threadIdx;
extern dim3 blockDim;
#ifdef AUTOTUNE_BLOCK_NUMBERS
#  include "block_numbers.hpp"
extern BlockNumbers blockIdx, gridDim;
#else
extern uint3 blockIdx;
extern dim3 gridDim;
#endif
constexpr int warpSize = 32;

namespace autotune_emulator {

// The block's dynamic shared memory, aligned as the kernel asks and to nothing more.
void* dynamic_shared(int alignment = 16);

// cp.async, cp.async.commit_group and cp.async.wait_group: the bytes land when they are waited for, not
// before.
void async_copy(void* shared, const void* global, int bytes, int valid_bytes);
void async_commit();
void async_wait(int pending_groups);

// mbarriers, by the address of their 8 bytes in the block's own shared memory.
void mbarrier_init(void* mbarrier, int arrivals);
void mbarrier_expect(void* mbarrier, int bytes);
void mbarrier_arrive(void* mbarrier);
void mbarrier_arrive_at_rank(void* mbarrier, int rank);
void mbarrier_wait(void* mbarrier, unsigned int parity, int line);
void proxy_fence();

// cp.async.bulk of consecutive bytes, and of a box of a tensor that an encoded tensor map describes. It
// begins at an element, whose place along each dimension `at` has.
void bulk_copy(void* shared, const void* global, int bytes, void* mbarrier);
void tensor_copy(void* shared, const void* tensor_map, const int* at, int dimensions, void* mbarrier);
void tensor_copy_to_ranks(void* shared, const void* tensor_map, const int* at, int dimensions, void* mbarrier,
                          unsigned int mask);
// Of pixels, by a map in im2col mode; `tap` has the offsets along the dimensions of the image.
void im2col_copy(void* shared, const void* tensor_map, const int* at, const int* tap, int dimensions,
                 void* mbarrier);

// The other way: written, or added, by groups of stores of a thread.
void bulk_store(void* global, const void* shared, int bytes);
void tensor_store(const void* tensor_map, const int* at, int dimensions, const void* shared, bool adds);
void store_commit();
void store_wait(int pending_groups, bool read_only);

// What stands at the place of `shared`, which is the block's own shared memory, in that of another block of
// the cluster.
const void* shared_of_rank(const void* shared, int rank);
void cluster_arrive();
void cluster_wait(int line);
// Both addresses are those of the block's own shared memory, and stand for the same ones of the rank.
void send_to_rank(void* shared, int rank, const void* value, int bytes, void* mbarrier);

// Rendezvous of the cluster, of the block, and of the lanes in `mask`. `line` is where the kernel's text asks
// for it.
void cluster_barrier(int line);
void block_barrier(int line);
void named_barrier(int number, int threads, bool waits, int line);
bool block_vote(bool predicate, int line);
void warp_barrier(unsigned int mask, int line);
unsigned int ballot(unsigned int mask, bool predicate, int line);
unsigned long long shuffle(unsigned int mask, unsigned long long value, int source_lane, int line);
unsigned int match_any(unsigned int mask, unsigned long long value, int line);
int lane();

// mma: D += A·B by a whole warp, whose lanes bring registers of 32 bytes along k: of float16 or bfloat16
// (m16n8k16), or of other types (tf32 m16n8k8, those of 8 bits m16n8k32). Sums of integers are ints.
enum class Operand { f16, bf16, tf32, e4m3, e5m2, s8, u8 };
void add_product(float (&d)[4], const unsigned int (&a)[4], const unsigned int (&b)[2], bool bfloat16,
                 int line = __builtin_LINE());
void add_product(float (&d)[4], const unsigned int (&a)[4], const unsigned int (&b)[2], Operand type_a,
                 Operand type_b, int line = __builtin_LINE());
void add_product(int (&d)[4], const unsigned int (&a)[4], const unsigned int (&b)[2],
                 int line = __builtin_LINE());

// wmma: a warp's fragments of matrices in shared memory, their products, and sums that are stored. What is
// loaded and how it lies is named as in PTX (".a", ".row", ".f16"), and has to be named alike in products.
void wmma_load(unsigned int* fragment, int registers, const void* matrix, int stride, const char* operand,
               const char* layout, const char* number, int line = __builtin_LINE());
void wmma_multiply(float (&d)[8], const unsigned int* a, const unsigned int* b, const char* layout_a,
                   const char* layout_b, const char* number, int line = __builtin_LINE());
void wmma_multiply(int (&d)[8], const unsigned int* a, const unsigned int* b, const char* layout_a,
                   const char* layout_b, const char* number, int line = __builtin_LINE());
void wmma_store(float* matrix, const float (&d)[8], int stride, int line = __builtin_LINE());
void wmma_store(int* matrix, const int (&d)[8], int stride, int line = __builtin_LINE());

// wgmma.mma_async, by the descriptors of its operands: D = A·B, plus D if it `accumulates`. A lane's sums are
// floats, or ints if the operands are.
struct WgmmaForm {
  int columns;
  Operand a, b;
  bool m_adjacent, n_adjacent;
};
void wgmma(void* d, unsigned long long a, unsigned long long b, bool accumulates, const WgmmaForm& form,
           int line);
// The same with A of tf32 or 16 bits in registers, four of each thread.
void wgmma(void* d, const unsigned int (&a)[4], unsigned long long b, bool accumulates, const WgmmaForm& form,
           int line);
void wgmma_fence();
void wgmma_commit(int line);
void wgmma_wait(int pending_groups, int line);
void check_sums(const void* sums, int bytes, int line);  // that no product is under way that adds to them
unsigned int shared_address(const void* shared);

// setmaxnreg: how many registers each thread of the warpgroup has from here on.
void set_registers(int count, int line);

// ldmatrix: four matrices of 8 rows of 8 numbers of 16 bits, of which each lane gives the address of a row.
void load_matrices(unsigned int (&registers)[4], const void* row, bool transposed,
                   int line = __builtin_LINE());
// stmatrix, the inverse: each lane gives the address of a row, and two neighbours of a row of each matrix.
void store_matrices(void* row, const unsigned int (&registers)[4], bool transposed = false,
                    int line = __builtin_LINE());

// Bits of a float16 from and to float.
unsigned short float16_of_float(float value);
float float_of_float16(unsigned short bits);

// Functions that a GPU computes with an error: `ulp` units in the last place, at most.
enum class Function { exp, exp2, log, rsqrt, tanh, erf, reciprocal, sinpi, cospi };
float inexact(Function function, float value, int ulp);

// Sine and cosine of a number times pi.
double sinpi(double value);
double cospi(double value);

void fence();
void check_constant(const void* address, int bytes);
void check_atomic(const void* address, int bytes);
void check_acquire(const void* address, int bytes);
void check_release(const void* address, int bytes);
void check_relaxed_load(const void* address, int bytes);
void check_relaxed_store(const void* address, int bytes);
void check_shared_store(const void* address, int bytes);

// The old value of *address, replaced by `update` of it. Not instrumented: `check_atomic` knows it as atomic.
template <typename T, typename Update>
__attribute__((noinline, no_sanitize("thread"))) T atomic(T* address, Update update) {
  check_atomic(address, sizeof(T));
  const T old = *address;
  *address = update(old);
  return old;
}

// The bits of an object of 4 or 8 bytes, which lanes exchange.
template <typename T>
unsigned long long bits_of(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanes exchange 4 or 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

// A load of what no thread writes during the launch, through a cache that other SMs do not update.
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) T load_constant(const T* address) {
  check_constant(address, sizeof(T));
  return *address;
}

// An acquiring load and a releasing store of a word that several blocks share.
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) T load_acquire(const T* address) {
  check_acquire(address, sizeof(T));
  return *address;
}
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) void store_release(T* address, T value) {
  check_release(address, sizeof(T));
  *address = value;
}

// The same without an order of other accesses.
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) T load_relaxed(const T* address) {
  check_relaxed_load(address, sizeof(T));
  return *address;
}
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) void store_relaxed(T* address, T value) {
  check_relaxed_store(address, sizeof(T));
  *address = value;
}
// Over a word that another block may have read before, and computes the same from either.
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) void replace_relaxed(T* address, T value) {
  check_shared_store(address, sizeof(T));
  *address = value;
}

template <typename T>
T shuffle_from(unsigned int mask, T value, int source_lane, int line) {
  const unsigned long long bits = shuffle(mask, bits_of(value), source_lane, line);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename To, typename From>
To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof(To));
  return result;
}

// What the runtime finds in a kernel's library.
struct Kernel {
  void (*call)(int entry, const void* arguments);
  size_t argument_bytes;
  const char *begin, *end;  // the library's, whose constants a kernel reads
  char* shared;             // its static shared memory, up to its end
};

// Calls an entry with the bytes of its argument struct.
template <typename Arguments>
void call(void (*kernel)(Arguments), const void* arguments) {
  kernel(*static_cast<const Arguments*>(arguments));
}
template <typename Arguments>
constexpr size_t argument_bytes(void (*)(Arguments)) {
  return sizeof(Arguments);
}

}  // namespace autotune_emulator

extern "C" {
extern const char __ehdr_start __attribute__((visibility("hidden")));  // the linker's
extern const char _end __attribute__((visibility("hidden")));
extern char __bss_start __attribute__((visibility("hidden")));
}
#define AUTOTUNE_EMULATOR_KERNEL(call, entry)                                                              \
  extern "C" __attribute__((visibility("default")))                                                        \
  const autotune_emulator::Kernel autotune_emulator_kernel{call, autotune_emulator::argument_bytes(entry), \
                                                           &__ehdr_start, &_end, &__bss_start};

#include "arithmetic.hpp"
#include "atomics.hpp"
#include "barriers.hpp"
