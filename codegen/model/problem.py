"""What to compute: the part of a problem that every operator shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from dataclasses import fields as dataclass_fields
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .fields import FieldRole, FieldSpec, field_specs, invalid_fields
from .hardware import WIDEST_ACCESS
from .lists import suffixed
from .operand_layout import OperandLayout
from .plain_fields import checked_fields
from .tensor import Role, Tensor
from .work import Work

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Problem(ABC):
    """A frozen statement of what to compute. Subclasses add shapes, layouts and alignments as plain fields.

    Each field is declared by `size`, `kind`, `layout` or `data` (`fields.py`). A problem that cannot exist (a size that
    is negative or no ``int``, a leading dimension shorter than its row) raises ``ValueError`` with one line that says
    what is wrong and what would be right. `renamed` maps field names of earlier releases, as they were stored, to the
    present ones.
    """

    renamed: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        for name, value, wrong in invalid_fields(self):
            raise ValueError(f"{name}={value}: {wrong}")

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """All fields of a problem that exists, from fields whose sizes were drawn one by one.

        Fields that are left out have their defaults. Each size is brought within its bounds. A subclass whose sizes
        depend on each other, such as heads that groups divide, changes them further; tests, exports and benchmarks draw
        sizes, and rely on it.

        Raises:
            ValueError: a field that is no size has a value that it may not have.
        """
        fitted = {one.name: one.default for one in dataclass_fields(cls) if one.default is not MISSING} | dict(fields)
        for name, spec in field_specs(cls).items():
            if spec.role is FieldRole.SIZE and fitted[name] != spec.implied:
                fitted[name] = spec.clamped(fitted[name])
            elif spec.role is FieldRole.KIND and (wrong := spec.why_invalid(fitted.get(name))):
                raise ValueError(f"{name}={fitted.get(name)}: {wrong}")
        bounded = ((name, spec.at_most) for name, spec in field_specs(cls).items() if spec.at_most)
        return fitted | {name: min(fitted[name], fitted[other]) for name, other in bounded}

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How much there is to do, by the names of the fields."""
        return self._of_role(FieldRole.SIZE)

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """What makes it another computation: times of one kind say nothing about problems of another."""
        return self._of_role(FieldRole.KIND)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers that are no sizes, but of which times transfer to other ones, such as how many vectors a gemv has."""
        found = {name: getattr(self, name) for name, spec in field_specs(type(self)).items() if spec.transfers}
        return {name: value for name, value in found.items() if type(value) is int}

    @property
    def data(self) -> dict[str, Any]:
        """What its inputs are like. Kernels are right for any; times of other data say less about this problem's."""
        return self._of_role(FieldRole.DATA)

    @cached_property
    def key(self) -> str:
        """A stable string that names the problem in databases; two problems of one key share their best schedule.

        Such as ``m16384-n32768-e4``: the fields in the order of declaration, layouts only where they are not usual.
        """
        key = ""
        for name, spec in field_specs(type(self)).items():
            word = self._key_word(name, spec)
            key += word if spec.joined or not (key and word) else f"-{word}"
        return key

    def usual(self, name: str) -> int:
        """The value of a layout's field that keys leave out."""
        default: Any = self.__dataclass_fields__[name].default
        return int(default)

    def _key_word(self, name: str, spec: FieldSpec) -> str:
        value = getattr(self, name)
        if isinstance(value, bool):
            return spec.codes[value]
        implied = self.usual(name) if spec.role is FieldRole.LAYOUT else spec.implied
        if value == implied:
            return ""
        return str(value) if isinstance(value, StrEnum) else f"{spec.short or name.replace('_', '')}{value}"

    def _of_role(self, role: FieldRole) -> dict[str, Any]:
        specs = field_specs(type(self)).items()
        return {name: getattr(self, name) for name, spec in specs if spec.role is role and not spec.transfers}

    @property
    def served_as(self) -> Self | None:
        """The problem whose schedule serves this one, by a shape-generic kernel; None for a problem that has its own.

        So the results of rows, say, do not depend on how many there are: the same kernel computes them.
        """
        return None

    @property
    def work(self) -> Work:
        """The bytes that must cross device memory, and the operations by unit that the definition asks for.

        By default each tensor is moved once (`tensor_bytes`), and nothing is computed.
        """
        return Work(self.tensor_bytes)

    @property
    def usual_work(self) -> Work:
        """The same as a formula of sizes, for the time model: of what data decide, such as lengths, the usual."""
        return self.work

    @cached_property
    def tensor_bytes(self) -> int:
        """Bytes of all inputs and outputs without gaps; of what is read and written, twice. 0 of an empty problem."""
        if self.empty:
            return 0
        return sum(tensor.own_bytes * (2 if tensor.role is Role.IN_OUT else 1) for tensor in self.tensors)

    @property
    def empty(self) -> bool:
        """Whether it has outputs of which none has an element: there is nothing to compute."""
        sizes = [tensor.size for tensor in self.tensors if tensor.role is not Role.INPUT]
        return bool(sizes) and not any(sizes)

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """Where each operand is whose strides and alignment are fields."""
        return {}

    @property
    @abstractmethod
    def tensors(self) -> tuple[Tensor, ...]:
        """The array arguments, in the order of the kernel's argument struct."""

    @property
    def scalars(self) -> Mapping[str, float]:
        """Scalar arguments to verify and to time with; a caller of the dispatcher brings their own.

        Among them is what differs between the elements of a list, such as the length of each.
        """
        return {}

    def tensors_with(self, scalars: Mapping[str, float]) -> tuple[Tensor, ...]:
        """`tensors` of a call with these scalars, where shapes of lists' elements follow from them."""
        return self.tensors

    @property
    def deterministic(self) -> bool:
        """Whether launches on the same inputs give the same outputs bit for bit, in whatever order blocks run."""
        return True

    @abstractmethod
    def inputs(self, seed: int) -> dict[str, Array]:
        """Random flat buffers for the tensors that the kernel reads, the same for the same seed."""

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Inputs whose outputs no kernel may round but once, to their own type; None if all outputs are judged exactly.

        Such as small whole numbers to be summed: their sums are exact in any order, so that a lost or doubled term
        shows, which a tolerance for random numbers may hide.
        """
        return None

    @abstractmethod
    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """The outputs as flat buffers; what their gaps hold does not count.

        In float64 where `Tensor.judged` allows an error, beside ``<name>_scale`` where that is relative to something
        else than the output itself; in the output's own type where it is judged as exact, or where it is `Checked`: one
        of the right answers.
        """

    def views(self, buffers: Mapping[str, Array]) -> dict[str, Array]:
        """Flat buffers in the shapes of their tensors."""
        return {one.name: one.view(buffers[one.name]) for one in self.tensors if one.name in buffers}

    def buffers(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays of their tensors' shapes, or of as many elements, as flat buffers with gaps of 0.

        An array ``<name>_scale`` lies as its tensor does.
        """
        tensors, found = {one.name: one for one in self.tensors}, {}
        tensors |= {suffixed(name, "_scale"): one for name, one in tensors.items()}
        for name, array in arrays.items():
            found[name] = np.zeros(tensors[name].size, array.dtype)
            tensors[name].view(found[name])[...] = array.reshape(tensors[name].shape)
        return found

    def sampled_rows(self, seed: int) -> Array | None:
        """The rows, int64 and ascending, that are judged of outputs with `Tensor.row_axes`; None: all of them."""
        return None

    def reference_rows(
        self, inputs: Mapping[str, Array], scalars: Mapping[str, float], rows: Array
    ) -> dict[str, Array]:
        """`reference`, of which other rows of outputs with `Tensor.row_axes` may hold anything."""
        return self.reference(inputs, scalars)

    def why_misleading(self, indices: Mapping[str, Array]) -> str:
        """Why indices, of all tensors that have any, lead to what is not there; empty if none does.

        In one line, which names the first that is wrong. By default those that `Tensor.indices` does not allow.
        """
        for tensor in self.tensors:
            wrong = tensor.indices.why_invalid(indices[tensor.name].reshape(-1)) if tensor.indices else ""
            if wrong:
                return f"{tensor.name}: {wrong}"
        return ""

    def check(
        self, inputs: Mapping[str, Array], outputs: Mapping[str, Array], scalars: Mapping[str, float]
    ) -> dict[str, Array]:
        """For each output that is `Checked`, which elements of its flat buffer are right; gaps do not count.

        All outputs are there, so that several may be judged together. Where a row is wrong as a whole, such as one that
        is no permutation, its first element is.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has outputs with several right answers, and does not check them"
        )

    def _check_alignment(self, name: str, least: int = 1) -> None:
        """A pointer is a multiple of as many bytes as an access may have, from `least` on."""
        allowed = [width for width in (1, 2, 4, 8, WIDEST_ACCESS) if width >= least]
        if (align := getattr(self, name)) not in allowed:
            raise ValueError(f"{name}={align}: expected one of {', '.join(map(str, allowed))} bytes")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return {name: getattr(self, name) for name in field_specs(type(self))}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; unknown or missing fields and wrong types raise ``ValueError``."""
        return cls(**checked_fields(cls, values))
