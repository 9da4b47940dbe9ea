#pragma once
// The order in which blocks take the tiles of a matrix.

// A tile by its row and its column of tiles.
struct TilePosition {
  unsigned m;
  unsigned n;
};

// Tiles are taken in groups of raster_group rows, column by column in a group, so that blocks which run at
// the same time share rows and columns of the matrix. There are less than 2^31 tiles.
template <unsigned raster_group>
__device__ __forceinline__ TilePosition grouped_tile(unsigned tile, unsigned tiles_m, unsigned tiles_n) {
  const unsigned group_tiles = raster_group * tiles_n;
  unsigned first_m = 0, index = tile;
  if (tile >= group_tiles) {
    first_m = tile / group_tiles * raster_group;
    index = tile % group_tiles;
  }
  const unsigned rows = tiles_m - first_m;
  if (rows >= raster_group) return {first_m + index % raster_group, index / raster_group};
  return {first_m + index % rows, index / rows};
}
