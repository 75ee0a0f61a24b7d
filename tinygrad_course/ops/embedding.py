"""embedding: rows of a table by their numbers.

A product with one-hot vectors would give the same, and so the gradient goes to the rows that were
looked up and to no others. It comes as a dense tensor, or as a sparse one that holds these rows
alone. Lesson 12.
"""

from __future__ import annotations

import math

from ..autograd.node import blank
from ..autograd.sparse import SparseTensor
from ..autograd.variable import Tensor
from ..device import backend_of
from .elementwise import where
from .registry import Op
from .rows import AddRows, IndexSelect


class Embedding(Op, fn=""):
    """y = w[i]: (V, E), (…) → (…, E); dw = zeros with g added to the rows i.

    Row `skipped` gets no gradient; `shared` divides by how often the row was looked up; `sparse`
    returns only the rows.
    """

    __slots__ = ()

    def forward(ctx, xp, w, i, /, skipped=None, shared=False, sparse=False):
        flat = i.reshape(-1)
        kept = None
        if skipped is not None:
            kept = flat != skipped
            kept = xp.nonzero(kept)[0] if sparse else kept.reshape(-1, 1)
        share = None
        if shared and flat.size:
            counts = xp.zeros(len(w), w.dtype)
            backend_of(w).scatter(counts, flat, xp.ones(flat.size, w.dtype), "add")
            share = (1 / counts[flat]).reshape(-1, 1)
        ctx.save(w.shape, i, kept, share, sparse)
        return w.take(i, 0)

    def backward(ctx, g):
        shape, i, kept, share, sparse = ctx.saved
        places, rows = i.reshape(-1), g.reshape(math.prod(i.shape), shape[1])
        if share is not None:
            rows = rows * share
        if kept is not None and not sparse:
            rows = where(kept, rows, blank(rows))
        elif kept is not None:
            places, rows = IndexSelect.fn(places, kept, 0), IndexSelect.fn(rows, kept, 0)
        if sparse:
            indices, values = (Tensor._wrap_any(v) for v in (places.reshape(1, -1), rows))
            return SparseTensor(indices, values, tuple(shape)), None
        return AddRows.fn(rows, places, tuple(shape), 0), None
