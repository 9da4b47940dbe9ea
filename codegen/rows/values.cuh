#pragma once
// `RowValues`: the vectors of a row that a thread has.
#if hold == registers
#  include "rows/registers.cuh"
#elif bulk
#  include "rows/bulk.cuh"
#elif hold == shared
#  include "rows/shared.cuh"
#else
#  include "rows/reload.cuh"
#endif
