#pragma once

namespace autotune_emulator {

void run_grid();  // of the running launch, cluster by cluster

}  // namespace autotune_emulator
