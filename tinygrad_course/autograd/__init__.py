"""Autograd: recording operations as a graph of nodes, and running it backward. See README.md in
this folder."""

from . import functional, profiler
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .engine import backward, grad
from .follow import FollowDevices
from .function import Function, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .stochastic import StochasticFunction
from .variable import Variable
from .watch import OpHook

__all__ = [
    "Function",
    "GradcheckError",
    "OpHook",
    "StochasticFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "no_grad",
    "once_differentiable",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
]
