#pragma once
#include "cuda/row_reduce.cuh"
#include "rows/reduce/elements.cuh"
#if reference
#  include "rows/reduce/reference_sum.cuh"
#elif adds
#  include "rows/reduce/sum.cuh"
#elif indexed
#  include "rows/reduce/argmax.cuh"
#else
#  include "rows/reduce/max.cuh"
#endif
