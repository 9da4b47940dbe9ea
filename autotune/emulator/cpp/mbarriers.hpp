#pragma once
// Barriers in shared memory that count arrivals of threads and bytes of bulk copies.

#include <vector>

#include "boxes.hpp"

namespace autotune_emulator {

// Bytes for shared memory, which land when a thread waits for the mbarrier that counts them.
struct BulkCopy {
  std::vector<Piece> pieces;
  uint32_t layout;          // the tile's
  bool tf32;                // whether floats are rounded to TF32
  std::vector<char> early;  // the bytes of all pieces as they were when the copy was issued; else empty
  int thread;               // which issued it
};

// Of the running thread: poisons the target, and counts at the mbarrier.
void issue(BulkCopy copy, void* mbarrier);

void drop_mbarriers();            // a cluster begins
void check_bulk_copies_landed();  // it has ended

}  // namespace autotune_emulator
