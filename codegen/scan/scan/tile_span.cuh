#pragma once
#include "scan/scan/span.cuh"
// Where a tile of shared memory is in its row: tiles are counted from the row's first element, in a reverse
// scan, too, which takes the last one first. Elements and what belongs to them lie as in global memory.

struct TileSpan {
  long long first;  // column
  int count;        // elements: those of a whole tile, or of the row's last one
  bool goes_on;     // whether the row has elements behind them
};

__device__ __forceinline__ TileSpan span_of(long long columns, long long tile) {
  const long long first = tile * tile_elements, left = columns - first;
  return {first, static_cast<int>(left < tile_elements ? left : tile_elements), left > tile_elements};
}
