#pragma once

namespace autotune_emulator {

void drop_bulk_stores();  // a cluster begins
void end_bulk_stores();   // it has ended: what is under way lands, if it has read its source

}  // namespace autotune_emulator
