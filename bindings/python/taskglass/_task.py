# SPDX-License-Identifier: Apache-2.0
"""Tasks and their arguments, as graphs take them."""

from __future__ import annotations

import ctypes
from typing import Any, Iterable, List

import numpy as np

from . import dtypes, errors
from ._arguments import flag, integer, shown
from ._library import lib, words
from .device import DeviceArray

__all__ = ["In", "InOut", "Out", "Scalar", "Task"]

_MAX_TENSORS = _MAX_SCALARS = 16


class Role:
    """A tensor argument and what the task does with it."""
    role = ""

    def __init__(self, array: DeviceArray, mark: bool = False) -> None:
        if not isinstance(array, DeviceArray):
            raise errors.BadType(f"{type(self).__name__} takes a device array, not {shown(array)}")
        self.array, self.mark = array, flag(mark, "mark")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.array!r})"


class In(Role):
    """The task reads it. With `mark`, the recorder's levels `marked` and `hybrid` record it."""
    role = "in"


class Out(Role):
    """The task writes it."""
    role = "out"


class InOut(Role):
    """The task reads and writes it."""
    role = "inout"


class Scalar:
    """A number, where its value alone does not say enough: `dtype` is its type (by default that of the
    kernel's signature), and with `mark`, the recorder's levels `marked` and `hybrid` record it."""

    def __init__(self, value: Any, dtype: Any = None, *, mark: bool = False) -> None:
        is_number = isinstance(value, (bool, int, float, np.generic)) or (
            isinstance(value, np.ndarray) and value.ndim == 0)
        if not is_number or isinstance(value, (np.flexible, np.datetime64, np.timedelta64)):
            raise errors.BadType(f"an argument is a device array or a number, not {shown(value)}")
        self.value, self.mark = value, flag(mark, "mark")
        self.dtype = None if dtype is None else dtypes.dtype(dtype)
        if self.dtype is not None and self.dtype.packed:
            raise errors.BadArgument(f"{self.dtype} is no type of a scalar")

    def __repr__(self) -> str:
        return f"Scalar({self.value!r}{f', {self.dtype}' if self.dtype else ''})"


class Task(int):
    """A task's id; a number."""

    def __repr__(self) -> str:
        return f"Task({int(self)})"


def _bits_of(value: Any, kind: dtypes.DType) -> int:
    """The bits of a scalar. A whole number that its type lacks is refused, because NumPy cuts it to fit."""
    try:
        with np.errstate(all="ignore"):
            encoded = dtypes.encode(value, kind)
    except errors.BadArgument:
        raise errors.BadArgument(f"{shown(value)} is no {kind}") from None
    if encoded.dtype.kind in "iu" and kind.native and encoded.item() != np.asarray(value).item():
        raise errors.BadArgument(f"{shown(value)} is no {kind}")
    return int.from_bytes(encoded.tobytes(), "little")


class Arguments:
    """Arguments being copied into a struct tg_args. Keeps alive what the structure points to."""

    def __init__(self, arguments: Iterable[Any], signature: str = "", after: Iterable[int] = (),
                 mark: bool = False) -> None:
        self.args = lib().layout.tg_args()
        self.arrays: List[DeviceArray] = []
        self._words = signature.split()
        for argument in arguments:
            self._add(argument)
        if flag(mark, "mark"):
            self.args.tensor_marks = self.args.scalar_marks = 0xffff
        tasks = [integer(task, "a task in `after`") for task in after]
        self._after = (ctypes.c_uint64 * len(tasks))(*tasks)
        self.args.n_more_after = len(tasks)
        self.args.more_after = ctypes.cast(self._after, ctypes.c_void_p)

    def _add(self, argument: Any) -> None:
        if isinstance(argument, DeviceArray):
            argument = self._by_signature(argument)
        if isinstance(argument, Role):
            self._add_tensor(argument)
        else:
            self._add_scalar(argument if isinstance(argument, Scalar) else Scalar(argument))

    def _by_signature(self, array: DeviceArray) -> Role:
        roles = {role.role: role for role in (In, Out, InOut)}
        given = [word.partition(":")[0] for word in self._words]
        tensors = [word for word in given if word in roles]
        number = self.args.n_tensors
        if number >= len(tensors):
            wants = f"the kernel takes {len(tensors)} tensors" if self._words else \
                "there is no signature that says what it does with it"
            raise errors.BadArgument(f"say In, Out or InOut for tensor {number}: {wants}")
        return roles[tensors[number]](array)

    def _add_tensor(self, argument: Role) -> None:
        number = self.args.n_tensors
        if number == _MAX_TENSORS:
            raise errors.BadArgument(f"a task has up to {_MAX_TENSORS} tensors")
        argument.array._fill_tensor(self.args.tensor[number])
        self.args.role[number] = words("tg_role_name", "nothing").index(argument.role)
        self.args.tensor_marks |= int(argument.mark) << number
        self.args.n_tensors = number + 1
        self.arrays.append(argument.array)

    def _scalar_type(self, value: Any) -> dtypes.DType:
        """The type of a scalar: NumPy's scalars have one; others get the type of the signature, or
        else the widest."""
        if isinstance(value, (np.generic, np.ndarray)):
            return dtypes.dtype(value.dtype)
        scalars = [word for word in self._words if word.startswith("scalar")]
        number = self.args.n_scalars
        wanted = scalars[number].partition(":")[2] if number < len(scalars) else ""
        if wanted:
            return dtypes.dtype(wanted)
        return dtypes.dtype("bool" if isinstance(value, bool) else
                            "int64" if isinstance(value, int) else "float64")

    def _add_scalar(self, argument: Scalar) -> None:
        number, value = self.args.n_scalars, argument.value
        if number == _MAX_SCALARS:
            raise errors.BadArgument(f"a task has up to {_MAX_SCALARS} scalars")
        kind = argument.dtype or self._scalar_type(value)
        if kind.packed:
            raise errors.BadArgument(f"{kind} is no type of a scalar")
        scalar = self.args.scalar[number]
        scalar.bits, scalar.dtype = _bits_of(value, kind), kind.number
        self.args.scalar_marks |= int(argument.mark) << number
        self.args.n_scalars = number + 1


def tasks_of(after: Any) -> List[Any]:
    """The tasks of `after`: one, or several."""
    if isinstance(after, (str, bytes)):
        raise errors.BadType(f"after is a task or several, not {shown(after)}")
    try:
        return list(after)
    except TypeError:
        return [after]
