"""Tensors from data: nested lists, numbers, arrays.

`tensor` copies and finds the dtype, `from_numpy` and `as_tensor` share an array's memory. The rules
of what a list's dtype is, and the complaints about lists that are none of numbers, stand here.
Lesson 01.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..device import chosen, move
from ..dtype import (
    INTEGER,
    DType,
    as_dtype,
    bool_,
    from_numpy_dtype,
    get_default_dtype,
    int64,
    number_for,
    of_number,
    promote_types,
)
from ..storage import Storage, storage_of
from .factory import require_flag, require_unpinned
from .registry import function, method

# What a sequence may hold that has a dtype of its own, and the dtypes of what has none.
_TYPED = (np.ndarray, np.generic, Tensor)
_OF_NUMBER = {bool: bool_, int: int64}


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`: numbers, nested lists, arrays or tensors.

    Python floats give the default float type, ints int64, bools bool; arrays and tensors keep
    theirs. RuntimeError or TypeError for what is no number, ValueError for rows of different
    lengths.

    >>> tensor([[1, 2], [3, 4]]), tensor([1., 2.]).dtype
    (tensor([[1, 2],
            [3, 4]]), torch.float32)
    """
    require_flag("tensor", requires_grad)
    require_unpinned(pin_memory)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use x.detach().clone() rather "
            "than tg.tensor(x)",
            UserWarning,
            stacklevel=2,
        )
        device = chosen(device) or data.device
    array = array_of(data, None if dtype is None else as_dtype(dtype))
    return placed(array, device, requires_grad)


def placed(array: Any, device: Any, requires_grad: bool = False) -> Tensor:
    """The tensor of `array`, on `device`, or on the default one."""
    there = chosen(device)
    result = Tensor._wrap(array if there is None else move(array, there))
    if requires_grad:
        result.requires_grad_()
    return result


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """As `tensor`, but without a copy where none is needed: a tensor stays itself, an ndarray
    shares its memory."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=chosen(device))
    return tensor(data, dtype=dtype, device=device)


def scalar_tensor(
    value: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A 0-dim tensor of a number, in the default float type unless `dtype` says otherwise."""
    value = value.item() if isinstance(value, Tensor) else value
    dtype = get_default_dtype() if dtype is None else as_dtype(dtype)
    return placed(np.array(number_for(value, dtype), dtype.numpy), device, requires_grad)


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor on the memory of a NumPy array: a change of one is seen by the other.

    TypeError for what is no ndarray or has a type that tensors lack, ValueError for negative
    strides and foreign byte orders.

    >>> a = np.zeros(2); t = from_numpy(a); a += 1; t
    tensor([1., 1.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    _require_strides(ndarray)
    if not ndarray.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable: writing to the tensor will fail. Pass "
            "array.copy() to own the memory.",
            UserWarning,
            stacklevel=2,
        )
    return borrowed(ndarray.view(np.ndarray))  # whose shape is the tensor's own


def borrowed(array: Any) -> Tensor:
    """A tensor on the memory of `array`, which belongs to somebody else and so cannot grow."""
    from_numpy_dtype(array.dtype)
    result = Tensor._wrap(array)
    result._storage = storage_of(array, resizable=False)
    result._storage.add_window(result)
    return result


def _require_strides(array: np.ndarray[Any, Any]) -> None:
    if not array.dtype.isnative and array.dtype.kind in "biuf":
        raise ValueError(
            f"the array's byte order is foreign to this machine ({array.dtype.str}): pass "
            f"array.astype({array.dtype.newbyteorder('=').str!r})"
        )
    from_numpy_dtype(array.dtype)
    if any(s < 0 or s % array.itemsize for s in array.strides):
        raise ValueError(
            "a tensor has no negative strides (nor steps between elements), and this array has "
            f"{array.strides} bytes: pass array.copy()"
        )


# --- the array of any data ------------------------------------------------------------------------


def array_of(data: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """A fresh host array of nested sequences, numbers, arrays and tensors, in the dtype PyTorch
    infers."""
    if isinstance(data, Tensor):
        data = data._host()
    if isinstance(data, np.ndarray | np.generic):
        inferred = from_numpy_dtype(data.dtype)
        if isinstance(data, np.ndarray):
            _require_strides(data)
        return np.array(data, dtype=(dtype or inferred).numpy)
    if isinstance(data, Storage):
        data = data.tolist()
    if _is_sequence(data):
        return _array_of_sequence(data, dtype)
    try:
        inferred = of_number(data)
    except TypeError:
        raise _wrong_type(data) from None
    if dtype is None and inferred.category == INTEGER and not -(2**63) <= data < 2**63:
        raise _too_large(data)
    dtype = dtype or inferred
    return np.array(_number(data, dtype), dtype.numpy)


def _is_sequence(data: Any) -> bool:
    return isinstance(data, Sequence) and not isinstance(data, str | bytes)


def _number(value: Any, dtype: DType) -> Any:
    # Too large for a float type is infinite, too large for an integer type is an error.
    return float(value) if dtype.is_floating_point else number_for(value, dtype)


def _array_of_sequence(data: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    found: set[Any] = set()
    plain = _plain(data, found)
    try:
        array = np.array(plain)
    except ValueError:
        _complain_ragged(plain, 0, _shape_of(plain))
        raise
    if array.dtype.kind not in "biuf":
        _complain_type(plain)
    inferred = dtype or _inferred(found)
    if inferred.category == INTEGER and array.size:
        for extreme in (array.max().item(), array.min().item()):
            if dtype is None and not -(2**63) <= extreme < 2**63:
                raise _too_large(extreme)
            number_for(extreme, inferred)
    return array.astype(inferred.numpy)


def _plain(data: Any, found: set[Any]) -> Any:
    """Nested sequences with tensors replaced by host arrays; the types of what they hold go into
    `found`."""
    if type(data) in (float, int, bool):  # nearly always, so asked first
        found.add(type(data))
        return data
    if isinstance(data, _TYPED):
        found.add(data.dtype if isinstance(data, Tensor) else from_numpy_dtype(data.dtype))
        if isinstance(data, Tensor):
            return data.item() if data.ndim == 0 else _only(data)
        return data
    if _is_sequence(data):
        return [_plain(v, found) for v in data]
    found.add(type(data))
    return data


def _only(data: Tensor) -> Any:
    if data.numel() != 1:
        raise (ValueError if data.is_floating_point() else TypeError)(
            "only one element tensors can be converted to Python scalars, and one of shape "
            f"{list(data.shape)} stands in the list: use tg.stack(list)"
        )
    return data.item()


def _inferred(found: Iterable[Any]) -> DType:
    """The dtype that holds values of all these types."""
    result: DType | None = None
    for kind in found:
        dtype = kind if isinstance(kind, DType) else _OF_NUMBER.get(kind, get_default_dtype())
        result = dtype if result is None else promote_types(result, dtype)
    return get_default_dtype() if result is None else result


def _shape_of(data: Any) -> list[int]:
    shape = []
    while isinstance(data, list):
        shape.append(len(data))
        if not data:
            break
        data = data[0]
    return shape


def _complain_ragged(data: Any, depth: int, shape: list[int]) -> None:
    if not isinstance(data, list):
        return
    if depth < len(shape) and len(data) != shape[depth]:
        raise ValueError(
            f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)}): all "
            "rows of a tensor are equally long"
        )
    for value in data:
        if isinstance(value, list) != (depth + 1 < len(shape)):
            raise TypeError(
                f"a number and a sequence stand side by side at dim {depth + 1} of the data"
            )
        _complain_ragged(value, depth + 1, shape)


def _complain_type(data: Any) -> None:
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += value
        elif not isinstance(value, bool | int | float | np.generic | np.ndarray):
            raise _wrong_type(value)
    raise _too_large(data)


def _too_large(value: Any) -> Exception:
    return ValueError(f"an integer of the data does not fit 64 bits: {value}")


def _wrong_type(value: Any) -> Exception:
    if isinstance(value, complex):
        return TypeError(f"complex tensors are left out of this engine: {value!r}")
    kind = TypeError if isinstance(value, str | bytes) else RuntimeError
    return kind(
        "a tensor is made of numbers, nested lists of them, arrays or tensors, not of "
        f"{type(value).__name__}: {value!r}"
    )


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of `data` with this tensor's dtype and device."""
    array = array_of(data, self.dtype if dtype is None else as_dtype(dtype))
    return placed(array, self.device if device is None else device, requires_grad)


function(tensor, as_tensor, scalar_tensor, from_numpy)
method(new_tensor)
