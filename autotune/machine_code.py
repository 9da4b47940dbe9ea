"""What a GPU executes of a compiled kernel: sources that differ may make the same."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import NamedTuple

from .compiler import CompiledKernel

_ELF = b"\x7fELF"
_NOBITS = 8  # the type of a section without content
_RELOCATIONS = (4, 9)  # the types of sections of relocations
_TEXT, _ADDRESSES, _VARIABLES = b".text", b".nv.constant4", b".nv.global.init"
_EXECUTED = (_TEXT, b".nv.constant", _VARIABLES)

# Of an instruction of 16 bytes (sm_70 and newer): where the number of a constant bank is, which bank has the addresses
# of variables, and how the second or the third operand is told to be a constant, not a register or an immediate value.
_BANK_SHIFT, _BANK_MASK, _ADDRESS_BANK = 54, 31, 4
_FORM_SHIFT, _FORM_MASK, _CONSTANT_FORMS = 9, 7, (3, 5)


class _Section(NamedTuple):
    name: bytes
    kind: int
    content: bytes


def machine_code_digest(kernel: CompiledKernel) -> str:
    """64 hexadecimal digits over a kernel's instructions and constants, and the registers and shared memory it takes.

    Names of variables, lines and the compiler's version are not in it; nor are variables that no instruction reads,
    such as named constants of the source, of which the compiler keeps a copy in memory all the same.
    """
    codes = [_executed(list(_sections(cubin))) if cubin.startswith(_ELF) else cubin for cubin in kernel.cubins]
    taken = kernel.resources.registers, kernel.resources.shared_bytes
    return hashlib.sha256(repr((*codes, taken)).encode()).hexdigest()


def _executed(sections: list[_Section]) -> list[tuple[bytes, bytes]]:
    """Names and contents of what is executed and read."""
    left_out = () if _reads_variables(sections) else (_ADDRESSES, _VARIABLES)
    return sorted(
        (one.name, one.content)
        for one in sections
        if one.name.startswith(_EXECUTED) and one.kind != _NOBITS and one.name not in left_out
    )


def _reads_variables(sections: list[_Section]) -> bool:
    """Whether an instruction may take the address of a variable: from its constant bank, or from a relocation."""
    relocated = any(one.kind in _RELOCATIONS and _TEXT in one.name and one.content for one in sections)
    return relocated or any(_reads_addresses(one.content) for one in sections if one.name.startswith(_TEXT))


def _reads_addresses(text: bytes) -> bool:
    return any(
        word >> _BANK_SHIFT & _BANK_MASK == _ADDRESS_BANK and word >> _FORM_SHIFT & _FORM_MASK in _CONSTANT_FORMS
        for word, _ in struct.iter_unpack("<QQ", text)
    )


def _sections(cubin: bytes) -> Iterator[_Section]:
    """The sections of an ELF file of 64 bits."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * number) for number in range(count)]
    for name, kind, _, _, offset, size, *_ in headers:
        begin = headers[names][4] + name
        title = cubin[begin : cubin.index(b"\0", begin)]
        yield _Section(title, kind, cubin[offset : offset + size])
