"""Runs tests of the simulator on a CUDA device. Where one is:

    cd test/python && python3 -m pytest -p on_device test_attention.py test_row_kernels.py

A module for "sim:CHIP" is compiled for "cuda:CHIP", and for the device's own chip where
that is another generation. Arguments in the host's memory are copied to the device before
a call, and results and what the call updates are copied back.
"""

import os

import numpy as np
import pytest
import torch
import view_cases
from nm import _compile, _module

DEVICE = os.environ.get("NM_TEST_DEVICE", "cuda")
resolve_target, call_bound = _compile.resolve_target, _module.BoundFunction.__call__


# What a device cannot show.
SKIPPED = {"test_memory_that_cannot_be_updated": "its arrays are those of the host"}


def pytest_collection_modifyitems(items):
    for item in items:
        for name, reason in SKIPPED.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))


def chip_for(chip):
    major, minor = torch.cuda.get_device_capability()
    own = f"sm_{major}{minor}"
    return chip if chip.rstrip("af") == own else own


def resolve_for_device(target):
    target = str(target)
    if target.partition(":")[0] != "sim" or DEVICE == "cpu":
        return resolve_target(target)
    return "cuda:" + chip_for(target.partition(":")[2] or "sm_90")


# Of types that NumPy has not, the integers that it has their bits in.
BITS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


def host_bits(array):
    """NumPy's array as one of a type that PyTorch takes from NumPy."""
    bits = BITS.get(array.dtype.name)
    return array if bits is None else array.view(bits)


def device_bits(tensor):
    """A tensor's elements, or their bits, as an array of NumPy."""
    bits = BITS.get(str(tensor.dtype).partition(".")[2])
    return (tensor if bits is None else tensor.view(getattr(torch, bits))).cpu().numpy()


def moved(array):
    if isinstance(array, torch.Tensor):
        return array.to(DEVICE)
    array = np.asarray(array)
    raw = host_bits(array)
    # PyTorch has no negative strides.
    if any(stride < 0 for stride in raw.strides):
        raw = raw.copy()
    tensor = torch.from_numpy(np.array(raw, copy=DEVICE == "cpu", order="K")).to(DEVICE)
    name = array.dtype.name
    return tensor.view(getattr(torch, name)) if name in BITS else tensor


def put_back(tensor, array):
    """Writes the elements of a tensor of the device to an array of the host."""
    if isinstance(array, torch.Tensor):
        array.copy_(tensor)
    else:
        host_bits(array)[...] = device_bits(tensor)


def returned(tensor, like):
    """A result as an array of the kind of `like`."""
    if isinstance(like, torch.Tensor):
        return tensor.cpu()
    name = str(tensor.dtype).partition(".")[2]
    if name not in BITS:
        return device_bits(tensor)
    import ml_dtypes
    return device_bits(tensor).view(getattr(ml_dtypes, name))


def is_on_host(array):
    return isinstance(array, (np.ndarray, np.generic)) or (
        isinstance(array, torch.Tensor) and array.device.type == "cpu")


def call_on_device(bound, *args, out=None):
    if (bound.function.target != ("sim" if DEVICE == "cpu" else "cuda")
            or not args or not all(map(is_on_host, args))):
        return call_bound(bound, *args, out=out)
    given = [moved(array) for array in args]
    outs = out if isinstance(out, (tuple, list)) or out is None else (out,)
    made = None if outs is None else [moved(array) for array in outs]
    results = call_bound(bound, *given, out=made if made is None or
                         isinstance(out, (tuple, list)) else made[0])
    for type_, tensor, array in zip(bound.args, given, args):
        if type_.updated:
            put_back(tensor, array)
    if outs is not None:
        for tensor, array in zip(made, outs):
            put_back(tensor, array)
        return out
    if isinstance(results, tuple):
        return tuple(returned(each, args[0]) for each in results)
    return returned(results, args[0])


# A tensor core keeps 13 bits of a sum of 8-bit floats; the simulator keeps those of f32.
view_cases.LIMITS.update(f8E4M3FN=2e-4, f8E5M2=2e-4)
_compile.resolve_target = resolve_for_device
_module.BoundFunction.__call__ = call_on_device
