"""The kernel of gemm by mma.sync."""
