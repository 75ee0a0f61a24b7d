"""How an array or a tensor lies in memory, as plain data for a case to return.

Values, dtype, shape and gradient are observed anyway (`course.observe`); strides, and whose memory
it is, only where a case asks. Tensors are known by their methods alone. Lesson 00.
"""

from typing import Any

import numpy as np


def layout(value: Any) -> dict[str, Any]:
    """Shape and strides, both counted in elements, and where the first element lies.

    >>> layout(np.zeros((4, 6))[1:, ::2])
    {'shape': (3, 3), 'stride': (6, 2), 'offset': 6}
    """
    if hasattr(value, "storage_offset"):
        stride, offset = tuple(value.stride()), int(value.storage_offset())
    else:
        owner = value if value.base is None else value.base
        bytes_in = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        stride = tuple(step // value.itemsize for step in value.strides)
        offset = bytes_in // value.itemsize
    return {"shape": tuple(value.shape), "stride": stride, "offset": offset}


def shares_with(value: Any, **arguments: Any) -> list[str]:
    """The names of the arguments that have an element in common with `value`.

    >>> a, b = np.zeros(4), np.zeros(4)
    >>> shares_with(a[2:], a=a, b=b, first_half=a[:2])
    ['a']
    """
    own = _array(value)
    return [name for name, other in arguments.items() if np.shares_memory(own, _array(other))]


def _array(value: Any) -> "np.ndarray[Any, Any]":
    return np.asarray(value.detach().numpy() if hasattr(value, "detach") else value)
