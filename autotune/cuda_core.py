"""What autotune needs of cuda.core that cuda.core does not export: a release may move it, so only this file names it."""

from cuda.core._utils.cuda_utils import CUDAError, NVRTCError, handle_return

__all__ = ["CUDAError", "NVRTCError", "handle_return"]
