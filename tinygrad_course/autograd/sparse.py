"""Row-sparse gradients: of a large table, only the rows that were looked up.

`F.embedding(…, sparse=True)` gives one, so that a step costs what the batch holds and not what the
table holds. It stands for a dense tensor, zero but for `values[i]` added to row `indices[0, i]`;
rows may repeat until `coalesce` sums them. It knows how gradients are accumulated; operations that
do not know it refuse it, since it has no array. Lesson 12.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from ..device import Device
from ..dtype import DType
from ..layout import Layout, sparse_coo
from ..printing import sparse_repr
from ..shape import Size
from .variable import Tensor


class SparseTensor(Tensor):
    """`values` (n, …) at rows `indices` (1, n) of a tensor of `size`, zero elsewhere: PyTorch's
    sparse COO tensor with one sparse dim.

    NotImplementedError from operations that take dense tensors alone.

    >>> import tinygrad_course as tg
    >>> w = tg.zeros(3, 2, requires_grad=True)
    >>> tg.nn.functional.embedding(tg.tensor([2, 2]), w, sparse=True).sum().backward()
    >>> w.grad.coalesce().indices(), w.grad.coalesce().values()
    (tensor([[2]]), tensor([[2., 2.]]))
    """

    __slots__ = ("_coalesced", "_places", "_rows", "_size")

    _coalesced: bool
    _places: Tensor
    _rows: Tensor
    _size: tuple[int, ...]

    is_sparse = True

    def __new__(
        cls, indices: Tensor, values: Tensor, size: tuple[int, ...], coalesced: bool = False
    ) -> SparseTensor:
        new: SparseTensor = object.__new__(cls)
        new._storage = new._counter = new._edge = new._meta = None
        new._places, new._rows, new._size = indices, values, size
        new._coalesced = coalesced or len(values) < 2
        return new

    def _with(self, values: Tensor) -> SparseTensor:
        """Other values in the same rows."""
        return SparseTensor(self._places, values, self._size, self._coalesced)

    # --- what it holds ----------------------------------------------------------------------------

    def _indices(self) -> Tensor:
        """The rows, (1, n), repeated ones included."""
        return self._places

    def _values(self) -> Tensor:
        """What is added to these rows, (n, …)."""
        return self._rows

    def indices(self) -> Tensor:
        """The rows, (1, n), in order; RuntimeError before `coalesce`."""
        return self._require_coalesced("indices")._places

    def values(self) -> Tensor:
        """The rows' values, (n, …); RuntimeError before `coalesce`."""
        return self._require_coalesced("values")._rows

    def _require_coalesced(self, what: str) -> SparseTensor:
        if not self._coalesced:
            raise RuntimeError(
                f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first: a row "
                f"may be there several times (_{what}() returns them as they are)"
            )
        return self

    def is_coalesced(self) -> bool:
        """Whether every row is there once, in order."""
        return self._coalesced

    def coalesce(self) -> SparseTensor:
        """The same tensor with every row once, in order: values of one row are added."""
        if self._coalesced:
            return self
        rows, place = self._places[0].unique(return_inverse=True)
        values = self._rows.new_zeros((len(rows), *self._size[1:]))
        values = values.index_add(0, place, self._rows)
        return SparseTensor(rows.unsqueeze(0), values, self._size, True)

    def to_dense(self) -> Tensor:
        """The tensor that this one stands for, zeros included."""
        return self._rows.new_zeros(self._size).index_add(0, self._places[0], self._rows)

    def _nnz(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def sparse_dim(self) -> int:
        """1: a row is addressed by one number."""
        return 1

    def dense_dim(self) -> int:
        """The dims of a row."""
        return len(self._size) - 1

    @property
    def _array(self) -> NoReturn:
        raise NotImplementedError(
            f"this operation has no sparse kernel, and the tensor of size {list(self._size)} has "
            f"{self._nnz()} sparse rows: take .to_dense(), or work on ._values()"
        )

    @property
    def shape(self) -> Size:
        return Size(self._size)

    def size(self, dim: int | None = None) -> Any:
        """The shape of the dense tensor, or one of its sizes."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of dims of the dense tensor."""
        return len(self._size)

    ndim = property(dim)

    def numel(self) -> int:
        """The number of elements of the dense tensor."""
        return math.prod(self._size)

    def __len__(self) -> int:
        return self._size[0]

    @property
    def dtype(self) -> DType:
        return self._rows.dtype

    @property
    def device(self) -> Device:
        return self._rows.device

    @property
    def layout(self) -> Layout:
        """`tg.sparse_coo`."""
        return sparse_coo

    @property  # type: ignore[misc]
    def requires_grad(self) -> bool:
        """Whether gradients flow to the values."""
        return self._rows.requires_grad

    @property
    def grad_fn(self) -> Any:
        return self._rows.grad_fn

    def type(self, *args: Any, **kwargs: Any) -> Any:
        """The name of the type, or a conversion to another."""
        if args or kwargs:
            return self._with(self._rows.type(*args, **kwargs))
        return self._rows.type().replace("torch.", "torch.sparse.")

    # --- copies -----------------------------------------------------------------------------------

    def detach(self) -> SparseTensor:
        """The same values, cut off from the graph."""
        return self._with(self._rows.detach())

    @property  # type: ignore[misc]
    def data(self) -> SparseTensor:  # type: ignore[override]
        """As `detach`."""
        return self.detach()

    def clone(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """A copy with memory of its own."""
        return SparseTensor(self._places.clone(), self._rows.clone(), self._size, self._coalesced)

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseTensor:
        return self.detach().clone()

    def to(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """On another device, or with values of another dtype."""
        values = self._rows.to(*args, **kwargs)
        places = self._places.to(values.device)
        return SparseTensor(places, values, self._size, self._coalesced)

    def zero_(self) -> SparseTensor:
        """Drops all rows."""
        return self._become(self._places[:, :0], self._rows.detach()[:0])

    def _become(self, places: Tensor, values: Tensor) -> SparseTensor:
        self._places, self._rows = places, values
        self._coalesced = len(values) < 2
        self._bump()
        return self

    # --- arithmetic: what gradients go through ----------------------------------------------------

    def __mul__(self, number: Any) -> SparseTensor:
        return self._with(self._rows * number)

    mul = __rmul__ = __mul__  # type: ignore[assignment]

    def __truediv__(self, number: Any) -> SparseTensor:
        return self._with(self._rows / number)

    div = __truediv__  # type: ignore[assignment]

    def __neg__(self) -> SparseTensor:
        return self._with(-self._rows)

    neg = __neg__

    def mul_(self, number: Any) -> SparseTensor:
        """Multiplies all values by a number, in place."""
        return self._scale(self._rows * number)

    def div_(self, other: Any, **rounding: Any) -> SparseTensor:
        """Divides all values by a number, in place."""
        return self._scale(self._rows.div(other, **rounding))

    def _scale(self, values: Tensor) -> SparseTensor:
        self._rows = values
        self._bump()
        return self

    def norm(self, *args: Any, **kwargs: Any) -> Tensor:
        """The norm of all elements."""
        result: Tensor = self.coalesce()._rows.norm(*args, **kwargs)
        return result

    def __add__(self, other: Any) -> Any:
        """The rows of both where both are sparse, else the dense sum: an array for an array, as in
        a backward pass."""
        if isinstance(other, SparseTensor):
            return SparseTensor(*self._joined(other), self._size)
        dense = self.to_dense()
        return dense + other if isinstance(other, Tensor) else dense._array + other

    __radd__ = add = __add__  # type: ignore[assignment]

    def __iadd__(self, other: Any) -> Any:
        """As `self + other`, in this tensor where it can hold the sum."""
        if isinstance(other, SparseTensor) and not (self.requires_grad or other.requires_grad):
            return self._become(*self._joined(other))
        return self + other

    def _joined(self, other: SparseTensor) -> tuple[Tensor, Tensor]:
        from ..ops.join import cat

        return cat((self._places, other._places), 1), cat((self._rows, other._rows))

    def __repr__(self) -> str:
        return sparse_repr(self)
