#pragma once
// Sums of elements in place, as bulk stores that add and atomics compute them.

#include "boxes.hpp"

namespace autotune_emulator {

void add_in_place(Added added, char* target, const char* terms, int bytes);

}  // namespace autotune_emulator
