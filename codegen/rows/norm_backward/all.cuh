#pragma once
#include "rows/norm_backward/norm_backward.cuh"
#include "rows/norm_backward/sum_partials.cuh"
