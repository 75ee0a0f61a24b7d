"""Comparisons and logic: results are bool tensors, nothing here has a gradient. Lesson 03."""

from __future__ import annotations

from ..autograd.variable import Tensor
from ..dtype import bool_
from ..shape import broadcast_shapes
from .broadcasting import Binary, Unary, require_tensor_first
from .registry import Op, function, method


class _Comparison(Binary, differentiable=False):
    """x compared with y. In place it overwrites x, whose old contents then get no gradient."""

    __slots__ = ()

    def backward(ctx, g):
        return None, None

    @classmethod
    def apply(cls, x, y):
        require_tensor_first(cls, x)
        return super().apply(x, y)


class Eq(_Comparison, method=True, inplace=True, operator="eq"):
    """x == y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.equal(x, y)


class Ne(_Comparison, method=True, inplace=True, operator="ne", aliases=("not_equal",)):
    """x != y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.not_equal(x, y)


class Lt(_Comparison, method=True, inplace=True, operator="lt", aliases=("less",)):
    """x < y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.less(x, y)


class Le(_Comparison, method=True, inplace=True, operator="le", aliases=("less_equal",)):
    """x <= y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.less_equal(x, y)


class Gt(_Comparison, method=True, inplace=True, operator="gt", aliases=("greater",)):
    """x > y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.greater(x, y)


class Ge(_Comparison, method=True, inplace=True, operator="ge", aliases=("greater_equal",)):
    """x >= y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.greater_equal(x, y)


class BitwiseAnd(Binary, fn="bitwise_and", method=True, inplace=True, operator="and"):
    """x & y, bit by bit; logical for bool."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        _refuse_floats("&", x, y)
        return xp.bitwise_and(x, y)


class BitwiseOr(Binary, fn="bitwise_or", method=True, inplace=True, operator="or"):
    """x | y, bit by bit; logical for bool."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        _refuse_floats("|", x, y)
        return xp.bitwise_or(x, y)


class BitwiseXor(Binary, fn="bitwise_xor", method=True, inplace=True, operator="xor"):
    """x ^ y, bit by bit; logical for bool."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        _refuse_floats("^", x, y)
        return xp.bitwise_xor(x, y)


class BitwiseNot(Unary, fn="bitwise_not", method=True, inplace=True):
    """~x, bit by bit; logical for bool."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        _refuse_floats("~", x)
        return xp.invert(x)


class LeftShift(
    Binary,
    fn="bitwise_left_shift",
    method=True,
    inplace=True,
    operator="lshift",
):
    """x·2^y: the bits of x moved y places up; what leaves at the top is lost."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        _refuse_floats("<<", x, y)
        return xp.left_shift(x, y)


class RightShift(
    Binary,
    fn="bitwise_right_shift",
    method=True,
    inplace=True,
    operator="rshift",
):
    """x / 2^y rounded down: the bits of x moved y places down."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        _refuse_floats(">>", x, y)
        return xp.right_shift(x, y)


class LogicalNot(Unary, fn="logical_not", method=True, inplace=True, differentiable=False):
    """x == 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.logical_not(x)


class LogicalAnd(
    Binary, fn="logical_and", method=True, inplace=True, differentiable=False, numbers=False
):
    """x != 0 and y != 0."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.logical_and(x, y)


class LogicalOr(
    Binary, fn="logical_or", method=True, inplace=True, differentiable=False, numbers=False
):
    """x != 0 or y != 0."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.logical_or(x, y)


class LogicalXor(
    Binary, fn="logical_xor", method=True, inplace=True, differentiable=False, numbers=False
):
    """x != 0 or y != 0, but not both."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.logical_xor(x, y)


class IsNan(Unary, fn="isnan", method=True, differentiable=False):
    """Whether each element is not a number."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.isnan(x)


class IsInf(Unary, fn="isinf", method=True, differentiable=False):
    """Whether each element is infinite."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.isinf(x)


class IsFinite(Unary, fn="isfinite", method=True, differentiable=False):
    """Whether each element is neither infinite nor nan."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.isfinite(x)


class IsClose(Op, fn="isclose", method=True, differentiable=False):
    """|x - y| <= atol + rtol·|y|, elementwise; with `equal_nan`, nan equals nan."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, rtol=1e-05, atol=1e-08, equal_nan=False):
        _require_alike(x, y)
        return xp.isclose(x, y, rtol, atol, equal_nan)


class AllClose(Op, fn="", differentiable=False):
    """Whether all of isclose holds, as a bool tensor of no dims."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, rtol=1e-05, atol=1e-08, equal_nan=False):
        _require_alike(x, y)
        return xp.isclose(x, y, rtol, atol, equal_nan).all()


class IsIn(Op, fn="", differentiable=False):
    """Whether each element of x is one of those of y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, invert):
        return xp.isin(x, y, invert=invert)


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each of `elements` is among `test_elements` (with `invert`, is not); one of the two
    may be a number. What `assume_unique` promises is not needed.

    >>> import tinygrad_course as tg
    >>> isin(tg.tensor([1, 2, 3]), tg.tensor([2, 5]))
    tensor([False,  True, False])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin(): elements or test_elements must be a Tensor")
    x, y = Binary.promote(elements, test_elements)
    if any(isinstance(v, bool) or getattr(v, "dtype", None) is bool_ for v in (x, y)):
        raise RuntimeError("Unsupported input type encountered for isin(): Bool; use .int()")
    return IsIn.fn(x, y, invert)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |input - other| <= atol + rtol·|other| everywhere, as a bool.

    >>> import tinygrad_course as tg
    >>> allclose(tg.tensor([1.]), tg.tensor([1. + 1e-9]))
    True
    """
    return bool(AllClose.fn(input, other, rtol, atol, equal_nan))


def equal(input, other):
    """Whether two tensors have the same shape and the same elements, as a bool.

    >>> import tinygrad_course as tg
    >>> equal(tg.tensor([1, 2]), tg.tensor([1, 2]))
    True
    """
    return input.shape == other.shape and bool(Eq.fn(input, other).all())


def _require_alike(x, y):
    broadcast_shapes(x.shape, y.shape)
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"the operands must have one dtype, found {x.dtype} and {y.dtype}: convert one with "
            ".to(...)"
        )


def _refuse_floats(symbol, *operands):
    for x in operands:
        if isinstance(x, float) or getattr(getattr(x, "dtype", None), "kind", "b") == "f":
            raise NotImplementedError(
                f"{symbol} works on bool and integer tensors, not on floats: compare first, e.g. x "
                "> 0"
            )


def _inverted(self):
    """~x."""
    if self.is_floating_point():
        raise TypeError(
            "~ works on bool and integer tensors, not on floats: compare first, e.g. x > 0"
        )
    return BitwiseNot.fn(self)


function(allclose, equal, isin)
method(__invert__=_inverted)
method(allclose, equal)
