"""The kernel of gemm by wgmma, on sm_90a."""
