"""Tensor: TensorBase with an autograd slot, the class that PyTorch merged `Tensor` and `Variable`
into.

`_edge` is the slot: (node, output number) of the operation that made the tensor, None for leaves.
Whatever else autograd keeps (a leaf's `grad`, a view's base) is in `_meta`. Operations are bound to
this class by the registry; how a backward pass runs is in `engine`. Lessons 04 and 05.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import Array
from ..tensor import TensorBase
from . import node as nodes
from .hooks import RemovableHandle, add_hook
from .meta import Meta
from .node import AccumulateGrad, Edge, Node

if TYPE_CHECKING:
    from .methods import TensorMethods  # what the registry binds, written down for type checkers
else:
    TensorMethods = TensorBase


backward: Any = None  # the engine's; `engine`, which imports this module, puts it here


class Tensor(TensorMethods):
    """An n-dimensional array that remembers how it was computed.

    `tg.tensor(data)` makes one from data, `tg.Tensor(2, 3)` one of that size with arbitrary
    contents (float type of the default), `tg.Tensor([2, 3])` one with those values.

    >>> import tinygrad_course as tg
    >>> x = tg.tensor([1., 2.], requires_grad=True)
    >>> (x * x).sum().backward(); x.grad
    tensor([2., 4.])
    """

    __slots__ = ("_edge", "_meta")

    _edge: Edge | None
    _meta: Meta | None

    # NumPy's operators leave `array * tensor` to the tensor.
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **kwargs: Any) -> Tensor:
        from ..ops.typed import legacy_tensor

        return legacy_tensor(cls, *args, **kwargs)

    @staticmethod
    def _wrap(array: Array) -> Tensor:
        """The Tensor of a kernel's result, without any checks."""
        tensor = _new(Tensor)
        tensor._array = array
        tensor._storage = tensor._counter = tensor._edge = tensor._meta = None
        return tensor

    @staticmethod
    def _wrap_any(value: Any) -> Tensor:
        """As `_wrap`; what kernels make of 0-dim arrays, NumPy scalars, become arrays, and Tensors
        stay."""
        if isinstance(value, np.generic):
            value = np.asarray(value)
        return value if isinstance(value, Tensor) else Tensor._wrap(value)

    def _make_meta(self) -> Meta:
        if self._meta is None:
            self._meta = Meta().start()
        return self._meta

    def _grad_edge(self) -> Edge | None:
        """Where the gradient of this tensor goes: None when it needs none."""
        if self._edge is not None:
            return self._edge
        return None if self._meta is None else self._meta.edge(self)

    # --- what the graph says of this tensor -------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        if self._edge is not None:
            return True
        meta = self._meta
        return meta is not None and meta.needs_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and not self.is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables; this one was computed, "
                "and requires grad already"
            )
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Switches recording on or off for a leaf; RuntimeError for a computed tensor or an integer
        type."""
        edge = self._grad_edge()
        if edge is not None and not isinstance(edge[0], AccumulateGrad):
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables, and this one was "
                    "computed by "
                    f"{edge[0].name()}. To use its value where no gradient should flow, take "
                    "x.detach()."
                )
            return self
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError(
                f"only Tensors of floating point dtype can require gradients, not {self.dtype!r}: "
                "convert with .float()"
            )
        if requires_grad and self.volatile:
            raise RuntimeError(
                "a volatile Variable cannot require gradients: make it without volatile=True"
            )
        if requires_grad or self._meta is not None:
            self._make_meta().requires_grad = bool(requires_grad)
        return self

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that made this tensor, None for a leaf."""
        edge = self._grad_edge()
        return None if edge is None or isinstance(edge[0], AccumulateGrad) else edge[0]

    @property
    def creator(self) -> Node | None:
        """The name `grad_fn` had before PyTorch 0.2. Drawn whole numbers, which carry no gradient,
        have one too."""
        return self.grad_fn or getattr(self._meta, "creator", None)

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this tensor is."""
        edge = self._grad_edge()
        return 0 if edge is None else edge[1]

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        meta = self._meta
        return self._edge is None and (
            meta is None or meta.requires_grad or not meta.needs_grad(self)
        )

    @property
    def volatile(self) -> bool:
        """Whether operations with this tensor are never recorded (inference mode before PyTorch
        0.4)."""
        return self._meta is not None and self._meta.volatile

    @volatile.setter
    def volatile(self, value: bool) -> None:
        if not self.is_leaf:
            raise RuntimeError(
                "only the volatile flag of a leaf can be changed; take x.detach() first"
            )
        if value and self.requires_grad:
            raise RuntimeError(
                "a Variable that requires gradients cannot be volatile: set requires_grad = False "
                "first"
            )
        self._make_meta().volatile = bool(value)

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf (or after `retain_grad`); None until a backward pass
        gets here."""
        meta = self._meta
        if meta is not None and meta.grad is not None:
            found: Tensor = meta.grad
            found._make_meta()  # autograd's own: the legacy way of printing calls it a Variable
            return found
        if not self.is_leaf and not self.retains_grad:
            warnings.warn(
                "this tensor was computed by an operation, and the .grad of a tensor that is not a "
                "leaf is not filled by backward(): call .retain_grad() on it first, or ask for the "
                ".grad of a leaf",
                UserWarning,
                stacklevel=2,
            )
        return None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"a gradient is a Tensor or None, not {type(value).__name__}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            for what, mine, its in (
                ("type", self.type(), value.type().replace("sparse.", "")),
                ("size", list(self.shape), list(value.shape)),
                ("device", str(self.device), str(value.device)),
            ):
                if mine != its:
                    raise RuntimeError(
                        f"assigned grad has data of a different {what}: {its}, and the tensor's is "
                        f"{mine}"
                    )
        elif self._meta is None:
            return
        self._make_meta().grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of."""
        return None if self._meta is None else self._meta.base

    def _is_view(self) -> bool:
        return self._base is not None

    # --- the same memory, without the graph -------------------------------------------------------

    def detach(self) -> Tensor:
        """The same memory, cut off from the graph. In-place changes are still counted, and so still
        caught.

        >>> import tinygrad_course as tg
        >>> (tg.ones(2, requires_grad=True) * 2).detach().requires_grad
        False
        """
        result = self.data
        result._counter = self._shared_counter()
        if self.volatile:
            result._make_meta().volatile = True
        return result

    def detach_(self) -> Tensor:
        """Makes this tensor a leaf, in place; RuntimeError for a view, whose base would still have
        the history."""
        if self._base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self._edge = None
        if self._meta is not None:
            self._meta.requires_grad = False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory as a tensor with no history and a version counter of its own: the
        unguarded door.

        Assigning swaps the memory under this tensor.
        """
        storage = self.storage()
        # A window of its own, not the same object: nodes tell their inputs apart by their arrays.
        result = Tensor._wrap(self._array[...])
        result._storage = storage
        storage.add_window(result)
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f".data is a Tensor, not {type(value).__name__}")
        if self.requires_grad and not value.dtype.is_floating_point:
            raise RuntimeError(
                "data of a tensor that requires gradients must be of a float type, not "
                f"{value.dtype!r}"
            )
        self._storage = value.storage()
        self._array = value._array[...]
        self._storage.add_window(self)

    # --- backward and hooks -----------------------------------------------------------------------

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
        *,
        retain_variables: bool | None = None,
    ) -> None:
        """Adds to the `.grad` of every leaf: gradient^T · (d self / d leaf).

        `gradient` (this tensor's shape) may be left out for one element, where it is 1.
        `retain_graph` (of old `retain_variables`) keeps the saved buffers for another pass,
        `create_graph` records the pass itself, `inputs` restricts it to those tensors. RuntimeError
        without a graph, without a needed `gradient`, or on freed buffers.

        >>> import tinygrad_course as tg
        >>> x = tg.tensor([1., 2.], requires_grad=True)
        >>> (x ** 3).backward(tg.tensor([1., 10.])); x.grad
        tensor([  3., 120.])
        """
        backward(
            self,
            gradient,
            retain_graph,
            create_graph,
            inputs=inputs,
            retain_variables=retain_variables,
        )

    def reinforce(self, reward: Any) -> None:
        """Attaches a reward to what was drawn at random: backward then makes draws with a high one
        more likely (PyTorch before 0.4).

        `reward` is a number or a tensor of this tensor's size, in the type of the probabilities.
        RuntimeError when this was not drawn by a recorded operation, or has its reward already;
        TypeError, ValueError for a reward of another type or size.

        >>> import tinygrad_course as tg
        >>> p = tg.tensor([1., 0.], requires_grad=True)
        >>> action = p.multinomial(1); action.reinforce(2.)
        >>> action.backward(); p.grad
        tensor([0., 2.])
        """
        from .stochastic import StochasticFunction

        if not isinstance(self.creator, StochasticFunction):
            raise RuntimeError(
                "reinforce() can be only called on outputs of stochastic functions (bernoulli, "
                "multinomial, normal) whose parameters require grad"
            )
        self.creator.reinforce(reward)

    def retain_grad(self) -> None:
        """Makes backward() fill `.grad` of this tensor although it is not a leaf."""
        edge = self._grad_edge()
        if edge is None:
            raise RuntimeError(
                "can't retain_grad on Tensor that has requires_grad=False: no gradient reaches it"
            )
        node, index = edge
        if not isinstance(node, AccumulateGrad):
            self._make_meta()
            node._node_hooks().retain[index] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this tensor (leaves keep theirs anyway, and say
        False)."""
        edge = self._edge
        if edge is None and self._meta is not None:
            edge = self._meta.own
        return edge is not None and edge[0].hooks is not None and edge[1] in edge[0].hooks.retain

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Calls `hook(grad)` when the gradient of this tensor is known; what it returns, if not
        None, replaces it.

        >>> import tinygrad_course as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> x.sum().backward(); x.grad
        tensor([10., 10.])
        """
        edge = self._grad_edge()
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node, index = edge
        hooks = node._node_hooks()
        if index not in hooks.tensor:
            hooks.tensor[index] = type(hooks.pre)()
        return add_hook(hooks.tensor[index], hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Calls `hook(leaf)` after a backward pass has added to this leaf's `.grad`: the place for
        an optimizer's step that needs no memory for all gradients at once.

        >>> import tinygrad_course as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> (x * 3).sum().backward()
        tensor([3., 3.])
        """
        edge = self._grad_edge()
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not isinstance(edge[0], AccumulateGrad):
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors: this one was "
                f"computed by {edge[0].name()}, and backward adds to the .grad of leaves"
            )
        return add_hook(edge[0]._node_hooks().accumulated, hook)

    # --- printing ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from ..printing import tensor_repr

        return tensor_repr(self)


_new = object.__new__
nodes.Tensor = Tensor


class _VariableType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """`Variable(data, requires_grad=False, volatile=False)`: a Tensor on the same memory as `data`.

    Since PyTorch 0.4 every Tensor is a Variable, and `isinstance` says so.

    >>> import tinygrad_course as tg
    >>> isinstance(tg.zeros(1), Variable), Variable(tg.zeros(1), volatile=True).volatile
    (True, True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:  # type: ignore[misc]
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}: wrap it in "
                "tg.tensor(...)"
            )
        if requires_grad and volatile:
            raise RuntimeError(
                "Variable can't be volatile and require_grad at the same time: leave one of them "
                "out"
            )
        variable = data.data
        variable._make_meta()
        if requires_grad:
            variable.requires_grad_()
        if volatile:
            variable.volatile = True
        return variable
