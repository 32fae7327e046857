# SPDX-License-Identifier: Apache-2.0
"""Names for types in the annotations of this package."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Union

import numpy as np

if TYPE_CHECKING:
    #: An array of any shape and element type.
    Array = np.ndarray[Any, Any]
else:  # before 1.22, NumPy's class takes no parameters while a program runs
    Array = np.ndarray

Path = Union[str, "os.PathLike[str]"]
