"""Recurrent cells: one step of RNN, LSTM and GRU, for loops of one's own. Lesson 12."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..ops import rnn as kernels
from ..ops.creation import empty
from . import init
from .module import Module
from .parameter import Parameter
from .rnn import run


class RNNCellBase(Module):
    """What the three share: `weight_ih` (gates · H, I), `weight_hh` (gates · H, H), `bias_ih` and
    `bias_hh`, uniform over ±1/√H."""

    gates: ClassVar[int]
    kernel: ClassVar[type[kernels.Recurrent]]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = self.gates * hidden_size
        options = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(empty((rows, input_size), **options))
        self.weight_hh = Parameter(empty((rows, hidden_size), **options))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        bias = "" if self.bias else f", bias={self.bias}"
        return f"{self.input_size}, {self.hidden_size}{bias}"

    def _step(self, input: Any, states: tuple[Any, ...] | None, **settings: Any) -> tuple[Any, ...]:
        """The new states: those of a layer after one step."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead: its shape is "
                f"{list(input.shape)}"
            )
        for state in states or ():
            if state.ndim not in (1, 2):
                raise ValueError(
                    f"{name}: Expected hidden to be 1D or 2D, got {state.ndim}D instead: its shape "
                    f"is {list(state.shape)}"
                )
        single = input.ndim == 1
        x = input.unsqueeze(0) if single else input
        if states is None:
            zeros = x.new_zeros((len(x), self.hidden_size))
            states = (zeros,) * self.kernel.states
        elif single:
            states = tuple(s.unsqueeze(0) for s in states)
        if x.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {x.shape[1]} expected {self.input_size}"
            )
        for i, state in enumerate(states):
            if len(state) != len(x):
                raise RuntimeError(
                    f"Input batch size {len(x)} doesn't match hidden{i} batch size {len(state)}"
                )
            if state.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {state.shape[1]}, expected "
                    f"{self.hidden_size}"
                )
        weights: list[Any] = [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]
        if self.kernel is kernels.LSTM:
            weights.append(None)  # no projection
        inputs = (x, *states, *weights)
        _, *new = run(self.kernel, inputs, sizes=(len(x),), reverse=False, **settings)
        return tuple(s.squeeze(0) for s in new) if single else tuple(new)


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu: (N, I) or (I), and h or zeros.

    >>> import tinygrad_course as tg
    >>> tg.nn.RNNCell(3, 4)(tg.zeros(2, 3)).shape
    torch.Size([2, 4])
    """

    gates = 1
    kernel = kernels.RNN

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(
                f"Unknown nonlinearity: {self.nonlinearity}. Select from 'tanh' or 'relu'."
            )
        relu = self.nonlinearity == "relu"
        return self._step(input, None if hx is None else (hx,), relu=relu)[0]

    def extra_repr(self) -> str:
        shown = super().extra_repr()
        usual = self.nonlinearity == "tanh"
        return shown if usual else f"{shown}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """(h', c') of one step of `LSTM`: (N, I) or (I), and (h, c) or zeros.

    >>> import tinygrad_course as tg
    >>> [state.shape for state in tg.nn.LSTMCell(3, 4)(tg.zeros(2, 3))]
    [torch.Size([2, 4]), torch.Size([2, 4])]
    """

    gates = 4
    kernel = kernels.LSTM

    def forward(self, input: Any, hx: Any = None) -> Any:
        if hx is not None and not isinstance(hx, tuple | list):
            raise TypeError(
                "lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors (h, c), not "
                f"{type(hx).__name__}"
            )
        return self._step(input, None if hx is None else tuple(hx))


class GRUCell(RNNCellBase):
    """h' of one step of `GRU`: (N, I) or (I), and h or zeros.

    >>> import tinygrad_course as tg
    >>> tg.nn.GRUCell(3, 4)(tg.zeros(3)).shape
    torch.Size([4])
    """

    gates = 3
    kernel = kernels.GRU

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step(input, None if hx is None else (hx,))[0]
