#pragma once
// Barriers, votes, shuffles and reductions of lanes, and waits.

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

inline void __nanosleep(unsigned int) {}

template <typename T>
unsigned int __match_any_sync(unsigned int mask, T value, int line = __builtin_LINE()) {
  return autotune_emulator::match_any(mask, autotune_emulator::bits_of(value), line);
}

// Reductions of integers over the lanes of a mask.
#define AUTOTUNE_REDUCE(name, T, expression)                                    \
  inline T name(unsigned int mask, T value, int line = __builtin_LINE()) {      \
    T total = value;                                                            \
    bool first = true;                                                          \
    for (int lane = 0; lane < 32; ++lane) {                                     \
      if (!(mask >> lane & 1)) continue;                                        \
      const T other = autotune_emulator::shuffle_from(mask, value, lane, line); \
      total = first ? other : (expression);                                     \
      first = false;                                                            \
    }                                                                           \
    return total;                                                               \
  }
AUTOTUNE_REDUCE(__reduce_add_sync, unsigned int, total + other)
AUTOTUNE_REDUCE(__reduce_min_sync, unsigned int, other < total ? other : total)
AUTOTUNE_REDUCE(__reduce_max_sync, unsigned int, total < other ? other : total)
AUTOTUNE_REDUCE(__reduce_and_sync, unsigned int, total& other)
AUTOTUNE_REDUCE(__reduce_or_sync, unsigned int, total | other)
AUTOTUNE_REDUCE(__reduce_xor_sync, unsigned int, total ^ other)
AUTOTUNE_REDUCE(__reduce_add_sync, int, static_cast<int>(0u + total + other))
AUTOTUNE_REDUCE(__reduce_min_sync, int, other < total ? other : total)
AUTOTUNE_REDUCE(__reduce_max_sync, int, total < other ? other : total)
#undef AUTOTUNE_REDUCE
