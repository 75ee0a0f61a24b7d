"""What PyTorch's Tensor has and this one leaves out: asking for it says so.

A `__getattr__` could say it too, but a class that has one gives up the interpreter's shortcuts for
all its attributes, which every operation reads: 15 ns instead of 2. So each name is bound to
something that only complains. Lesson 01.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .variable import Tensor

NAMES = """
    angle apply_ as_strided_scatter as_subclass bfloat16 ccol_indices cdouble cfloat chalf
    cholesky cholesky_inverse cholesky_solve coalesce col_indices conj conj_physical
    conj_physical_ const_data_ptr corrcoef cov crow_indices dense_dim dequantize det dim_order
    eig fill_diagonal_ frexp gcd gcd_ geqrf grad_dtype hash_tensor histogram i0 i0_
    igamma igamma_ igammac igammac_ imag index index_reduce index_reduce_ indices int_repr
    inverse ipu is_coalesced is_conj is_distributed is_inference is_ipu is_maia is_meta
    is_mkldnn is_mps is_mtia is_neg is_nested is_pinned is_quantized is_same_size is_shared
    is_sparse_csr is_vulkan is_xla is_xpu isneginf isposinf isreal istft lcm lcm_
    ldexp ldexp_ logdet lstsq lu lu_solve map2_ map_ matrix_exp matrix_power module_load mtia
    mvlgamma mvlgamma_ name nanquantile narrow_copy nextafter nextafter_ nonzero_static orgqr
    ormqr pin_memory pinverse polygamma polygamma_ q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qr qscheme real record_stream resize
    resize_as resize_as_sparse_ resolve_conj resolve_neg row_indices share_memory_ slice_inverse
    slogdet smm solve sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm
    stft storage_type sum_to_size svd symeig to_dense to_mkldnn to_padded_tensor to_sparse
    to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr triangular_solve
    unsafe_chunk unsafe_split unsafe_split_with_sizes values xpu
""".split()


class LeftOut:
    """An attribute that is not there: reading it raises an AttributeError with the reason."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self.name!r}: PyTorch's has, and this "
            "engine leaves it out; dir(x) lists what is there"
        )


def _dir(self: Tensor) -> list[str]:
    """The names of the attributes that are there."""
    left_out = set(NAMES)
    return [name for name in object.__dir__(self) if name not in left_out or hasattr(self, name)]


def mark() -> None:
    """Binds the names that no operation has taken."""
    for name in NAMES:
        if not hasattr(Tensor, name):
            setattr(Tensor, name, LeftOut(name))
    Tensor.__dir__ = _dir  # type: ignore[assignment, method-assign]
