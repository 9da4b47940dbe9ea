#pragma once
#include "convolution/conv2d_weight/wgmma_im2col/producer.cuh"
#include "matmul/gemm/wgmma/block.cuh"
// D = alpha·(the gradient by the weight) as a product by wgmma over all pixels, whose B is copied in im2col
// mode.

__device__ __forceinline__ void conv2d_weight_block(const Arguments& arguments) {
  gemm_wgmma_block(arguments, arguments.workspace);
}
