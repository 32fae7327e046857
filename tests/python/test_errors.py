# SPDX-License-Identifier: Apache-2.0
"""Whatever a caller passes in, the package raises one of its own errors or accepts it: no exception
from inside (AttributeError, ctypes.ArgumentError, struct.error …) gets out."""

import inspect
import os
import pickle

import numpy
import pytest
import taskglass
from taskglass import _arguments, errors

from conftest import PLATFORMS, python


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


def endless():
    holder = []
    holder.append(holder)
    return holder


BAD = [None, True, -1, 2**70, 1.5, float("nan"), float("inf"), "", "nonsense", "a\0b", "\ud800", b"bytes",
       "x" * 300, object(), Unprintable(), [], [None], [object()], {"a": 1}, (1, 2, 3), endless(),
       numpy.ones(3), numpy.array("2020-01-01", "M8[s]"), slice(1, "x"), range(3), 1j, os]

# What the other arguments of a function are while one of them is bad.
GOOD = {"workload": "vector_add", "name": "vector_add", "kernel": "vector_add_tile", "shape": 3, "dtype": "float32",
        "what": "float32", "values": [1.0, 2.0], "raw": numpy.zeros(4, "u1"), "before": 0, "after": 1,
        "path": "made.csv", "a": "rec", "b": "rec", "outputs": ".", "recording": "rec", "run": "rec"}


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """One object of each class that has methods with arguments."""
    folder = tmp_path_factory.mktemp("things")
    execution = taskglass.run("vector_add", output=folder / "rec", dump_tensor="full",
                              platform=PLATFORMS[0])
    ranks = taskglass.run("vector_add", ranks=1, output=folder / "job", dump_tensor="full",
                          platform=PLATFORMS[0]).files()
    with taskglass.Device(PLATFORMS[0], cores=1, memory="64M") as device, \
            execution.recording() as recording, ranks:
        module = device.load("vector_add")
        array = device.zeros((4, 4))
        graph = module.graph()
        graph.add("vector_add_tile", array, array, array)
        graph.add("vector_add_tile", array, array, array)
        yield {"taskglass": taskglass, "dtypes": taskglass.dtypes, "Config": taskglass.Config(),
               "Execution": execution, "Output": next(iter(execution.outputs.values())),
               "Recording": recording, "Record": recording[0], "Device": device,
               "DeviceArray": array, "Module": module, "Graph": graph, "Ranks": ranks, "Rank": ranks[0],
               "folder": folder}
        graph.close()


# Classes whose objects nobody but this package makes.
MADE_HERE = ("DType", "Task", "Execution", "Output", "Record", "Run", "DeviceArray")
DUNDERS = ("__getitem__", "__array__")


def functions_of(thing):
    """The public functions of an object or a module that take arguments, with their parameters."""
    names = [name for name in dir(thing) if not name.startswith("_") or name in DUNDERS]
    if inspect.ismodule(thing):
        names = thing.__all__
    for name in names:
        function = inspect.getattr_static(thing, name)
        if isinstance(function, property):
            continue
        function = getattr(thing, name)
        if inspect.isclass(function) and (issubclass(function, Exception) or
                                          hasattr(function, "__dataclass_fields__")):
            continue
        if name in MADE_HERE:
            continue
        if not callable(function) or inspect.ismodule(function):
            continue
        parameters = list(inspect.signature(function).parameters.values())
        if parameters:
            yield name, function, parameters


def call(function, parameters, bad, value):
    """Calls a function with one bad argument."""
    positional, named = [], {}
    for each in parameters:
        if each.kind is each.VAR_KEYWORD:
            if each is bad:
                named["nonsense"] = value
        elif each.kind is each.VAR_POSITIONAL:
            positional += [value] if each is bad else []
        elif each is bad:
            named[each.name] = value
        elif each.default is each.empty:
            named[each.name] = GOOD.get(each.name, value)
    if positional:
        positional = [named.pop(each.name) for each in parameters
                      if each.kind is each.POSITIONAL_OR_KEYWORD and each.name in named] + positional
    return function(*positional, **named)


CLASSES = ["taskglass", "dtypes", "Config", "Execution", "Output", "Recording", "Record", "Device",
           "DeviceArray", "Module", "Graph", "Ranks", "Rank"]


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""),
                    reason="starts hundreds of processes, and an interpreter with sanitizers is slow")
@pytest.mark.parametrize("thing", CLASSES)
def test_whatever_is_passed_in_only_our_errors_come_out(things, thing, monkeypatch):
    monkeypatch.chdir(things["folder"])
    swept, strays = 0, []
    for name, function, parameters in functions_of(things[thing]):
        for bad in parameters:
            for value in BAD:
                try:
                    made = call(function, parameters, bad, value)
                    if hasattr(made, "close"):
                        made.close()
                    elif inspect.isgenerator(made):
                        next(made, None)
                except taskglass.Error as error:
                    assert error.status and error.text and isinstance(error.advice, str)
                except Exception as error:
                    strays.append(f"{thing}.{name}({bad.name}={_arguments.shown(value)}): {error!r}")
                swept += 1
    assert not strays, "\n".join(strays)
    assert swept or thing in ("Execution", "Rank")


def test_a_wrong_type_is_a_type_error_as_well():
    for call in (lambda: taskglass.run(3), lambda: taskglass.Recording(3.5),
                 lambda: taskglass.run("vector_add", progress=5),
                 lambda: taskglass.run("vector_add", set=5),
                 lambda: taskglass.settings("platform")):
        with pytest.raises(TypeError) as caught:
            call()
        assert isinstance(caught.value, taskglass.BadType)
        assert isinstance(caught.value, taskglass.BadArgument)
        assert caught.value.status == "BAD_ARGUMENT" and caught.value.exit_code == 2


def test_a_number_beyond_the_end_is_an_index_error_as_well(things):
    with pytest.raises(IndexError) as caught:
        things["Recording"][10**6]
    assert isinstance(caught.value, taskglass.OutOfRange)
    with pytest.raises(IndexError) as caught:
        things["DeviceArray"][7]
    assert isinstance(caught.value, taskglass.Error)


def test_a_file_that_cannot_be_used_is_an_os_error_as_well(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError) as caught:
        taskglass.run("vector_add", output=tmp_path / "file" / "out", platform=PLATFORMS[0])
    assert isinstance(caught.value, taskglass.IoError)


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_one_of_the_family_and_survives_pickling(name):
    kind = getattr(taskglass, name)
    assert issubclass(kind, taskglass.Error)
    error = pickle.loads(pickle.dumps(kind("what", advice="do")))
    assert (type(error), error.text, error.advice) == (kind, "what", "do")
    assert str(error) == f"{error.status}: what"


def test_a_number_that_does_not_fit_is_refused_and_not_cut(things):
    with pytest.raises(taskglass.BadArgument, match="from 0 to"):
        things["Graph"].edge(2**64, 0)
    with pytest.raises(taskglass.BadArgument, match="too large or negative"):
        things["Graph"].start(record="full", output_dir=things["folder"] / "cut", buffers=2**32 + 1)


def test_an_exception_of_the_callers_own_function_comes_out_as_it_is():
    class Mine(Exception):
        pass

    def fail(*_):
        raise Mine

    with pytest.raises(Mine):
        taskglass.run("vector_add", progress=fail, platform=PLATFORMS[0])


def test_an_error_that_nobody_catches_says_what_happened():
    last = python("import taskglass; taskglass.Recording('/no/such')").stderr.splitlines()[-1]
    assert last.startswith("taskglass.errors.NotFound: NOT_FOUND: ") and "/no/such" in last
