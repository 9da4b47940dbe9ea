#pragma once

__device__ __forceinline__ void nothing_block(const Arguments&) {}
