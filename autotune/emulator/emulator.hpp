#pragma once
// What a kernel sees of CUDA when g++ compiles it for the emulator. It includes nothing, so that a kernel
// compiles fast; all that needs state is declared here and lives in the runtime, which is compiled once.

#define AUTOTUNE_EMULATOR 1

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))

using size_t = decltype(sizeof(0));

// Vectors, aligned to their size up to 16 bytes. Vectors of three are no wider than their elements.
#define AUTOTUNE_VECTORS(T, name)                                               \
  struct name##1 { T x; };                                                      \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                            \
  struct name##3 { T x, y, z; };                                                \
  struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; }; \
  constexpr name##1 make_##name##1(T x) { return {x}; }                         \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                 \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }         \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

AUTOTUNE_VECTORS(signed char, char)
AUTOTUNE_VECTORS(unsigned char, uchar)
AUTOTUNE_VECTORS(short, short)
AUTOTUNE_VECTORS(unsigned short, ushort)
AUTOTUNE_VECTORS(int, int)
AUTOTUNE_VECTORS(unsigned int, uint)
AUTOTUNE_VECTORS(long long, longlong)
AUTOTUNE_VECTORS(unsigned long long, ulonglong)
AUTOTUNE_VECTORS(float, float)
AUTOTUNE_VECTORS(double, double)
#undef AUTOTUNE_VECTORS

struct dim3 {
  unsigned int x = 1, y = 1, z = 1;
};

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace autotune_emulator {

// The block's dynamic shared memory, aligned to 16 bytes and to nothing more.
void* dynamic_shared();

// cp.async, cp.async.commit_group and cp.async.wait_group: the bytes land when they are waited for, not
// before.
void async_copy(void* shared, const void* global, int bytes, int valid_bytes);
void async_commit();
void async_wait(int pending_groups);

// What stands at the place of `shared`, which is the block's own shared memory, in that of another block of
// the cluster.
const void* shared_of_rank(const void* shared, int rank);

// Rendezvous of the cluster, of the block, and of the lanes in `mask`. `line` is where the kernel's text asks
// for it.
void cluster_barrier(int line);
void block_barrier(int line);
bool block_vote(bool predicate, int line);
void warp_barrier(unsigned int mask, int line);
unsigned int ballot(unsigned int mask, bool predicate, int line);
unsigned long long shuffle(unsigned int mask, unsigned long long value, int source_lane, int line);
int lane();

// Bits of a float16 from and to float.
unsigned short float16_of_float(float value);
float float_of_float16(unsigned short bits);

void fence();
void check_atomic(const void* address, int bytes);

// The old value of *address, replaced by `update` of it. Not instrumented: `check_atomic` knows it as atomic.
template <typename T, typename Update>
__attribute__((noinline, no_sanitize("thread"))) T atomic(T* address, Update update) {
  check_atomic(address, sizeof(T));
  const T old = *address;
  *address = update(old);
  return old;
}

template <typename T>
T shuffle_from(unsigned int mask, T value, int source_lane, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = shuffle(mask, bits, source_lane, line);
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

// Calls the kernel with the bytes of its argument struct.
template <typename Arguments>
void call(void (*kernel)(Arguments), const void* arguments) {
  kernel(*static_cast<const Arguments*>(arguments));
}
template <typename Arguments>
constexpr size_t argument_bytes(void (*)(Arguments)) {
  return sizeof(Arguments);
}

}  // namespace autotune_emulator

// Barriers, votes and shuffles.
inline void __syncthreads(int line = __builtin_LINE()) { autotune_emulator::block_barrier(line); }
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return autotune_emulator::block_vote(predicate != 0, line);
}
inline void __syncwarp(unsigned int mask = 0xffffffffu, int line = __builtin_LINE()) {
  autotune_emulator::warp_barrier(mask, line);
}
inline unsigned int __ballot_sync(unsigned int mask, int predicate, int line = __builtin_LINE()) {
  return autotune_emulator::ballot(mask, predicate != 0, line);
}
inline int __any_sync(unsigned int mask, int predicate, int line = __builtin_LINE()) {
  return autotune_emulator::ballot(mask, predicate != 0, line) != 0;
}
inline int __all_sync(unsigned int mask, int predicate, int line = __builtin_LINE()) {
  return autotune_emulator::ballot(mask, predicate == 0, line) == 0;
}
template <typename T>
T __shfl_sync(unsigned int mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
  const int segment = autotune_emulator::lane() & ~(width - 1);
  return autotune_emulator::shuffle_from(mask, value, segment | (source & (width - 1)), line);
}
template <typename T>
T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32,
                 int line = __builtin_LINE()) {
  const int lane = autotune_emulator::lane(), source = lane - static_cast<int>(delta);
  return autotune_emulator::shuffle_from(mask, value, source < (lane & ~(width - 1)) ? lane : source, line);
}
template <typename T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32,
                   int line = __builtin_LINE()) {
  const int lane = autotune_emulator::lane(), source = lane + static_cast<int>(delta);
  return autotune_emulator::shuffle_from(mask, value, source > (lane | (width - 1)) ? lane : source, line);
}
template <typename T>
T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = 32, int line = __builtin_LINE()) {
  const int lane = autotune_emulator::lane(), source = lane ^ lane_mask;
  return autotune_emulator::shuffle_from(mask, value, source > (lane | (width - 1)) ? lane : source, line);
}

// Atomics and fences.
template <typename T>
struct AutotuneSame {
  using Type = T;  // keeps an operand from taking part in the deduction of T
};
template <typename T>
T atomicAdd(T* address, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T old) { return old + value; });
}
template <typename T>
T atomicMax(T* address, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T old) { return old < value ? value : old; });
}
template <typename T>
T atomicMin(T* address, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T old) { return value < old ? value : old; });
}
template <typename T>
T atomicExch(T* address, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T) { return value; });
}
template <typename T>
T atomicCAS(T* address, typename AutotuneSame<T>::Type compare, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T old) { return old == compare ? value : old; });
}
inline void __threadfence() { autotune_emulator::fence(); }

// Loads and stores with a cache hint.
#define AUTOTUNE_LOAD(name)  \
  template <typename T>      \
  T name(const T* address) { \
    return *address;         \
  }
#define AUTOTUNE_STORE(name)                                    \
  template <typename T>                                         \
  void name(T* address, typename AutotuneSame<T>::Type value) { \
    *address = value;                                           \
  }
AUTOTUNE_LOAD(__ldg)
AUTOTUNE_LOAD(__ldca)
AUTOTUNE_LOAD(__ldcg)
AUTOTUNE_LOAD(__ldcs)
AUTOTUNE_STORE(__stcg)
AUTOTUNE_STORE(__stcs)
#undef AUTOTUNE_LOAD
#undef AUTOTUNE_STORE

// Arithmetic.
extern "C" {
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
float fabsf(float) noexcept;
double fabs(double) noexcept;
float sqrtf(float) noexcept;
double sqrt(double) noexcept;
}
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }

#define AUTOTUNE_MIN_MAX(T)                           \
  constexpr T min(T a, T b) { return b < a ? b : a; } \
  constexpr T max(T a, T b) { return a < b ? b : a; }
AUTOTUNE_MIN_MAX(int)
AUTOTUNE_MIN_MAX(unsigned int)
AUTOTUNE_MIN_MAX(long)
AUTOTUNE_MIN_MAX(unsigned long)
AUTOTUNE_MIN_MAX(long long)
AUTOTUNE_MIN_MAX(unsigned long long)
AUTOTUNE_MIN_MAX(float)
AUTOTUNE_MIN_MAX(double)
#undef AUTOTUNE_MIN_MAX

inline unsigned int __float_as_uint(float value) { return autotune_emulator::bit_cast<unsigned int>(value); }
inline int __float_as_int(float value) { return autotune_emulator::bit_cast<int>(value); }
inline float __uint_as_float(unsigned int value) { return autotune_emulator::bit_cast<float>(value); }
inline float __int_as_float(int value) { return autotune_emulator::bit_cast<float>(value); }
