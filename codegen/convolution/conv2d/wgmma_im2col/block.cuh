#pragma once
#include "convolution/conv2d/wgmma_im2col/producer.cuh"
#include "matmul/gemm/wgmma/block.cuh"
// D = activation(alpha·X∗W + bias) + beta·C as a product by wgmma, whose A is copied in im2col mode.

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  gemm_wgmma_block(arguments, arguments.workspace);
}
