#pragma once
// Registers that products of a warpgroup add to, or read: who may access them, and when.

#include <cstdint>

#include "region.hpp"

namespace autotune_emulator {

extern bool accumulators_exist;  // in the running cluster

void drop_accumulators();  // a cluster begins
// The running thread accesses its stack, where its variables lie.
void check_accumulators(const void* address, int64_t bytes, Access access);
// What the running thread did so far comes before the products that follow.
void fence_accumulators();
// A product takes registers of the running thread, which it may not access until none does. `what` they are.
void take_registers(const void* registers, int bytes, const char* what, int line);
void return_registers(int thread, const void* registers);

}  // namespace autotune_emulator
