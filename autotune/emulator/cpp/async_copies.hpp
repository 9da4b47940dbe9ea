#pragma once

namespace autotune_emulator {

// Forgets the copies of cp.async that are under way: a cluster begins.
void drop_async_copies();

}  // namespace autotune_emulator
