"""Making tensors: from data, from NumPy, of one value, in a row, at random.

`tensor` copies its data and finds the dtype; `from_numpy` and `FloatTensor(ndarray)` share memory.
Every factory takes `dtype`, `device` and `requires_grad`. Random numbers are PyTorch's CPU stream,
from `random.py`. Lesson 01.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import random as generators
from ..autograd.mode import no_grad
from ..autograd.node import blank
from ..autograd.variable import Tensor
from ..device import Device, backend_for, backend_of, device_of, move, xp_of
from ..dtype import (
    ALL,
    INTEGER,
    DType,
    bool_,
    from_numpy_dtype,
    get_default_dtype,
    int64,
    number_for,
    of_number,
)
from ..shape import Size, as_int, require_sizes, size_args
from ..storage import Storage
from .convert import memory_order, overwrite, to_dtype
from .registry import Op, function, method

# --- from data ------------------------------------------------------------------------------------


def _numpy_type(dtype: Any, default: DType) -> np.dtype[Any]:
    if dtype is None:
        return default.numpy
    if not isinstance(dtype, DType):
        raise TypeError(f"dtype must be one of tg.float32, tg.int64, …, not {dtype!r}")
    return dtype.numpy


def _finish(array: Any, device: Any, requires_grad: bool) -> Tensor:
    result = Tensor._wrap(array if device is None else move(array, Device(device)))
    if requires_grad:
        result.requires_grad_()
    return result


def _array_of(data: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """A fresh host array of nested sequences, numbers, arrays and tensors, in the dtype PyTorch
    infers."""
    if isinstance(data, Tensor):
        data = data._host()
    if isinstance(data, np.ndarray | np.generic):
        inferred = from_numpy_dtype(data.dtype)
        return np.array(data, dtype=_numpy_type(dtype, inferred), order="C")
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _array_of_sequence(data, dtype)
    try:
        inferred = of_number(data)
    except TypeError:
        raise _wrong_type(data) from None
    dtype = inferred if dtype is None else dtype
    return np.array(number_for(data, dtype), _numpy_type(dtype, dtype))


def _array_of_sequence(data: Sequence[Any], dtype: DType | None) -> np.ndarray[Any, Any]:
    plain = _plain(data)
    try:
        array = np.array(plain)
    except ValueError:
        _complain_ragged(plain, 0, _shape_of(plain))
        raise
    if array.dtype.kind not in "biuf":
        _complain_type(plain)
    if array.size == 0 or (
        array.dtype.kind == "f" and not isinstance(_first(data), np.ndarray | np.generic | Tensor)
    ):
        inferred = get_default_dtype()
    elif isinstance(_first(data), np.ndarray | np.generic | Tensor):
        inferred = from_numpy_dtype(array.dtype)
    else:
        inferred = bool_ if array.dtype.kind == "b" else int64
    if dtype is not None and dtype.category == INTEGER and array.size:
        number_for(array.max().item(), dtype)
        number_for(array.min().item(), dtype)
    return array.astype(_numpy_type(dtype, inferred))


def _plain(data: Any) -> Any:
    """Nested sequences with tensors replaced by host arrays."""
    if isinstance(data, Tensor):
        return data._host()
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return [_plain(v) for v in data]
    return data


def _first(data: Any) -> Any:
    while isinstance(data, Sequence) and not isinstance(data, str | bytes) and len(data):
        data = data[0]
    return data


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
    raise ValueError("the data holds an integer that does not fit 64 bits")


def _wrong_type(value: Any) -> Exception:
    kind = TypeError if isinstance(value, str | bytes) else RuntimeError
    return kind(
        "a tensor is made of numbers, nested lists of them, arrays or tensors, not of "
        f"{type(value).__name__}: {value!r}"
    )


def tensor(
    data: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new tensor with a copy of `data`: numbers, nested lists, arrays or tensors.

    Python floats give the default float type, ints int64, bools bool; arrays and tensors keep
    theirs. RuntimeError or TypeError for what is no number, ValueError for rows of different
    lengths.

    >>> tensor([[1, 2], [3, 4]]), tensor([1., 2.]).dtype
    (tensor([[1, 2],
            [3, 4]]), torch.float32)
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use x.detach().clone() rather "
            "than tg.tensor(x)",
            UserWarning,
            stacklevel=2,
        )
        device = data.device if device is None else device
    return _finish(_array_of(data, dtype), device, requires_grad)


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """As `tensor`, but without a copy where none is needed: a tensor stays itself, an ndarray
    shares its memory."""
    if isinstance(data, np.ndarray) and all(s >= 0 for s in data.strides):
        data = from_numpy(data)
    if isinstance(data, Tensor):
        return data.to(dtype or data.dtype, device=device)
    return tensor(data, dtype=dtype, device=device)


def scalar_tensor(
    value: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A 0-dim tensor of a number, in the default float type unless `dtype` says otherwise."""
    return _finish(np.array(value, _numpy_type(dtype, get_default_dtype())), device, requires_grad)


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor on the memory of a NumPy array: a change of one is seen by the other.

    TypeError for what is no ndarray or has a type that tensors lack, ValueError for negative
    strides.

    >>> a = np.zeros(2); t = from_numpy(a); a += 1; t
    tensor([1., 1.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    from_numpy_dtype(ndarray.dtype)
    if any(s < 0 or s % ndarray.itemsize for s in ndarray.strides):
        raise ValueError(
            "a tensor has no negative strides (nor steps between elements), and this array has "
            f"{ndarray.strides} bytes: "
            "pass array.copy()"
        )
    if not ndarray.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable: writing to the tensor will fail. Pass "
            "array.copy() to own the memory.",
            UserWarning,
            stacklevel=2,
        )
    return Tensor._wrap(ndarray.view(np.ndarray))  # whose shape is the tensor's own


# --- the typed constructors of the era: tg.Tensor, tg.FloatTensor, … ------------------------------


def legacy_tensor(cls: type[Tensor], *args: Any, device: Any = None) -> Tensor:
    """tg.Tensor(2, 3): that size, contents arbitrary. tg.Tensor([2, 3]): those values.
    tg.Tensor(other): the same memory."""
    if cls is not Tensor:
        raise TypeError(
            f"{cls.__name__} has a constructor of its own and cannot be made like tg.Tensor(2, 3)"
        )
    return _typed(get_default_dtype(), device or "cpu", args)


def _typed(dtype: DType, device: Any, args: tuple[Any, ...]) -> Tensor:
    place = Device(device)
    name = f"torch.{dtype.tensor_type}"
    if len(args) == 1 and not isinstance(args[0], int | np.integer):
        (data,) = args
        if isinstance(data, Size):
            return empty(data, dtype=dtype, device=place)
        if isinstance(data, Storage):
            if data.dtype is not dtype:
                raise RuntimeError(f"{name} needs a storage of {dtype!r}, not of {data.dtype!r}")
            result = Tensor._wrap(data._buffer[...])
            result._storage = data
            data.add_window(result)
            return result
        if isinstance(data, Tensor):
            if data.dtype is not dtype:
                raise TypeError(f"expected {name} (got {data.type()}): convert with .to(...)")
            return data.data
        if isinstance(data, np.ndarray):
            shared = data.dtype == dtype.numpy and all(s >= 0 for s in data.strides)
            host = from_numpy(data) if shared else Tensor._wrap(data.astype(dtype.numpy))
            return host.to(place)
        if isinstance(data, Sequence) and not isinstance(data, str):
            return _finish(_array_of(data, dtype), place, False)
        raise TypeError(
            f"{name}() takes sizes, a sequence, an ndarray, a tensor or a storage, not "
            f"{type(data).__name__}"
        )
    return (
        empty(*(as_int(n, "size") for n in args), dtype=dtype, device=place)
        if args
        else empty(0, dtype=dtype, device=place)
    )


class _TypedTensor(type):
    """The type of tg.FloatTensor and the like: calling one makes a Tensor, isinstance looks at
    dtype and device."""

    tensor_dtype: DType
    device_kind: str

    def __call__(cls, *args: Any) -> Tensor:
        return _typed(cls.tensor_dtype, cls.device_kind, args)

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype is cls.tensor_dtype
            and instance.device.type == cls.device_kind
        )

    def __repr__(cls) -> str:
        return f"<class 'torch.{'cuda.' if cls.device_kind == 'cuda' else ''}{cls.__name__}'>"


def _typed_tensors(device_kind: str) -> dict[str, type]:
    return {
        d.tensor_type: _TypedTensor(
            d.tensor_type, (), {"tensor_dtype": d, "device_kind": device_kind}
        )
        for d in ALL
    }


TYPED = _typed_tensors("cpu")
CUDA_TYPED = _typed_tensors("cuda")

# --- of one value, in a row -----------------------------------------------------------------------


def _sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    sizes = size_args(size)
    require_sizes(sizes)
    return sizes


def _new_on(device: Any) -> Any:
    return backend_for("cpu" if device is None else Device(device).type).xp


def empty(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of that size whose elements are whatever was in memory.

    >>> empty(2, 3).shape
    torch.Size([2, 3])
    """
    array = _new_on(device).empty(_sizes(size), _numpy_type(dtype, get_default_dtype()))
    return _finish(array, device, requires_grad)


def zeros(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of zeros.

    >>> zeros(2)
    tensor([0., 0.])
    """
    array = _new_on(device).zeros(_sizes(size), _numpy_type(dtype, get_default_dtype()))
    return _finish(array, device, requires_grad)


def ones(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of ones.

    >>> ones((1, 2))
    tensor([[1., 1.]])
    """
    array = _new_on(device).ones(_sizes(size), _numpy_type(dtype, get_default_dtype()))
    return _finish(array, device, requires_grad)


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor with one value everywhere, of that value's type.

    >>> full((2,), 7)
    tensor([7, 7])
    """
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    dtype = of_number(value) if dtype is None else dtype
    array = _new_on(device).full(
        _sizes((size,)), number_for(value, dtype), _numpy_type(dtype, dtype)
    )
    return _finish(array, device, requires_grad)


def arange(
    *bounds: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """start, start + step, … below end: arange(end), arange(start, end), arange(start, end, step).

    >>> arange(1, 2, 0.5)
    tensor([1.0000, 1.5000])
    """
    values = [b.item() if isinstance(b, Tensor) else b for b in bounds]
    if not 1 <= len(values) <= 3:
        raise TypeError(f"arange() takes one to three bounds, got {len(values)}")
    start, end, step = {1: (0, *values, 1), 2: (*values, 1), 3: tuple(values)}[len(values)]
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: arange({start}, {end}, "
            f"{step})"
        )
    whole = all(isinstance(v, int) for v in (start, end, step))
    numpy_type = _numpy_type(dtype, int64 if whole else get_default_dtype())
    count = max(-(-(end - start) // step) if whole else math.ceil((end - start) / step), 0)
    array = (start + np.arange(count, dtype=np.int64 if whole else np.float64) * step).astype(
        numpy_type
    )
    return _finish(array, device, requires_grad)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers evenly spaced from `start` to `end`, both included.

    >>> linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    array = np.linspace(start, end, steps).astype(_numpy_type(dtype, get_default_dtype()))
    return _finish(array, device, requires_grad)


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix.

    >>> eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"n and m must be greater or equal to 0, got {n} and {m}")
    array = np.eye(n, n if m is None else m, dtype=_numpy_type(dtype, get_default_dtype()))
    return _finish(array, device, requires_grad)


# --- at random ------------------------------------------------------------------------------------


def manual_seed(seed: int) -> generators.Generator:
    """Seeds the generator behind all random functions; the numbers then are PyTorch's for that
    seed.

    >>> _ = manual_seed(0); rand(2)
    tensor([0.4963, 0.7682])
    """
    return generators.default_generator.manual_seed(seed)


def _generator(generator: generators.Generator | None) -> generators.Generator:
    return generators.default_generator if generator is None else generator


def rand(
    *size: Any,
    generator: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform numbers from [0, 1)."""
    array = generators.uniform(
        _generator(generator), _sizes(size), _numpy_type(dtype, get_default_dtype())
    )
    return _finish(array, device, requires_grad)


def randn(
    *size: Any,
    generator: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
    array = generators.normal(
        _generator(generator), _sizes(size), _numpy_type(dtype, get_default_dtype())
    )
    return _finish(array, device, requires_grad)


def randint(
    *bounds_and_size: Any,
    generator: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Whole numbers from [low, high): randint(high, size) or randint(low, high, size).

    >>> _ = manual_seed(0); randint(10, (3,))
    tensor([4, 9, 3])
    """
    if len(bounds_and_size) not in (2, 3):
        raise TypeError("randint() takes (high, size) or (low, high, size)")
    *bounds, size = bounds_and_size
    low, high = (0, *bounds) if len(bounds) == 1 else bounds
    array = generators.randint(_generator(generator), low, high, _sizes((size,)))
    return _finish(to_dtype(array, _numpy_type(dtype, int64)), device, requires_grad)


def randperm(
    n: int, *, generator: Any = None, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """The numbers 0 … n-1 in random order."""
    array = generators.randperm(_generator(generator), n)
    return _finish(to_dtype(array, _numpy_type(dtype, int64)), device, False)


class Bernoulli(Op, fn=""):
    """1 with probability x, else 0; dx = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, generator):
        drawn = generators.bernoulli(generator, backend_of(x).to_host(x))
        return move(drawn.astype(x.dtype), device_of(x))

    def backward(ctx, g):
        return blank(g)


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability given by each element, else 0."""
    return Bernoulli.fn(input, _generator(generator))


def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **named: float
) -> Tensor:
    """Fills with uniform numbers from [from, to)."""
    low = named.pop("from", from_)
    if named:
        raise TypeError(f"uniform_() got unexpected arguments {sorted(named)}")
    return _fill_random(
        self,
        lambda shape: generators.uniform(_generator(generator), shape, self.dtype.numpy, low, to),
    )


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fills with normal numbers."""
    whole = bool(self._array.flags.c_contiguous)
    return _fill_random(
        self,
        lambda shape: generators.normal(
            _generator(generator), shape, self.dtype.numpy, mean, std, contiguous=whole
        ),
    )


def _fill_random(self: Tensor, draw: Any) -> Tensor:
    # Drawn on the host: the stream is the same for all devices.
    return overwrite(self, move(generators.in_memory_order(self._array, draw), self.device))


# --- like another tensor --------------------------------------------------------------------------


def _like(make: Any) -> Any:
    def like(
        input: Tensor,
        *args: Any,
        dtype: DType | None = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        options = {
            "dtype": dtype or input.dtype,
            "device": device or input.device,
            "requires_grad": requires_grad,
        }
        result: Tensor = make(input, *args, **options)
        return result

    return like


def _empty_like(x: Tensor, dtype: DType, device: Any, requires_grad: bool) -> Tensor:
    """An empty tensor of the size of `x`, in the memory order of `x`."""
    xp, order = xp_of(x._array), memory_order(x._array)
    return _finish(xp.empty_like(x._array, dtype=dtype.numpy, order=order), device, requires_grad)


def _filled_like(x: Tensor, fill: Any, options: dict[str, Any]) -> Tensor:
    result = _empty_like(x, **options)
    with no_grad():
        fill(result)
    result._counter = None  # it was made that way, and not changed
    return result


zeros_like = _like(lambda x, **options: _filled_like(x, lambda y: y.zero_(), options))
ones_like = _like(lambda x, **options: _filled_like(x, lambda y: y.fill_(1), options))
empty_like = _like(_empty_like)
full_like = _like(lambda x, value, **options: _filled_like(x, lambda y: y.fill_(value), options))
rand_like = _like(lambda x, **options: _filled_like(x, lambda y: y.uniform_(), options))
randn_like = _like(lambda x, **options: _filled_like(x, lambda y: y.normal_(), options))

new_zeros = _like(lambda x, *size, **options: zeros(*size, **options))
new_ones = _like(lambda x, *size, **options: ones(*size, **options))
new_empty = _like(lambda x, *size, **options: empty(*size, **options))
new_full = _like(lambda x, size, fill_value, **options: full(size, fill_value, **options))


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of `data` with this tensor's dtype and device."""
    return _finish(_array_of(data, dtype or self.dtype), device or self.device, requires_grad)


def new(self: Tensor, *args: Any) -> Tensor:
    """The typed constructor of this tensor's type: x.new(2, 3), x.new([1, 2])."""
    return _typed(self.dtype, self.device, args)


function(
    tensor,
    as_tensor,
    scalar_tensor,
    from_numpy,
    empty,
    zeros,
    ones,
    full,
    arange,
    linspace,
    eye,
    manual_seed,
    rand,
    randn,
    randint,
    randperm,
    bernoulli,
)
function(
    zeros_like=zeros_like,
    ones_like=ones_like,
    empty_like=empty_like,
    full_like=full_like,
    rand_like=rand_like,
    randn_like=randn_like,
)
method(
    bernoulli,
    new,
    new_tensor,
    normal_,
    uniform_,
    new_empty=new_empty,
    new_full=new_full,
    new_ones=new_ones,
    new_zeros=new_zeros,
)
