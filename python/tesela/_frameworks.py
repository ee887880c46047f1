# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays as tensors of torch and JAX; both are imported only when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

from numpy.typing import NDArray

from ._errors import UnsupportedError

NAMES = {
    "np": "numpy", "numpy": "numpy", "pt": "torch", "torch": "torch", "pytorch": "torch", "flax": "jax", "jax": "jax",
}  # fmt: skip


NO_TENSORS = ("int4", "uint4", "int2", "uint2", "int1", "uint1")  # torch has their names, and no operators


class Framework:
    """What makes tensors, and where they go."""

    def __init__(self, name: str, device: Any = "cpu") -> None:
        if name not in NAMES:
            raise ValueError(f"unknown framework {name!r}; expected np, pt or flax")
        self.name, self.device = NAMES[name], device
        if self.name == "numpy" and device != "cpu":
            raise ValueError(f"arrays of NumPy are on the device 'cpu', found {device!r}")
        self.module = importlib.import_module(self.name)

    def tensor(self, array: NDArray[Any]) -> Any:
        """The array, whose memory the tensor may keep."""
        if self.name == "torch":
            return self._torch(array)
        if self.name == "jax":
            device = self.module.devices(self.device)[0] if isinstance(self.device, str) else self.device
            return self.module.device_put(array, device)
        return array

    def _torch(self, array: NDArray[Any]) -> Any:
        name = array.dtype.name
        dtype = getattr(self.module, name, None)
        if dtype is None or name in NO_TENSORS:
            raise UnsupportedError(f"torch has no tensors of {name}; use framework='np'")
        if array.dtype.isbuiltin == 1:
            tensor = self.module.from_numpy(array)
        else:  # a type of ml_dtypes: its bits
            tensor = self.module.from_numpy(array.view(f"u{array.itemsize}")).view(dtype)
        return tensor if self.device == "cpu" else tensor.to(self.device)
