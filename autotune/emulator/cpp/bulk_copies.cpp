// cp.async.bulk and cp.async.bulk.tensor to shared memory: which bytes go where.

#include <utility>

#include "boxes.hpp"
#include "emulator.hpp"
#include "mbarriers.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "position.hpp"

namespace autotune_emulator {
namespace {

constexpr const char* target = "the target of a bulk copy";

void issue_box(Box box, void* mbarrier) {
  BulkCopy copy{};
  copy.layout = layout_of_swizzle(box.swizzle_bytes);
  copy.tf32 = box.tf32;
  copy.pieces = std::move(box.pieces);
  issue(std::move(copy), mbarrier);
}

}  // namespace

void bulk_copy(void* shared, const void* global, int bytes, void* mbarrier) {
  if (bytes % bulk_unit_bytes != 0 || reinterpret_cast<uintptr_t>(global) % bulk_unit_bytes != 0)
    fail("a bulk copy of %d bytes from address %p, expected multiples of %d", bytes, global, bulk_unit_bytes);
  check_shared(target, shared, bytes, bulk_unit_bytes);
  BulkCopy copy{};
  copy.pieces.push_back({static_cast<char*>(shared), static_cast<char*>(const_cast<void*>(global)), bytes});
  issue(std::move(copy), mbarrier);
}

void tensor_copy(void* shared, const void* tensor_map, const int* at, int dimensions, void* mbarrier) {
  issue_box(box_at(tensor_map, at, dimensions, shared, target), mbarrier);
}

void im2col_copy(void* shared, const void* tensor_map, const int* at, const int* tap, int dimensions,
                 void* mbarrier) {
  issue_box(pixels_at(tensor_map, at, tap, dimensions, shared, target), mbarrier);
}

void tensor_copy_to_ranks(void* shared, const void* tensor_map, const int* at, int dimensions, void* mbarrier,
                          unsigned int mask) {
  if (mask == 0 || mask >> ranks() != 0)
    fail("a bulk copy to the ranks of mask 0x%x in a cluster of %d blocks", mask, ranks());
  const Box box = box_at(tensor_map, at, dimensions, shared, target);
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!(mask >> rank & 1)) continue;
    Box own = box;
    for (Piece& piece : own.pieces) piece.shared = in_shared_of_rank(piece.shared, rank);
    issue_box(std::move(own), in_shared_of_rank(mbarrier, rank));
  }
}

}  // namespace autotune_emulator
