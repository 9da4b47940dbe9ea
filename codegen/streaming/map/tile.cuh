#pragma once
#include "streaming/map/operands.cuh"

__device__ __forceinline__ void map_tile(const Arguments& arguments, const Problem& problem, Tile tile,
                                         float scale) {
  Place places[Schedule::items];
  Operands operands[Schedule::items];
#pragma unroll
  for (int item = 0; item < Schedule::items; ++item) {
    places[item] = place_of(problem, arguments.y, tile, item);
    operands[item].load(arguments, problem, places[item]);
  }
#pragma unroll
  for (int item = 0; item < Schedule::items; ++item) {
    store(arguments, problem, places[item], Numbers(operands[item]), scale);
  }
}
