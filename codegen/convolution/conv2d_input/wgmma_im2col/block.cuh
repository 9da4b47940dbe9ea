#pragma once
#include "convolution/conv2d_input/wgmma_im2col/producer.cuh"
#include "matmul/gemm/wgmma/block.cuh"
// D = alpha·(the gradient by the images) as a product of each phase by wgmma, whose A is copied in im2col
// mode.

__device__ __forceinline__ void conv2d_input_block(const Arguments& arguments) {
  gemm_wgmma_block(arguments, arguments.workspace);
}
