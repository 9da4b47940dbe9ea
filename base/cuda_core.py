"""What autotune needs of cuda.core that cuda.core does not export: a release may move it, so one file names it."""

from cuda.core._utils.cuda_utils import CUDAError, NVRTCError, handle_return

__all__ = ["CUDAError", "NVRTCError", "handle_return"]
