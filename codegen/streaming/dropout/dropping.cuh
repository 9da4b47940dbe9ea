#pragma once
#include "cuda/philox.cuh"

// What is dropped, and by what the rest is multiplied.
struct Dropping {
  unsigned long long seed, offset;
  unsigned threshold;  // words from it on keep an element; 2^32 does not fit
  bool everything;
  float factor;

  __device__ __forceinline__ explicit Dropping(const Arguments& arguments)
      : seed(arguments.seed),
        offset(arguments.offset),
        threshold(arguments.p < 1.0 ? static_cast<unsigned>(arguments.p * 4294967296.0) : 0u),
        everything(arguments.p >= 1.0),
        factor(1.0f / static_cast<float>(1.0 - arguments.p)) {
#if state
    seed += arguments.state[0];
    offset += arguments.state[1];
#endif
  }

  __device__ __forceinline__ bool keeps(unsigned word) const { return word >= threshold && !everything; }

  // The words of four elements from 4·quad on.
  __device__ __forceinline__ void random(unsigned (&words)[4], unsigned long long quad) const {
    philox(words, quad, offset, seed);
  }

  // That of one element, chosen without an index, which would move the words to memory.
  __device__ __forceinline__ unsigned word(long long index) const {
    unsigned words[4];
    random(words, static_cast<unsigned long long>(index) / 4);
    const bool odd = index % 2 != 0;
    return index % 4 < 2 ? (odd ? words[1] : words[0]) : (odd ? words[3] : words[2]);
  }

  // A zero for what is dropped, whatever it was.
  __device__ __forceinline__ float applied(float value, bool kept) const {
    return kept ? __fmul_rn(value, factor) : 0.0f;
  }
};
