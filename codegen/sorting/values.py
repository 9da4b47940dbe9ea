"""What goes along with keys."""

from __future__ import annotations

from enum import StrEnum

from autotune.codegen.model.dtype import DType


class Values(StrEnum):
    """Nothing, the index of a key in its row, or an element of as many bytes of an array."""

    NONE = "keys"
    INDEX32 = "index32"
    INDEX64 = "index64"
    BYTES1 = "bytes1"
    BYTES2 = "bytes2"
    BYTES4 = "bytes4"
    BYTES8 = "bytes8"
    BYTES16 = "bytes16"

    @property
    def is_index(self) -> bool:
        """Whether they follow from the places of keys."""
        return self in _INDEX

    @property
    def is_array(self) -> bool:
        """Whether they are read."""
        return self in _ARRAY

    @property
    def bytes(self) -> int:
        """Bytes of a value."""
        return 0 if self is Values.NONE else _INDEX[self].bytes if self.is_index else _ARRAY[self].bytes * self.words

    @property
    def dtype(self) -> DType:
        """The type of the elements that a value is made of."""
        return _INDEX[self] if self.is_index else _ARRAY[self]

    @property
    def words(self) -> int:
        """Elements of a value."""
        return 4 if self is Values.BYTES16 else 1


_INDEX = {Values.INDEX32: DType.INT32, Values.INDEX64: DType.INT64}
_ARRAY = {
    Values.BYTES1: DType.UINT8,
    Values.BYTES2: DType.UINT16,
    Values.BYTES4: DType.UINT32,
    Values.BYTES8: DType.UINT64,
    Values.BYTES16: DType.UINT32,
}
