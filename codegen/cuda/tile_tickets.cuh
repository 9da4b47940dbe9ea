#pragma once
// Tiles in the order in which blocks begin: a block may wait for the blocks of all tiles before its own, as
// they have begun. The counter in the workspace counts launches, too, in its upper half, so that words that
// carry the launch's number need not be cleared.

struct TileTicket {
  unsigned tile;
  unsigned epoch;  // 31 bits: the launch's, and other than that of words which no launch has stored
};

// Drawn by one thread of each of `count` blocks. The last one leaves the counter fit for the next launch.
__device__ __forceinline__ TileTicket draw_tile(unsigned long long* counter, unsigned count) {
  const unsigned long long drawn = atomicAdd(counter, 1ull);
  const unsigned tile = static_cast<unsigned>(drawn);
  if (tile == count - 1) atomicAdd(counter, (1ull << 32) - count);
  return {tile, (static_cast<unsigned>(drawn >> 32) + 1) & 0x7fffffffu};
}
