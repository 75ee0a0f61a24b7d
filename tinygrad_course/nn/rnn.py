"""Recurrent layers: RNN, LSTM and GRU, of several layers and both directions.

What one layer does in one direction is an operation of `ops.rnn`; here are the weights, the order
of layers and directions, and the shapes in which sequences come: padded, packed or single. Lesson
12.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

from ..autograd.variable import Tensor
from ..dtype import float16
from ..ops import rnn as kernels
from ..ops.creation import empty
from ..ops.join import cat, stack
from . import init
from .functional.dropout import dropout
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence


class RNNBase(Module):
    """What the three share. Layer k has `weight_ih_lk` (gates · H, inputs), `weight_hh_lk` (gates ·
    H, H), `bias_ih_lk` and `bias_hh_lk`, the other direction the same with `_reverse`; all start
    uniform over ±1/√H.

    ValueError and TypeError for sizes, a dropout or a projection that make no sense.
    """

    gates: ClassVar[int]
    kernel: ClassVar[type[kernels.Recurrent]]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _require_sizes(input_size, hidden_size, num_layers)
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
        if isinstance(dropout, bool) or not 0 <= float(dropout) <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                f"element being zeroed, not {dropout!r}"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={num_layers}",
                UserWarning,
                stacklevel=3,
            )
        if proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections, not "
                f"{proj_size}"
            )
        if proj_size >= hidden_size:
            raise ValueError(
                f"proj_size has to be smaller than hidden_size, and is {proj_size} of {hidden_size}"
            )
        if proj_size and mode != "LSTM":
            raise ValueError(
                "proj_size argument is only supported for LSTM, not RNN or GRU: it is "
                f"{proj_size} for {mode}"
            )
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        directions, rows, out = 1 + bidirectional, self.gates * hidden_size, self._output_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            inputs = out * directions if layer else input_size
            for suffix in (f"_l{layer}", f"_l{layer}_reverse")[:directions]:
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, inputs),
                    "weight_hh": (rows, out),
                }
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    weight = Parameter(empty(shape, device=device, dtype=dtype))
                    self.register_parameter(name + suffix, weight)
                self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()

    @property
    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing: there is no order of the weights in memory that would be faster."""

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + "".join(
            f", {name}={getattr(self, name)}"
            for name, usual in (
                ("proj_size", 0),
                ("num_layers", 1),
                ("bias", True),
                ("batch_first", False),
                ("dropout", 0),
                ("bidirectional", False),
            )
            if getattr(self, name) != usual
        )

    # --- computing --------------------------------------------------------------------------------

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer at all steps, and the last states of all layers."""
        if isinstance(input, PackedSequence):
            sizes = input.batch_sizes.tolist()
            self._require_input(input.data)
            states = self._states(hx, input.data, sizes[0], input.sorted_indices)
            y, finals = self._layers(input.data, states, tuple(sizes))
            if input.unsorted_indices is not None:
                finals = tuple(s.index_select(1, input.unsorted_indices) for s in finals)
            return PackedSequence(y, *input[1:]), self._result(finals)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        single = input.ndim == 2
        self._require_input(input)
        self._require_dims(hx, input.ndim)
        time = 1 if self.batch_first and not single else 0
        x = input.unsqueeze(1) if single else input.transpose(0, time)
        if hx is not None and single:
            hx = hx.unsqueeze(1) if isinstance(hx, Tensor) else tuple(s.unsqueeze(1) for s in hx)
        t, n = x.shape[:2]
        if not t:
            raise RuntimeError(
                f"Expected sequence length to be larger than 0 in RNN: the input is {list(x.shape)}"
            )
        states = self._states(hx, x, n, None)
        y, finals = self._layers(x.reshape(t * n, x.shape[2]), states, (n,) * t)
        y = y.reshape(t, n, y.shape[1])
        if single:
            return y.squeeze(1), self._result(tuple(s.squeeze(1) for s in finals))
        return y.transpose(0, time), self._result(finals)

    def _layers(
        self, x: Any, states: tuple[Any, ...], sizes: tuple[int, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        directions = 1 + self.bidirectional
        finals = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = dropout(x, self.dropout, self.training)
            outputs = []
            for k in range(layer * directions, (layer + 1) * directions):
                y, *last = self._run(
                    (x, *(s[k] for s in states), *self._weights(k)), sizes, k % directions == 1
                )
                outputs.append(y)
                finals.append(last)
            x = outputs[0] if len(outputs) == 1 else cat(outputs, 1)
        return x, tuple(stack(of_all) for of_all in zip(*finals, strict=True))

    def _weights(self, k: int) -> list[Any]:
        names = self._all_weights[k]
        weights = [getattr(self, name) for name in names]
        if not self.bias:
            weights[2:2] = [None, None]
        return weights

    def _run(self, inputs: tuple[Any, ...], sizes: tuple[int, ...], reverse: bool) -> Any:
        return run(self.kernel, inputs, sizes=sizes, reverse=reverse)

    def _result(self, finals: tuple[Any, ...]) -> Any:
        return finals[0]

    # --- what comes in ----------------------------------------------------------------------------

    def _require_input(self, x: Any) -> None:
        weight = getattr(self, self._all_weights[0][0])
        if x.dtype is not weight.dtype:
            raise ValueError(
                f"RNN input dtype ({x.dtype!r}) does not match weight dtype ({weight.dtype!r}). "
                f"Convert input: input.to({weight.dtype!r}), or convert model: "
                f"model.to({x.dtype!r})"
            )
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{x.shape[-1]}"
            )

    def _require_dims(self, hx: Any, dims: int) -> None:
        if hx is None:
            return
        found = hx.ndim
        if found != dims:
            batched = "batched 3-D" if dims == 3 else "unbatched 2-D"
            raise RuntimeError(
                f"For {batched} input, hx should also be {dims}-D but got {found}-D tensor"
            )

    def _sizes(self) -> tuple[int, ...]:
        """The size of each state."""
        return (self._output_size,)

    def _states(self, hx: Any, x: Any, n: int, order: Any) -> tuple[Any, ...]:
        """The initial states (layers · directions, N, size), zeros unless given."""
        rows = self.num_layers * (1 + self.bidirectional)
        if hx is None:
            return tuple(x.new_zeros((rows, n, size)) for size in self._sizes())
        states = (hx,) if isinstance(hx, Tensor) else tuple(hx)
        for i, (state, size) in enumerate(zip(states, self._sizes(), strict=True)):
            if tuple(state.shape) != (rows, n, size):
                which = f"[{i}]" if len(states) > 1 else ""
                raise RuntimeError(
                    f"Expected hidden{which} size {(rows, n, size)}, got {list(state.shape)}"
                )
        return states if order is None else tuple(s.index_select(1, order) for s in states)


def _require_sizes(input_size: Any, hidden_size: Any, num_layers: Any) -> None:
    if not isinstance(hidden_size, int):
        raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    for name, size in (
        ("input_size", input_size),
        ("hidden_size", hidden_size),
        ("num_layers", num_layers),
    ):
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero, not {size}")


def run(kernel: type[kernels.Recurrent], inputs: tuple[Any, ...], **settings: Any) -> Any:
    """The kernel's results; float16 is computed in float32."""
    if inputs[0].dtype is not float16:
        return kernel.fn(*inputs, **settings)
    results = kernel.fn(*(v if v is None else v.float() for v in inputs), **settings)
    return tuple(v.half() for v in results)


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu, at each step and layer.

    (T, N, input_size), or (N, T, …) with `batch_first`, (T, …) for one sequence, or packed, and
    initial states (layers · directions, N, hidden_size) give the outputs (T, N, directions ·
    hidden_size) and the last states. `dropout` acts between layers, in training.

    >>> import tinygrad_course as tg
    >>> y, h = tg.nn.RNN(3, 4, num_layers=2)(tg.zeros(5, 1, 3))
    >>> y.shape, h.shape
    (torch.Size([5, 1, 4]), torch.Size([2, 1, 4]))
    """

    gates = 1
    kernel = kernels.RNN

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity

    def _run(self, inputs: tuple[Any, ...], sizes: tuple[int, ...], reverse: bool) -> Any:
        relu = self.nonlinearity == "relu"
        return run(self.kernel, inputs, sizes=sizes, reverse=reverse, relu=relu)


class GRU(RNNBase):
    """r, z = σ(…), n = tanh(W_in x + b_in + r (W_hn h + b_hn)), h' = (1 - z) n + z h; shapes as in
    `RNN`.

    The weights of r, z and n lie one below the other.

    >>> import tinygrad_course as tg
    >>> y, h = tg.nn.GRU(3, 4, bidirectional=True)(tg.zeros(5, 1, 3))
    >>> y.shape, h.shape
    (torch.Size([5, 1, 8]), torch.Size([2, 1, 4]))
    """

    gates = 3
    kernel = kernels.GRU

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", input_size, hidden_size, *args, **kwargs)


class LSTM(RNNBase):
    """i, f, o = σ(…), g = tanh(…), c' = f c + i g, h' = o tanh(c'); shapes as in `RNN`, but the
    states are pairs (h, c).

    The weights of i, f, g and o lie one below the other. `proj_size` P makes h' = W_hr (o tanh(c'))
    of size P.

    >>> import tinygrad_course as tg
    >>> y, (h, c) = tg.nn.LSTM(3, 4, proj_size=2)(tg.zeros(5, 1, 3))
    >>> y.shape, h.shape, c.shape
    (torch.Size([5, 1, 2]), torch.Size([1, 1, 2]), torch.Size([1, 1, 4]))
    """

    gates = 4
    kernel = kernels.LSTM

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", input_size, hidden_size, *args, **kwargs)

    def _weights(self, k: int) -> list[Any]:
        weights = super()._weights(k)
        return weights if self.proj_size else [*weights, None]

    def _result(self, finals: tuple[Any, ...]) -> Any:
        return finals

    def _sizes(self) -> tuple[int, ...]:
        return self._output_size, self.hidden_size

    def _require_dims(self, hx: Any, dims: int) -> None:
        if hx is None:
            return
        if isinstance(hx, Tensor):
            raise IndexError("LSTM: hx is a pair of states (h, c), not one tensor")
        found = [s.ndim for s in hx]
        if found != [dims, dims]:
            batched = "batched 3-D" if dims == 3 else "unbatched 2-D"
            raise RuntimeError(
                f"For {batched} input, hx and cx should also be {dims}-D but got "
                f"({found[0]}-D, {found[1]}-D) tensors"
            )
