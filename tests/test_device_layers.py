"""Every layer on a pretended CUDA device, and on a real one where there is one.

What it computes, its gradients and its buffers are those of the CPU, and nothing waits for a copy.
Here backward runs on plain arrays, as in training: with the kernels that a device has for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn

from . import fake_cuda
from .modules import MODULES
from .parity.calls import Made
from .test_modules import outputs

# What has to cross, and why; for all others no element may.
CROSSING = {
    "random numbers are drawn on the host": (
        "RReLU Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout RNN GRU LSTM"
    ),
    "a place out of range is an error": (
        "Embedding EmbeddingBag MaxUnpool1d MaxUnpool2d MaxUnpool3d AdaptiveLogSoftmaxWithLoss"
    ),
    "the host works out which elements each one is made of, and sends their places": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
        "AdaptiveMaxPool3d FractionalMaxPool2d FractionalMaxPool3d Upsample UpsamplingNearest2d "
        "UpsamplingBilinear2d"
    ),
    "the average over all batches counts them": "BatchNorm1d",
    "the lengths are numbers of the host": "CTCLoss",
}
FREE = {name for names in CROSSING.values() for name in names.split()}


def run(name: str, case: Any, place: str) -> tuple[list[tg.Tensor], fake_cuda.Counts]:
    """Outputs, gradients and buffers, and what happened on the device meanwhile."""
    tg.manual_seed(5)
    made = Made(tg, case.arguments)
    layer = getattr(nn, name)(*made.args, **made.kwargs).to(place)
    given = Made(tg, case.inputs, grad=True, device=place)
    with fake_cuda.counting() as counts:
        results = outputs(layer(*given.args, **given.kwargs))
        if results:
            tg.autograd.backward(results, [tg.ones_like(y) for y in results])
    gradients = [v.grad for v in (*given.leaves, *layer.parameters()) if v.grad is not None]
    return [*results, *gradients, *layer.buffers()], counts


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", MODULES)
def test_layer(device, name):
    for case in MODULES[name].cases:
        here, _ = run(name, case, "cpu")
        there, counts = run(name, case, device)
        assert len(here) == len(there), case
        for a, b in zip(there, here, strict=True):
            assert a.device.type == "cuda" and (a.dtype, a.shape) == (b.dtype, b.shape), case
            a, b = (v.to_dense() if v.is_sparse else v for v in (a, b))
            numbers = a.detach().cpu().numpy(), b.detach().numpy()
            np.testing.assert_allclose(*numbers, rtol=1e-4, atol=1e-4, err_msg=f"{name}{case}")
        assert not counts.transfers or name in FREE, f"{name}{case}: {counts}"
