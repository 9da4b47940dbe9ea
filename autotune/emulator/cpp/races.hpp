#pragma once
// Who accessed what: the check that accesses of different threads are ordered.

#include <cstdint>

#include "region.hpp"

namespace autotune_emulator {

// Checks and remembers the accesses of the running thread.
void track(Region& region);
void record(const Region& region, int64_t first, int64_t last, Access access);
void forget_accesses();
void end_block(int rank);  // by the last of its threads

}  // namespace autotune_emulator
