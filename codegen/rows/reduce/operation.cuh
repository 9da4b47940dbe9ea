#pragma once
#include "cuda/row_reduce.cuh"
#include "rows/reduce/elements.cuh"
#if reference
#  include "rows/reduce/reference_sum.cuh"
#elif op == sum
#  include "rows/reduce/sum.cuh"
#elif op == max
#  include "rows/reduce/max.cuh"
#else
#  include "rows/reduce/argmax.cuh"
#endif
