#pragma once
// Registers that products of a warpgroup add to: who may access them, and when.

#include <cstdint>

#include "region.hpp"

namespace autotune_emulator {

extern bool accumulators_exist;  // in the running cluster

void drop_accumulators();  // a cluster begins
// The running thread accesses its stack, where its variables lie.
void check_accumulators(const void* address, int64_t bytes, Access access);
// What the running thread did so far comes before the products that follow.
void fence_accumulators();
// A product takes the sums of the running thread, which it may not access until none does.
void begin_accumulating(const void* sums, int bytes, int line);
void end_accumulating(int thread, const void* sums);

}  // namespace autotune_emulator
