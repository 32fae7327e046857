# SPDX-License-Identifier: Apache-2.0
"""Devices, their memory, and the kernels that are loaded into them.

    with taskglass.Device("a5sim", cores=3) as device:
        x = device.array(numpy.arange(1024, dtype="f4"))
        y = device.empty(1024, "float32")
        with device.load("./scale.so").graph() as graph:
            graph.add("scale", x, y, 0.5)
            graph.run()
        print(y.numpy())
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from . import _html, dtypes, errors
from ._arguments import converting, flag, integer, shown
from ._comm import Comm
from ._handle import Closing, Handle
from ._library import encoded, lib, text
from ._types import Array
from .config import Config, SettingsHandle, config_of
from .execute import Kernel, WorkloadFile

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Device", "DeviceInfo", "DeviceArray", "Module"]

MAX_DIMS = 8
_NO_KERNEL = 2**32 - 1
_MOST_COPIED = 64 << 20  # bytes from the device for a picture in a notebook


@dataclass(frozen=True)
class DeviceInfo:
    """Properties of a device, and its present state."""
    platform: str
    cores: int
    blocks: int
    schedulers: int
    memory: int
    memory_used: int
    pid: int
    host_sees_memory: bool
    lost: bool
    no_new_privs: bool
    seccomp: bool
    landlock: int


class Device(Closing):
    """A device: memory, kernels and graphs. Close it, or use it in a `with`.

    Arguments that are not given come from `config`, then from the environment. With `comm` it is the
    device of that rank; see `join`. Calls on one device must not overlap; different devices are
    independent.
    """

    def __init__(self, platform: Optional[str] = None, *, cores: Optional[int] = None,
                 schedulers: Optional[int] = None, memory: Union[None, int, str] = None,
                 program: Any = None, config: Optional[Config] = None,
                 comm: Optional[Comm] = None) -> None:
        given = {"platform": platform, "cores": cores, "schedulers": schedulers,
                 "device_memory": memory, "device_program": program}
        self._settings = SettingsHandle(config_of(config).updated(
            **{name: value for name, value in given.items() if value is not None}))
        wanted = lib().layout.tg_device_config(
            platform=self._text("platform"), cores=self._count("cores"),
            schedulers=self._count("schedulers"), memory=self._count("device-memory"),
            device_program=self._text("device-program"), poison=self._flag("poison"),
            sandbox=self._settings.get(lib().tg_settings_choice, b"sandbox"),
            orchestrator=self._settings.get(lib().tg_settings_choice, b"orchestrator"),
            load_timeout=self._settings.get(lib().tg_settings_seconds, b"load-timeout"),
            linger=self._settings.get(lib().tg_settings_seconds, b"linger") or -1)
        self._handle = Handle(lib().make(lib().tg_device_open, ctypes.byref(wanted)),
                              lib().tg_device_close, "device")
        self._comm: Optional[Comm] = None
        if comm is not None:
            self.join(comm)

    def _text(self, name: str) -> Optional[bytes]:
        return self._settings.get(lib().tg_settings_text, name.encode()) or None

    def _count(self, name: str) -> int:
        return self._settings.number(lib().tg_settings_count, name.encode())

    def _flag(self, name: str) -> bool:
        return bool(self._settings.get(lib().tg_settings_flag, name.encode()))

    @property
    def info(self) -> DeviceInfo:
        info = lib().layout.tg_device_info()
        self._handle.get(lib().tg_device_get_info, ctypes.byref(info))
        return DeviceInfo(text(info.platform), info.cores, info.blocks, info.schedulers, info.memory,
                          info.memory_used, info.pid, info.host_sees_memory, info.lost, info.no_new_privs,
                          info.seccomp, info.landlock)

    # --- ranks ---------------------------------------------------------------------------------

    def join(self, comm: Comm) -> None:
        """Makes the device's runs this rank's part of a job, so that calls such as `Graph.send` reach the other
        ranks. It joins before a module is loaded, and once. All ranks start as many runs, in the same order."""
        if not isinstance(comm, Comm):
            raise errors.BadType(f"a device joins a taskglass.Comm, not {shown(comm)}")
        with comm._handle.use() as pointer:
            self._handle.call(lib().tg_device_join, pointer)
            self._handle.keep(comm._handle)
        self._comm = comm

    @property
    def comm(self) -> Optional[Comm]:
        """What it has joined; None: nothing, so that it is rank 0 of 1."""
        return self._comm

    # --- memory --------------------------------------------------------------------------------

    def empty(self, shape: Union[int, Sequence[int]], dtype: Any = "float32") -> "DeviceArray":
        """Memory for an array; its content is undefined."""
        kind = dtypes.dtype(dtype)
        extents = _extents(shape)
        if len(extents) > MAX_DIMS or any(extent < 0 for extent in extents):
            raise errors.BadArgument(f"an array has up to {MAX_DIMS} dimensions, none of them "
                                     f"negative, not {shown(extents)}")
        elements = 1
        for extent in extents:
            elements *= extent
        if kind.bytes_of(elements) >= 2**63:
            raise errors.NoMemory(f"no device has memory for an array of {shown(extents)}")
        address = ctypes.c_uint64()
        self._handle.call(lib().tg_device_alloc, kind.bytes_of(elements), ctypes.byref(address))
        memory = _Memory(self, address.value, kind.bytes_of(elements))
        return DeviceArray(memory, kind, extents)

    def zeros(self, shape: Union[int, Sequence[int]], dtype: Any = "float32") -> "DeviceArray":
        """An array of zero bytes."""
        made = self.empty(shape, dtype)
        made._memory.write(np.zeros(made._memory.size, np.uint8))
        return made

    def array(self, values: Any, dtype: Any = None, *, bits: bool = False) -> "DeviceArray":
        """An array with these values, as `dtype` or as the type that they have.

        For a type that NumPy lacks, values are numbers, which are rounded to it, or with `bits` its
        bits, one element each.
        """
        host = _host(values)
        kind = dtypes.dtype(host.dtype if dtype is None else dtype)
        made = self.empty(host.shape, kind)
        made.copy_from(host, bits=bits)
        return made

    # --- kernels -------------------------------------------------------------------------------

    def load(self, workload: Any) -> "Module":
        """A workload's kernels, by the name of an example or the path of its module."""
        return Module(self, workload)

    def __repr__(self) -> str:
        if self.closed:
            return "<Device, closed>"
        info = self.info
        lost = ", lost" if info.lost else ""
        return (f"<Device {info.platform}: {info.cores} cores, {info.memory_used} of {info.memory} "
                f"bytes used{lost}>")


class _Memory:
    """A piece of device memory; freed when nothing uses it any more."""

    def __init__(self, device: Device, address: int, size: int) -> None:
        self.device, self.address, self.size = device, address, size
        self._is_ours = True

    def write(self, data: Array, offset: int = 0) -> None:
        if data.nbytes:
            self.device._handle.call(lib().tg_device_copy_in, self.address + offset,
                                     data.ctypes.data, data.nbytes)

    def read(self, size: int, offset: int = 0) -> Array:
        data = np.empty(size, np.uint8)
        if size:
            self.device._handle.call(lib().tg_device_copy_out, data.ctypes.data,
                                     self.address + offset, size)
        return data

    def free(self) -> None:
        if self._is_ours and not self.device.closed:
            self._is_ours = False
            self.device._handle.call(lib().tg_device_free, self.address)
        self._is_ours = False

    def __del__(self) -> None:
        try:
            self.free()
        except Exception:  # the device is closed or lost, and the memory with it
            pass


class DeviceArray(_html.Shown):
    """An array in device memory, or a view of one. The memory is freed with its last view.

    `array[1:, ::2]`, `array[3]`, `array.T` and `array.reshape(…)` make views without moving a byte.
    """

    def __init__(self, memory: _Memory, kind: dtypes.DType, shape: Tuple[int, ...],
                 strides: Optional[Tuple[int, ...]] = None, start: int = 0) -> None:
        self._memory, self._kind, self.shape, self.start = memory, kind, shape, start
        #: In elements, not bytes.
        self.strides = _row_major(shape) if strides is None else strides

    @property
    def device(self) -> Device:
        return self._memory.device

    @property
    def address(self) -> int:
        """The address of the memory on the device; the host must not dereference it."""
        return self._memory.address

    @property
    def dtype(self) -> str:
        return self._kind.name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self._kind.bytes_of(self.size)

    @property
    def is_whole(self) -> bool:
        """Whether this is all of its memory, in row-major order."""
        return (self.start == 0 and self.nbytes == self._memory.size
                and self.strides == _row_major(self.shape))

    # --- values --------------------------------------------------------------------------------

    def copy_from(self, values: Any, *, bits: bool = False) -> None:
        """Copies values of the same shape from the host; see `Device.array`."""
        host = _host(values)
        if host.shape != self.shape:
            raise errors.BadArgument(f"values of shape {host.shape} for an array of {self.shape}")
        raw = self._raw_of(host, flag(bits, "bits"))
        if self.is_whole:
            self._memory.write(raw)
            return
        held = self._elements()
        self._window(held)[...] = (dtypes.unpack(raw, self.size) if self._kind.packed
                                   else raw.view(self._kind.numpy)).reshape(self.shape)
        self._memory.write(dtypes.pack(held) if self._kind.packed else held)

    def _raw_of(self, host: Array, bits: bool) -> Array:
        """The packed bytes of values."""
        if bits and not self._kind.native:
            with converting(f"bits of {self._kind}"):
                host = np.ascontiguousarray(host, self._kind.numpy)
            return dtypes.pack(host) if self._kind.packed else host
        return np.ascontiguousarray(dtypes.encode(host, self._kind))

    def _elements(self) -> Array:
        """All of the memory, unpacked to one array element for each element."""
        raw = self._memory.read(self._memory.size)
        if self._kind.packed:
            return dtypes.unpack(raw, 2 * raw.size)
        return raw.view(self._kind.numpy)

    def _window(self, held: Array) -> Array:
        """This view, as a view of such an array."""
        if self.size == 0:
            return np.empty(self.shape, held.dtype)
        strides = tuple(stride * held.itemsize for stride in self.strides)
        return np.lib.stride_tricks.as_strided(held[self.start:], self.shape, strides)

    def numpy(self, decode: bool = False) -> Array:
        """A copy of the values on the host. Values of types that NumPy lacks are their bits (4-bit
        types one to a byte), or with `decode` float32."""
        if self.is_whole:
            raw = self._memory.read(self.nbytes)
            values = dtypes.unpack(raw, self.size) if self._kind.packed else raw.view(
                self._kind.numpy)
            values = values.reshape(self.shape)
        else:
            values = self._window(self._elements()).copy()
        if not flag(decode, "decode"):
            return values
        if self._kind.packed:
            return dtypes.decode(dtypes.pack(values), self._kind, self.shape)
        return dtypes.decode(values, self._kind)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        """numpy.asarray(array): the values, decoded."""
        with converting("numpy.asarray"):
            return np.asarray(self.numpy(decode=True), dtype)

    def map(self) -> Array:
        """The memory itself, if the host can see it: a write to the array is a write to device
        memory. The device stays open until the last such array is gone."""
        if self._kind.packed:
            raise errors.BadArgument("elements of 4 bits cannot be mapped one by one")
        with self.device._handle.use_alone() as pointer:
            address = lib().tg_device_map(pointer, self.address, self._memory.size)
            if not address:
                raise errors.Unsupported(f"the host does not see the memory of {self.device!r}",
                                         advice="use numpy() and copy_from()")
            held = self.device._handle.view(address, self._memory.size, writable=True)
        return self._window(held.view(self._kind.numpy))

    def free(self) -> None:
        """Frees the memory now; its views must not be used any more."""
        self._memory.free()

    # --- views ---------------------------------------------------------------------------------

    def __getitem__(self, where: Any) -> "DeviceArray":
        wanted = list(where) if isinstance(where, tuple) else [where]
        dots = [at for at, item in enumerate(wanted) if item is Ellipsis]
        if len(dots) > 1:
            raise errors.OutOfRange("an index has one ellipsis at most")
        for at in dots:
            wanted[at:at + 1] = [slice(None)] * (self.ndim - len(wanted) + 1)
        if len(wanted) > self.ndim:
            raise errors.OutOfRange(f"{len(wanted)} indices for an array of {self.ndim} dimensions")
        wanted += [slice(None)] * (self.ndim - len(wanted))
        start, shape, strides = self.start, [], []
        for item, extent, stride in zip(wanted, self.shape, self.strides):
            if isinstance(item, slice):
                with converting(f"device arrays have no {shown(item)}"):
                    picked = range(*item.indices(extent))
                start += picked.start * stride if len(picked) else 0
                shape.append(len(picked))
                strides.append(stride * picked.step)
            elif isinstance(item, (int, np.integer)):
                if not -extent <= item < extent:
                    raise errors.OutOfRange(f"index {item} is out of range for an extent of {extent}")
                start += int(item) % extent * stride
            else:
                raise errors.BadType(f"device arrays take numbers and slices, not {shown(item)}")
        return DeviceArray(self._memory, self._kind, tuple(shape), tuple(strides), start)

    def transpose(self, *axes: int) -> "DeviceArray":
        """Dimensions in another order; without arguments, reversed."""
        order = tuple(integer(axis, "an axis", 0, MAX_DIMS) for axis in axes) \
            or tuple(reversed(range(self.ndim)))
        if sorted(order) != list(range(self.ndim)):
            raise errors.BadArgument(f"{order} is no order of {self.ndim} dimensions")
        return DeviceArray(self._memory, self._kind, tuple(self.shape[axis] for axis in order),
                           tuple(self.strides[axis] for axis in order), self.start)

    @property
    def T(self) -> "DeviceArray":
        return self.transpose()

    def reshape(self, *shape: Any) -> "DeviceArray":
        """The same elements in row-major order under another shape; one extent may be -1."""
        wanted = list(_extents(shape[0] if len(shape) == 1 else shape))
        if self.strides != _row_major(self.shape) and self.size > 1:
            raise errors.BadArgument("only an array without gaps has another shape")
        if wanted.count(-1) == 1:
            others = -math.prod(wanted)
            wanted[wanted.index(-1)] = self.size // others if others else 0
        if any(extent < 0 for extent in wanted) or math.prod(wanted) != self.size:
            raise errors.BadArgument(f"{self.size} elements have no shape {shown(shape)}")
        if len(wanted) > MAX_DIMS:
            raise errors.BadArgument(f"an array has up to {MAX_DIMS} dimensions, not {len(wanted)}")
        return DeviceArray(self._memory, self._kind, tuple(wanted), None, self.start)

    def __len__(self) -> int:
        if not self.shape:
            raise errors.BadType("an array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        view = "" if self.is_whole else ", a view"
        return f"<DeviceArray {self.dtype} {self.shape} at {self.address:#x}{view}>"

    def _as_html(self) -> str:
        facts = {"type": f"{self.dtype} {_html.shape_of(self.shape)}", "address": f"{self.address:#x}",
                 "size": _html.size_of(self.nbytes) + ("" if self.is_whole else ", a view")}
        if self._memory.size > _MOST_COPIED:
            return _html.card("DeviceArray", facts, "too large to be copied for a picture")
        return _html.card("DeviceArray", facts, _html.heatmaps(self.numpy(decode=True), np.asarray, self.shape))

    def _fill_tensor(self, tensor: Any) -> None:
        """Fills a struct tg_tensor for the library."""
        tensor.addr, tensor.storage_bytes, tensor.start = (self._memory.address, self._memory.size,
                                                           self.start)
        tensor.dtype, tensor.ndim = self._kind.number, self.ndim
        for i, (extent, stride) in enumerate(zip(self.shape, self.strides)):
            tensor.shape[i], tensor.strides[i] = extent, stride


def _host(values: Any) -> Array:
    with converting("values for a device array"):
        return np.asarray(values)


def _extents(shape: Any) -> Tuple[int, ...]:
    """A shape, given as one number or as several."""
    if isinstance(shape, (str, bytes)):
        raise errors.BadType(f"a shape is numbers, not {shown(shape)}")
    try:
        extents = list(shape)
    except TypeError:
        extents = [shape]
    return tuple(integer(extent, "an extent", -2**63, 2**63 - 1) for extent in extents)


def _row_major(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


class Module:
    """A workload's kernels on a device."""

    def __init__(self, device: Device, workload: Any) -> None:
        if not isinstance(device, Device):
            raise errors.BadType(f"a module is loaded into a taskglass.Device, not {shown(device)}")
        file = WorkloadFile(device._settings, workload)
        try:
            self.workload = file.describe()
        finally:
            file.close()
        self.device = device
        self._pointer = device._handle.make(lib().tg_device_load, encoded(self.workload.path))
        #: The kernels by their names.
        self.kernels: Dict[str, Kernel] = {kernel.name: kernel for kernel in self.workload.kernels}

    @contextlib.contextmanager
    def use_alone(self) -> Iterator[int]:
        """The library's module, which ends with its device; see `Handle.use_alone`."""
        with self.device._handle.use_alone():
            yield self._pointer

    def index(self, kernel: str) -> int:
        """A kernel's number in its module."""
        with self.use_alone() as pointer:
            number = int(lib().tg_module_kernel(pointer, encoded(kernel)))
        if number == _NO_KERNEL:
            raise errors.NotFound(f"{self.workload.name} has no kernel '{kernel}'; it has "
                                  f"{', '.join(self.kernels)}")
        return number

    def graph(self) -> "Graph":
        """An empty graph, to be built task by task."""
        from .graph import Graph
        return Graph(self)

    def orchestrate(self, *arguments: Any, runtime: str = "host_build_graph", **rings: Any
                    ) -> "Graph":
        """The graph that the workload's orchestration function builds from these arguments. Each
        names its role: `In(a)`, `Out(b)`, `InOut(c)`; scalars have NumPy's types. `task_window`,
        `dep_pool`, `heap` (each a number, or four) and `tensormap` size the rings of a graph that
        the device builds."""
        from .graph import Graph
        return Graph(self, arguments, runtime, rings)

    def __repr__(self) -> str:
        return f"<Module {self.workload.name}: {', '.join(self.kernels)}>"
