#pragma once
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011): four random
// words of 32 bits that follow from a counter of 128 bits and a key of 64.

__device__ __forceinline__ void philox_round(unsigned (&counter)[4], const unsigned (&key)[2]) {
  const unsigned long long a = static_cast<unsigned long long>(counter[0]) * 0xd2511f53u;
  const unsigned long long b = static_cast<unsigned long long>(counter[2]) * 0xcd9e8d57u;
  counter[0] = static_cast<unsigned>(b >> 32) ^ counter[1] ^ key[0];
  counter[1] = static_cast<unsigned>(b);
  counter[2] = static_cast<unsigned>(a >> 32) ^ counter[3] ^ key[1];
  counter[3] = static_cast<unsigned>(a);
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
