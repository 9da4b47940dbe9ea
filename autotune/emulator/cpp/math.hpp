#pragma once

#include <cstdint>

namespace autotune_emulator {

// Errors of functions differ from seed to seed, from seed 2 on.
void inject_errors(uint32_t seed);

}  // namespace autotune_emulator
