#pragma once

namespace autotune_emulator {

void drop_wgmmas();          // a cluster begins
void check_wgmmas_waited();  // it has ended

}  // namespace autotune_emulator
