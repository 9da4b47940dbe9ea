#include "boxes.hpp"

#include <algorithm>
#include <cstring>

#include "emulator.hpp"

#include "../../codegen/cuda/swizzle.cuh"
#include "memory.hpp"
#include "position.hpp"

namespace autotune_emulator {
namespace {

constexpr int swizzle_unit_bytes = 16;  // that a swizzle permutes
constexpr int swizzle_period = 1024, tile_alignment = 128;
constexpr int most_dimensions = 5;

// The twin of request.py's _TensorMap.
struct TensorMap {
  char* address;
  int64_t shape[most_dimensions], strides[most_dimensions];  // strides in bytes
  int32_t box[most_dimensions];
  int8_t dimensions, element_bytes;
  Added added;
  uint8_t swizzle_bytes;
  bool tf32;
};

TensorMap read_tensor_map(const void* encoded, int dimensions) {
  TensorMap map;
  std::memcpy(&map, encoded, sizeof map);
  if (reinterpret_cast<uintptr_t>(encoded) % 64 != 0)
    fail("a tensor map at an address that is not a multiple of 64");
  if (reinterpret_cast<uintptr_t>(map.address) % swizzle_unit_bytes != 0)
    fail("a tensor map of an address that is not a multiple of %d", swizzle_unit_bytes);
  if (map.dimensions != dimensions)
    fail("a copy of a box of %d dimensions by a tensor map of %d", dimensions, map.dimensions);
  return map;
}

// The bytes of a unit of the box that lie in a row of the tensor, null if the row lies outside; either may
// begin or end it.
void add_unit(std::vector<Piece>& pieces, char* row, int64_t row_bytes, int64_t first_byte, char* shared) {
  const auto clamped = [=](int64_t byte) {
    return std::clamp<int64_t>(byte, 0, row == nullptr ? 0 : row_bytes);
  };
  const int64_t begin = clamped(first_byte), end = clamped(first_byte + swizzle_unit_bytes);
  const int before = end > begin ? static_cast<int>(begin - first_byte) : swizzle_unit_bytes;
  const int valid = static_cast<int>(end - begin);
  if (before > 0) pieces.push_back({shared, nullptr, before});
  if (valid == 0) return;
  pieces.push_back({shared + before, row + begin, valid});
  const int after = swizzle_unit_bytes - before - valid;
  if (after > 0) pieces.push_back({shared + before + valid, nullptr, after});
}

// Where a row of the box lies in the tensor, before its first column; null outside.
char* row_of_box(const TensorMap& map, const int* at, int64_t row) {
  char* address = map.address;
  for (int dimension = map.dimensions - 2; dimension >= 0; --dimension) {
    const int64_t place = at[dimension] + row % map.box[dimension];
    row /= map.box[dimension];
    if (place < 0 || place >= map.shape[dimension]) return nullptr;
    address += place * map.strides[dimension];
  }
  return address;
}

}  // namespace

Box box_at(const void* tensor_map, const int* at, int dimensions, const void* tile, const char* what) {
  const TensorMap map = read_tensor_map(tensor_map, dimensions);
  const int last = dimensions - 1;
  const int box_row_bytes = map.box[last] * map.element_bytes;
  int64_t rows = 1;
  for (int dimension = 0; dimension < last; ++dimension) rows *= map.box[dimension];
  check_shared(what, tile, rows * box_row_bytes, map.swizzle_bytes > 0 ? swizzle_period : tile_alignment);
  Box box{{}, map.added, map.swizzle_bytes, map.tf32};
  for (int64_t row = 0; row < rows; ++row) {
    char* const global = row_of_box(map, at, row);
    for (int byte = 0; byte < box_row_bytes; byte += swizzle_unit_bytes) {
      const auto offset = static_cast<unsigned>(row * box_row_bytes + byte);
      char* const shared = static_cast<char*>(const_cast<void*>(tile)) + swizzled(offset, map.swizzle_bytes);
      add_unit(box.pieces, global, map.shape[last] * map.element_bytes,
               int64_t{at[last]} * map.element_bytes + byte, shared);
    }
  }
  return box;
}

}  // namespace autotune_emulator
