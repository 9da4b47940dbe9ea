"""What a GPU executes of a compiled kernel: sources that differ may make the same."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from .compiler import CompiledKernel

_ELF = b"\x7fELF"
_NOBITS = 8  # the type of a section without content
_EXECUTED = (b".text", b".nv.constant", b".nv.global.init")


def machine_code_digest(kernel: CompiledKernel) -> str:
    """64 hexadecimal digits over a kernel's instructions and constants, and the registers and shared memory it takes.

    Names of variables, lines and the compiler's version are not in it.
    """
    codes = [sorted(_sections(cubin)) if cubin.startswith(_ELF) else cubin for cubin in kernel.cubins]
    taken = kernel.resources.registers, kernel.resources.shared_bytes
    return hashlib.sha256(repr((*codes, taken)).encode()).hexdigest()


def _sections(cubin: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and contents of the sections that are executed, of an ELF file of 64 bits."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * number) for number in range(count)]
    for name, kind, _, _, offset, size, *_ in headers:
        begin = headers[names][4] + name
        title = cubin[begin : cubin.index(b"\0", begin)]
        if title.startswith(_EXECUTED) and kind != _NOBITS:
            yield title, cubin[offset : offset + size]
