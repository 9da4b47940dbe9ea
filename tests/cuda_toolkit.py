"""Parts of the CUDA toolkit beside NVRTC, from a package of the environment or from the system."""

from cuda.pathfinder import find_nvidia_binary_utility, locate_nvidia_header_directory

NVCC = find_nvidia_binary_utility("nvcc")
_HEADERS = locate_nvidia_header_directory("cudart")
assert _HEADERS, "the dependency cuda-toolkit[cudart] has cuda.h"
INCLUDE = f"-I{_HEADERS.abs_path}"
UNOPTIMISED = ("--Ofast-compile=max",)  # of nvcc: half the time, where the kernel does not matter
