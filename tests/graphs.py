"""Programs whose graphs the widget's tests draw, and how they read a view's panel."""

from __future__ import annotations

from typing import Any

import tinygrad_course as tg
from course.widget import GraphView
from tinygrad_course import nn, viz


def leaf(*values: float) -> tg.Tensor:
    return tg.tensor(list(values), requires_grad=True)


def program() -> tuple[tg.Tensor, dict[str, tg.Tensor]]:
    """x is used twice and h three times, so gradients meet at both."""
    x, w = leaf(1.0, 2.0), leaf(3.0, -1.0)
    h = x * w
    y = (h * h + h * x).sum()
    return y, {"x": x, "w": w, "h": h, "y": y}


def network() -> tuple[tg.Tensor, Any]:
    tg.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    with viz.record():
        loss = net(tg.ones(4, 2)).sum()
    return loss, net.named_parameters()


def rows(view: GraphView) -> dict[str, str]:
    return dict(view.panel)
