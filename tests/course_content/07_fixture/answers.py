"""Right and wrong answers to the exercises of the tests' lesson."""

# %% setup
import numpy as np


# %% right double: by addition
def double(x):
    return x + x


# %% wrong double: in place
# says: The result is right, but x itself was changed: `*=` writes into
# the caller's array.
def double(x):
    x *= 2
    return x


# %% wrong double: squared
# says: x ** 2 is x times x; twice x is x plus x.
def double(x):
    return x**2


# %% wrong double: the first row only
# says: Only the first row was doubled.
def double(x):
    y = x + 0
    if np.ndim(y):
        y[0] = 2 * y[0]
        return y
    return 2 * y


# %% wrong double: a float64
# says: The result has another dtype than x.
def double(x):
    return np.multiply(x, 2.0, dtype=np.float64)


# %% right quadruple: by hand
def quadruple(x):
    y = double(x)
    return double(y)


# %% wrong quadruple: once
# says: double was called once.
def quadruple(x):
    return double(x)


# %% wrong quadruple: three times
# says: double was called three times.
def quadruple(x):
    return double(double(double(x)))


# %% wrong quadruple: nothing returned
# says: The function returns nothing: there is no return line.
def quadruple(x):
    double(double(x))


# %% wrong quadruple: text
# says: The number was turned into text.
def quadruple(x):
    return str(double(double(x)))


# %% right predict: from NumPy
prediction = np.zeros((2, 3)).T.shape


# %% wrong predict: not swapped
# says: T swaps the axes.
prediction = (2, 3)


# %% wrong predict: the size
# says: That is the number of entries along one axis, not the shape.
prediction = (6,)


# %% wrong predict: the first twice
# says: Both axes cannot be the same here.
prediction = (3, 3)


# %% wrong predict: a number
# says: A shape is a tuple.
prediction = 6
