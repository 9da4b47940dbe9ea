#pragma once
// The order in which blocks take the tiles of a matrix.

// A tile by its row and its column of tiles.
struct TilePosition {
  unsigned m;
  unsigned n;
};

// Tiles are taken in groups of group_m rows, column by column in a group, so that blocks which run at the
// same time share rows and columns of the matrix. There are less than 2^31 tiles.
template <unsigned group_m>
__device__ __forceinline__ TilePosition grouped_tile(unsigned tile, unsigned tiles_m, unsigned tiles_n) {
  const unsigned full_group = min(group_m, tiles_m);
  const unsigned group_tiles = full_group * tiles_n;
  const unsigned first_m = tile / group_tiles * full_group;
  const unsigned rows = min(full_group, tiles_m - first_m);
  const unsigned index = tile % group_tiles;
  return {first_m + index % rows, index / rows};
}
