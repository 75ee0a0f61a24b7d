"""Special functions: the error function and its inverse, the logarithm of the gamma function and
its derivatives.

Each is a classic published approximation, named where it stands, or a series pushed to where it
converges by the function's own recurrence; all of it vectorised, without SciPy. Lesson 03.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .broadcasting import Unary
from .exponential import exp
from .pointwise import in_single
from .registry import Op

TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)


def _horner(x, coefficients):
    """c[0]·x^n + c[1]·x^(n-1) + … + c[n]."""
    total = x * coefficients[0]
    for c in coefficients[1:-1]:
        total += c
        total *= x
    total += coefficients[-1]
    return total


def _in_double(xp, compute, x):
    """compute(xp, x) in float64, rounded to the type of x at the end."""
    return compute(xp, xp.multiply(x, 1, dtype="float64")).astype(x.dtype)


# --- the error function ---------------------------------------------------------------------------

# Rational approximations of W. J. Cody, Mathematics of Computation 23 (1969), p. 631, as printed in
# his program CALERF: erf(x) / x for |x| <= 0.46875, erfc(x)·e^(x²) up to 4, and the remainder of
# its asymptotic series beyond. Errors are below one unit of float64's last place.
_NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
     1.23033935480374942e3),
)  # fmt: skip
_FAR = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2,
     2.33520497626869185e-3),
)  # fmt: skip
# erf(x) / x in powers of x² up to x = 3.95, where float32 has reached 1: our own least-squares fit,
# with relative errors below 3 units of float32's last place. One region, and so ten times faster
# than the three above.
_SINGLE = (
    (2.0259841e-6, 2.8467680e-4, 3.8076960e-3, 5.2874005e-2, 1.9153953e-1, 1.1283791),
    (3.7832020e-5, 1.1706101e-3, 1.5054157e-2, 1.1455515e-1, 5.0308017e-1, 1),
)


def _ratio(x, coefficients):
    above, below = coefficients
    return _horner(x, above) / _horner(x, below)


def _erf_near(x):
    return x * _ratio(x * x, _NEAR)


def _erfc_tail(xp, x):
    """erfc(x) for x >= 0.46875."""
    middle = _ratio(xp.minimum(x, 4), _MIDDLE)
    inverse = 1 / xp.maximum(x, 4)
    square = inverse * inverse
    far = inverse * (TWO_BY_ROOT_PI / 2 - square * _ratio(square, _FAR))
    # The rounding error of x² would be magnified by exp: split x so that its square is exact.
    head = xp.trunc(x * 16) / 16
    size = xp.exp(-head * head) * xp.exp(-(x - head) * (x + head))
    return xp.where(x < 27, size, 0) * xp.where(x <= 4, middle, far)


def _erf(xp, x):
    """erf(x), elementwise on an array of float32 or float64."""
    if x.dtype == "float32":
        x = xp.clip(x, -3.95, 3.95)
        return xp.clip(x * _ratio(x * x, _SINGLE), -1, 1)
    size = xp.abs(x)
    tail = xp.copysign(1 - _erfc_tail(xp, xp.maximum(size, 0.46875)), x)
    return xp.where(size <= 0.46875, _erf_near(xp.minimum(xp.maximum(x, -1), 1)), tail)


def _erfc(xp, x):
    """erfc(x), elementwise on an array of float32 or float64."""
    size = xp.abs(x)
    tail = _erfc_tail(xp, xp.maximum(size, 0.46875))
    tail = xp.where(x < 0, 2 - tail, tail)
    return xp.where(size <= 0.46875, 1 - _erf_near(xp.minimum(xp.maximum(x, -1), 1)), tail)


def _erfinv(xp, y):
    """The inverse of erf on a float64 array, from S. Winitzki's closed form (2008), right to 2
    thousandths, by two of Halley's steps, each of which triples the digits."""
    size = xp.abs(y)
    log = xp.log1p(-size * size)
    half = 2 / (math.pi * 0.147) + log / 2
    x = xp.sqrt(xp.sqrt(half * half - log / 0.147) - half)
    for _ in range(2):
        # Near 1 the difference of erf and y has no digits left, that of their complements has all.
        excess = xp.where(size < 0.5, _erf(xp, x) - size, (1 - size) - _erfc(xp, x))
        step = excess / (TWO_BY_ROOT_PI * xp.exp(-x * x))
        x = x - step / (1 + x * step)
    return xp.copysign(xp.where(size == 1, math.inf, x), y)


class Erf(Unary, method=True, inplace=True, floats=True):
    """2/√π · the integral of e^(-t²) from 0 to x; dx = g·2/√π·e^(-x²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return in_single(xp, _erf, x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * (exp(-x * x) * TWO_BY_ROOT_PI)


class Erfc(Unary, method=True, inplace=True, floats=True):
    """1 - erf(x), exact also where that is tiny; dx = -g·2/√π·e^(-x²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return in_single(xp, _erfc, x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * (exp(-x * x) * -TWO_BY_ROOT_PI)


class Erfinv(Unary, method=True, inplace=True, floats=True):
    """The y with erf(y) = x, infinite at ±1; dx = g·√π/2·e^(y²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = _in_double(xp, _erfinv, x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return g * (exp(y * y) / TWO_BY_ROOT_PI)


# --- the gamma function ---------------------------------------------------------------------------

# B2, B4, … B14 of Bernoulli's numbers, the coefficients of Euler's and Maclaurin's summation.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_EULER_GAMMA = 0.5772156649015329


def _zeta(s, a):
    """Σ 1 / (a + k)^s over k = 0, 1, 2, …, for a >= 1/2 and s = 2, 3, …: ten terms one by one, the
    others by Euler's and Maclaurin's formula."""
    total = sum((a + k) ** -s for k in range(10))
    b = a + 10
    power = b**-s
    total = total + b ** (1 - s) / (s - 1) + power / 2
    rising = 1.0  # s (s + 1) … (s + 2j - 2) / (2j)!
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        rising *= s / 2 if j == 1 else (s + 2 * j - 3) * (s + 2 * j - 2) / ((2 * j - 1) * 2 * j)
        power = power / b
        total = total + bernoulli * rising * power
        power = power / b
    return total


# ln Γ(2 + z) = (1 - γ)·z + Σ (ζ(k) - 1)·(-z)^k / k: Abramowitz and Stegun (1964), 6.1.33.
_LGAMMA_NEAR_2 = [(-1) ** k * _zeta(k, 2.0) / k for k in range(28, 1, -1)] + [1 - _EULER_GAMMA, 0]


def _sine_and_cosine(xp, x):
    """sin(πx) and cos(πx), up to one sign for both: exact at whole and half numbers."""
    angle = xp.where(xp.abs(x) < 0.5, x, x - xp.rint(x)) * math.pi
    return xp.sin(angle), xp.cos(angle)


def _lgamma_right(xp, x):
    """ln Γ(x) for x >= 1/2: by the series about 2, to which the recurrence Γ(x + 1) = x·Γ(x) takes
    us, or by J. Stirling's from 10 on."""
    low, product = xp.minimum(x, 10), 1
    for _ in range(8):
        above = low > 2.5
        low = low - above
        product = product * xp.where(above, low, 1)
    below = x < 1.5
    near = _horner(xp.where(below, low - 1, low - 2), _LGAMMA_NEAR_2)
    near = near + xp.where(below, -xp.log(low), xp.log(product))
    inverse = 1 / x
    far = (x - 0.5) * (xp.log(x) - 1) + (math.log(2 * math.pi) - 1) / 2
    square, power = inverse * inverse, inverse
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        far = far + power * (bernoulli / (2 * j * (2 * j - 1)))
        power = power * square
    return xp.where(x < 10, near, far)


def _lgamma(xp, x):
    """ln |Γ(x)|, to the left of 1/2 by Euler's reflection Γ(x)·Γ(1 - x) = π / sin(πx)."""
    left = x < 0.5
    right = _lgamma_right(xp, xp.where(left, 1 - x, x))
    sine, _ = _sine_and_cosine(xp, x)
    mirrored = math.log(math.pi) - xp.log(xp.abs(sine)) - right
    return xp.where(xp.isinf(x), math.inf, xp.where(left, mirrored, right))


def _digamma_right(xp, x):
    """d ln Γ / dx for x >= 1/2."""
    b = x + 10
    total = xp.log(b) - 0.5 / b - sum(1 / (x + k) for k in range(10))
    square = 1 / (b * b)
    power = square
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        total = total - power * (bernoulli / (2 * j))
        power = power * square
    return total


def _polygamma(n, xp, x):
    """The derivative of order n + 1 of ln Γ(x): to the right a zeta sum, to the left its mirror
    image, from which the n-th derivative of π·cot(πx) is subtracted."""
    left = x < 0.5
    y = xp.where(left, 1 - x, x)
    right = (
        _digamma_right(xp, y) if n == 0 else (-1) ** (n + 1) * math.factorial(n) * _zeta(n + 1, y)
    )
    cotangent = np.polynomial.Polynomial([0, 1])  # in c = cot(πx), whose derivative is -π(1 + c²)
    for _ in range(n):
        cotangent = np.polynomial.Polynomial([-1, 0, -1]) * cotangent.deriv()
    sine, cosine = _sine_and_cosine(xp, x)
    c = cosine / sine
    wave = _horner(c, cotangent.coef[::-1].tolist())
    if n == 0:
        wave = xp.where(
            (x < 0) & (sine == 0), math.nan, wave
        )  # a jump from one infinity to another
    return xp.where(left, (-1) ** n * right - math.pi ** (n + 1) * wave, right)


class Lgamma(Unary, method=True, inplace=True, floats=True):
    """ln |Γ(x)|, infinite at 0, -1, -2, …; dx = g·digamma(x)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return _in_double(xp, _lgamma, x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * digamma(x)


class Digamma(Unary, method=True, inplace=True, floats=True):
    """The derivative of ln Γ(x); dx = g·(its second derivative)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return _in_double(xp, partial(_polygamma, 0), x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * polygamma(x, 1)


class Polygamma(Op, fn=""):
    """The derivative of order n + 1 of ln Γ(x); dx = g·(that of order n + 2)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, n):
        ctx.save(x, n)
        return _in_double(xp, partial(_polygamma, n), x)

    def backward(ctx, g):
        x, n = ctx.saved
        return g * polygamma(x, n + 1)


digamma, polygamma = Digamma.fn, Polygamma.fn
