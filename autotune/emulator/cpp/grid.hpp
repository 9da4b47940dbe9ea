#pragma once

#include <cstdint>

namespace autotune_emulator {

// The running launch's, cluster by cluster: all of them, or the first and the last so many.
void run_grid(uint32_t ends);

}  // namespace autotune_emulator
