#pragma once
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011): four random
// words of 32 bits that follow from a counter of 128 bits and a key of 64.

// Both halves of a product are asked for by name: of a product of 64 bits, ptxas 13.0 adds the upper half of
// the factor, a zero, too, which is a fifth of the instructions.
__device__ __forceinline__ void philox_round(unsigned (&counter)[4], const unsigned (&key)[2]) {
  constexpr unsigned a = 0xd2511f53u, b = 0xcd9e8d57u;
  const unsigned first = counter[0], third = counter[2];
  counter[0] = __umulhi(third, b) ^ counter[1] ^ key[0];
  counter[1] = third * b;
  counter[2] = __umulhi(first, a) ^ counter[3] ^ key[1];
  counter[3] = first * a;
}

// The four words of the counter (low, high), the lower half of which is `low`, by a key.
__device__ __forceinline__ void philox(unsigned (&words)[4], unsigned long long low, unsigned long long high,
                                       unsigned long long seed) {
  words[0] = static_cast<unsigned>(low);
  words[1] = static_cast<unsigned>(low >> 32);
  words[2] = static_cast<unsigned>(high);
  words[3] = static_cast<unsigned>(high >> 32);
  unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    philox_round(words, key);
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
}
