#pragma once

namespace autotune_emulator {

void drop_register_counts();  // a cluster begins

}  // namespace autotune_emulator
