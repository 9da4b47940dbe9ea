"""A program's run on a GPU, as `tensor_programs.execute` runs it in the emulator."""

from cuda.bindings import driver
from cuda.core import Device

from autotune.base.cuda_core import handle_return
from autotune.compiler import compile_kernel
from autotune.devices.launcher import LoadedProgram
from autotune.devices.tensor_maps import encode


def execute_on_gpu(program, arrays, outputs):
    """Run it on device 0, on flat arrays of which the outputs are changed."""
    Device(0).set_current()
    loaded = LoadedProgram(compile_kernel(program, "sm_90"), program)
    pointers = {name: int(handle_return(driver.cuMemAlloc(array.nbytes))) for name, array in arrays.items()}
    try:
        for name, array in arrays.items():
            handle_return(driver.cuMemcpyHtoD(pointers[name], array.ctypes.data, array.nbytes))
        loaded.launch(0, program.pack(pointers, {}, encode))
        handle_return(driver.cuCtxSynchronize())
        for name in outputs:
            handle_return(driver.cuMemcpyDtoH(arrays[name].ctypes.data, pointers[name], arrays[name].nbytes))
    finally:
        for pointer in pointers.values():
            handle_return(driver.cuMemFree(pointer))
