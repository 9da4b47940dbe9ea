#pragma once
// How tensor copies lay out a tile in shared memory. A swizzle of 32, 64 or 128 bytes permutes the 16-byte
// units of each span of so many bytes by XOR with the number of the 128-byte line, so that a column of units
// lies in different banks. The tile begins at a multiple of 1024 bytes.

// Where byte `offset` of the tile lies; a swizzle of 0 bytes permutes nothing.
__device__ __forceinline__ constexpr unsigned swizzled(unsigned offset, unsigned swizzle_bytes) {
  const unsigned units = swizzle_bytes / 16;
  return units == 0 ? offset : offset ^ (offset / 128 & (units - 1)) * 16;
}
