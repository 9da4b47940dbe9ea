#pragma once

namespace autotune_emulator {

void drop_named_barriers();  // a cluster begins

}  // namespace autotune_emulator
