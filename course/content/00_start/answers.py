"""Right and wrong answers of lesson 00. The wrong ones must be caught and named."""


# %% right mean-of-squares: sum divided by the number of entries
def mean_of_squares(x):
    total = x.pow(2).sum()
    return total / x.numel()


# %% right mean-of-squares: as a product of a vector with itself
def mean_of_squares(x):
    flat = x.reshape(-1)
    return flat @ flat / len(flat)


# %% wrong mean-of-squares: the square of the mean
# says: This is the square of the mean. Square first, then take the mean: for 3 and 5 that is (9 +
# 25) / 2, not 4 * 4.
def mean_of_squares(x):
    return x.mean() * x.mean()


# %% wrong mean-of-squares: sum instead of mean
# says: This is the sum of the squares. The mean is the sum divided by the number of entries.
def mean_of_squares(x):
    return (x * x).sum()


# %% wrong mean-of-squares: root of the mean square
# says: You took a square root at the end. That is another known quantity, the root mean square;
# here the mean itself is wanted.
def mean_of_squares(x):
    return (x * x).mean().sqrt()


# %% wrong mean-of-squares: twice instead of squared
# says: x * 2 doubles every entry. The square is x * x, or x ** 2.
def mean_of_squares(x):
    return (x * 2).mean()


# %% wrong mean-of-squares: printed, not returned
# says: The function gives back None. Did you print the result? A check sees what `return` hands
# over.
def mean_of_squares(x):
    print((x * x).mean())


# %% wrong mean-of-squares: divided by the rows
# says: len(x) is the number of rows. That is right for a vector; a matrix of 2 rows and 3 columns
# has 6 entries.
def mean_of_squares(x):
    return (x * x).sum() / len(x)


# %% wrong mean-of-squares: a Python number
# says: The number is right, but it is a plain number and no tensor. `item()` takes it out of the
# tensor, and so does the way through NumPy. Give back the tensor that `mean()` returns.
def mean_of_squares(x):
    return (x * x).mean().item()
