#pragma once
#include "convolution/conv2d/wgmma_im2col/block.cuh"
#include "convolution/conv2d/wgmma_rows/join.cuh"
// D = activation(alpha·X∗W + bias) + beta·C of few channels as a product by wgmma, whose steps along k are
// rows of the filters.
