// cp.async.bulk and cp.async.bulk.tensor: which bytes go where.

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulator.hpp"

#include "../codegen/cuda/swizzle.cuh"
#include "mbarriers.hpp"
#include "memory.hpp"
#include "position.hpp"

namespace autotune_emulator {
namespace {

constexpr int unit_bytes = 16;  // of bulk copies, and of what a swizzle permutes
constexpr int swizzle_period = 1024, tile_alignment = 128;

// The twin of request.py's _TensorMap.
struct BoxedTensor {
  const char* address;
  int64_t rows, columns, row_bytes;
  int32_t box_rows, box_columns, element_bytes, swizzle_bytes;
};

BoxedTensor read_tensor_map(const void* encoded) {
  BoxedTensor tensor;
  std::memcpy(&tensor, encoded, sizeof tensor);
  if (reinterpret_cast<uintptr_t>(encoded) % 64 != 0)
    fail("a tensor map at an address that is not a multiple of 64");
  if (reinterpret_cast<uintptr_t>(tensor.address) % unit_bytes != 0 || tensor.row_bytes % unit_bytes != 0)
    fail("a tensor map of an address or of rows that are not multiples of %d bytes", unit_bytes);
  return tensor;
}

// The bytes of a unit of the box that lie in the tensor; the others are zeros. Either may begin or end it.
void add_unit(BulkCopy& copy, const BoxedTensor& tensor, int64_t row, int64_t first_byte, char* shared) {
  const int64_t inside = row < 0 || row >= tensor.rows ? 0 : tensor.columns * tensor.element_bytes;
  const auto clamped = [=](int64_t byte) { return std::clamp<int64_t>(byte, 0, inside); };
  const int64_t begin = clamped(first_byte), end = clamped(first_byte + unit_bytes);
  const int before = end > begin ? static_cast<int>(begin - first_byte) : unit_bytes;
  const int valid = static_cast<int>(end - begin);
  if (before > 0) copy.pieces.push_back({shared, nullptr, before});
  if (valid == 0) return;
  copy.pieces.push_back({shared + before, tensor.address + row * tensor.row_bytes + begin, valid});
  const int after = unit_bytes - before - valid;
  if (after > 0) copy.pieces.push_back({shared + before + valid, nullptr, after});
}

}  // namespace

void bulk_copy(void* shared, const void* global, int bytes, void* mbarrier) {
  if (bytes % unit_bytes != 0 || reinterpret_cast<uintptr_t>(global) % unit_bytes != 0)
    fail("a bulk copy of %d bytes from address %p, expected multiples of %d", bytes, global, unit_bytes);
  check_shared("the target of a bulk copy", shared, bytes, unit_bytes);
  BulkCopy copy{};
  copy.pieces.push_back({static_cast<char*>(shared), static_cast<const char*>(global), bytes});
  issue(std::move(copy), mbarrier);
}

void tensor_copy(void* shared, const void* tensor_map, int column, int row, void* mbarrier) {
  const BoxedTensor tensor = read_tensor_map(tensor_map);
  const int box_row_bytes = tensor.box_columns * tensor.element_bytes;
  check_shared("the target of a bulk copy", shared, static_cast<int64_t>(tensor.box_rows) * box_row_bytes,
               tensor.swizzle_bytes > 0 ? swizzle_period : tile_alignment);
  BulkCopy copy{};
  for (int box_row = 0; box_row < tensor.box_rows; ++box_row) {
    for (int byte = 0; byte < box_row_bytes; byte += unit_bytes) {
      const auto offset = static_cast<unsigned>(box_row * box_row_bytes + byte);
      add_unit(copy, tensor, int64_t{row} + box_row, int64_t{column} * tensor.element_bytes + byte,
               static_cast<char*>(shared) + swizzled(offset, tensor.swizzle_bytes));
    }
  }
  issue(std::move(copy), mbarrier);
}

}  // namespace autotune_emulator
