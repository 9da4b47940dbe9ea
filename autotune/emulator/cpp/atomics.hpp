#pragma once
// Atomics, fences, and loads and stores with a cache hint.

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
template <typename T>
T atomicAnd(T* address, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T old) { return old & value; });
}
template <typename T>
T atomicOr(T* address, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T old) { return old | value; });
}
template <typename T>
T atomicXor(T* address, typename AutotuneSame<T>::Type value) {
  return autotune_emulator::atomic(address, [=](T old) { return old ^ value; });
}
inline void __threadfence() { autotune_emulator::fence(); }

template <typename T>
T __ldg(const T* address) {
  return autotune_emulator::load_constant(address);
}

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
AUTOTUNE_LOAD(__ldca)
AUTOTUNE_LOAD(__ldcg)
AUTOTUNE_LOAD(__ldcs)
AUTOTUNE_STORE(__stcg)
AUTOTUNE_STORE(__stcs)
AUTOTUNE_STORE(__stwb)
#undef AUTOTUNE_LOAD
#undef AUTOTUNE_STORE
