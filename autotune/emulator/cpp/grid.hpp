#pragma once

namespace autotune_emulator {

void run_grid();  // the running launch's, cluster by cluster

}  // namespace autotune_emulator
