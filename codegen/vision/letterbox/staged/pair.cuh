#pragma once
#include "cuda/byte_products.cuh"
#include "cuda/picked_bytes.cuh"
#include "vision/letterbox/pixel.cuh"
// Two pixels side by side, and what they make.

// Where the six levels of two pixels side by side are in shared memory, and how they are picked from there.
// They lie in three words only if the first one is a word's last byte.
struct PairPlace {
  unsigned first, other;  // bytes ahead of two words, and of the other one
  unsigned picks;         // see `PixelPair`: of `front` in the lower half, of `back` in the upper one

  PairPlace() = default;
  __device__ __forceinline__ explicit PairPlace(unsigned byte) : first(byte / 4 * 4) {
    const unsigned behind = byte % 4;
    other = behind == 3 ? first + 8 : first;
    picks = 0x4130u + 0x1111u * behind + (((0x52u + 0x11u * behind) & 0x77u) << 16);
  }
};

// The levels of two pixels side by side: `front` has the first channel of both, then the second one, `back`
// the third one.
struct PixelPair {
  unsigned front, back;

  __device__ __forceinline__ PixelPair(const unsigned char* part, const PairPlace& place) {
    const unsigned* words = reinterpret_cast<const unsigned*>(part + place.first);
    const unsigned other = *reinterpret_cast<const unsigned*>(part + place.other);
    front = picked_bytes(words[0], words[1], place.picks);
    back = picked_bytes(other, words[1], place.picks >> 16);
  }
#if mixed
  // Likewise where the first one begins in a picture, and the second one `step` bytes behind it.
  __device__ __forceinline__ PixelPair(const unsigned char* first, int step) {
    front = first[0] | first[step] << 8 | first[1] << 16 | static_cast<unsigned>(first[step + 1]) << 24;
    back = first[2] | first[step + 2] << 8;
  }
#endif
};

// What the two pixels make of each channel, and what two rows make of that.
#if rule == cv2
using Weights = unsigned;  // both, in 2048ths
using Mixed = int;
__device__ __forceinline__ Weights weights_of(const Tap& tap) { return tap.near | tap.far << 16; }
__device__ __forceinline__ void mix_pair(const PixelPair& pair, Weights weights, Mixed (&channels)[3]) {
  channels[0] = static_cast<int>(two_products<false>(weights, pair.front) >> 4);
  channels[1] = static_cast<int>(two_products<true>(weights, pair.front) >> 4);
  channels[2] = static_cast<int>(two_products<false>(weights, pair.back) >> 4);
}
// A product without its lower 16 bits is the upper half of one that is shifted: one instruction, and a sum.
__device__ __forceinline__ float mixed(Mixed above, Mixed below, const Tap& down) {
  const unsigned near = __umulhi(static_cast<unsigned>(down.near) << 16, above);
  const unsigned far = __umulhi(static_cast<unsigned>(down.far) << 16, below);
  return static_cast<float>(static_cast<int>((near + far + 2) >> 2));
}
#else
using Mixed = float;
struct Weights {
  float near, far, near_offset, far_offset;
};
constexpr float of_bytes = 8388608.0f;  // 2^23: a byte below this number's exponent is a number above it
__device__ __forceinline__ Weights weights_of(const Tap& tap) {
  return {tap.near, tap.far, -of_bytes * tap.near, -of_bytes * tap.far};
}
// A byte times a weight, rounded once: the offset takes 2^23 times the weight away, which is exact. Few
// conversions of bytes are done at once, so this takes less time.
template <int byte>
__device__ __forceinline__ float weighted(unsigned bytes, float weight, float offset) {
  return fmaf(__uint_as_float(__byte_perm(bytes, __float_as_uint(of_bytes), 0x7440u + byte)), weight, offset);
}
template <int byte>
__device__ __forceinline__ Mixed mixed_bytes(unsigned bytes, const Weights& weights) {
  return __fadd_rn(weighted<byte>(bytes, weights.near, weights.near_offset),
                   weighted<byte + 1>(bytes, weights.far, weights.far_offset));
}
__device__ __forceinline__ void mix_pair(const PixelPair& pair, const Weights& weights,
                                         Mixed (&channels)[3]) {
  channels[0] = mixed_bytes<0>(pair.front, weights);
  channels[1] = mixed_bytes<2>(pair.front, weights);
  channels[2] = mixed_bytes<0>(pair.back, weights);
}
#endif
