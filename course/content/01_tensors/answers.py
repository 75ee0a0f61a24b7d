"""Right and wrong answers of lesson 01. The wrong ones must be caught and named."""

import numpy as np

import tinygrad_course as tg

# %% right predict-constructors: tried out
made = {
    text: (tuple(x.shape), str(x.dtype).removeprefix("torch."))
    for text, x in {
        "Tensor(3, 1)": tg.Tensor(3, 1),
        "Tensor([3, 1])": tg.Tensor([3, 1]),
        "tensor([3, 1])": tg.tensor([3, 1]),
        "tensor([[3, 1.0]])": tg.tensor([[3, 1.0]]),
        "tensor(True)": tg.tensor(True),
        "LongTensor(2)": tg.LongTensor(2),
    }.items()
}

# %% right predict-constructors: shapes as lists
made = {
    "Tensor(3, 1)": ([3, 1], "float32"),
    "Tensor([3, 1])": ([2], "float32"),
    "tensor([3, 1])": ([2], "int64"),
    "tensor([[3, 1.0]])": ([1, 2], "float32"),
    "tensor(True)": ([], "bool"),
    "LongTensor(2)": ([2], "int64"),
}

# %% right predict-constructors: dtypes as such, and sizes without a comma
made = {
    "Tensor(3, 1)": ((3, 1), tg.float),
    "Tensor([3, 1])": (2, "torch.float32"),
    "tensor([3, 1])": (2, "long"),
    "tensor([[3, 1.0]])": (tg.Size([1, 2]), tg.float32),
    "tensor(True)": ((), tg.bool),
    "LongTensor(2)": (2, "tg.int64"),
}

# %% wrong predict-constructors: sizes taken for data
# says: `Tensor(3, 1)` and `LongTensor(2)` got whole numbers and no list. The old constructors take
# those for sizes: the first is a matrix of 3 rows and 1 column.
made = {
    "Tensor(3, 1)": ((2,), "float32"),
    "Tensor([3, 1])": ((2,), "float32"),
    "tensor([3, 1])": ((2,), "int64"),
    "tensor([[3, 1.0]])": ((1, 2), "float32"),
    "tensor(True)": ((), "bool"),
    "LongTensor(2)": ((1,), "int64"),
}

# %% wrong predict-constructors: a list taken for sizes
# says: A list is data for both constructors. `Tensor([3, 1])` holds the two numbers 3 and 1; it is
# `Tensor(3, 1)`, without a list, that has 3 rows.
made = {
    "Tensor(3, 1)": ((3, 1), "float32"),
    "Tensor([3, 1])": ((3, 1), "float32"),
    "tensor([3, 1])": ((2,), "int64"),
    "tensor([[3, 1.0]])": ((1, 2), "float32"),
    "tensor(True)": ((), "bool"),
    "LongTensor(2)": ((2,), "int64"),
}

# %% wrong predict-constructors: tensor makes floats
# says: `tensor` looks at the data. `[3, 1]` holds integers, so the dtype is int64. Only the old
# `Tensor` makes floats of everything.
made = {
    "Tensor(3, 1)": ((3, 1), "float32"),
    "Tensor([3, 1])": ((2,), "float32"),
    "tensor([3, 1])": ((2,), "float32"),
    "tensor([[3, 1.0]])": ((1, 2), "float32"),
    "tensor(True)": ((), "bool"),
    "LongTensor(2)": ((2,), "int64"),
}

# %% wrong predict-constructors: a number has one axis
# says: `tensor(True)` is a single value. It has no axis at all, so its shape is (), not (1,).
made = {
    "Tensor(3, 1)": ((3, 1), "float32"),
    "Tensor([3, 1])": ((2,), "float32"),
    "tensor([3, 1])": ((2,), "int64"),
    "tensor([[3, 1.0]])": ((1, 2), "float32"),
    "tensor(True)": ((1,), "bool"),
    "LongTensor(2)": ((2,), "int64"),
}

# %% wrong predict-constructors: Python's float is 64 bits
# says: A Python float has 64 bits, but a tensor made of Python floats gets the default type, which
# is float32.
made = {
    "Tensor(3, 1)": ((3, 1), "float32"),
    "Tensor([3, 1])": ((2,), "float32"),
    "tensor([3, 1])": ((2,), "int64"),
    "tensor([[3, 1.0]])": ((1, 2), "float64"),
    "tensor(True)": ((), "bool"),
    "LongTensor(2)": ((2,), "int64"),
}


# %% right standardise: with augmented assignments
def standardise_(x):
    x -= x.mean()
    x /= x.abs().max()
    return x


# %% right standardise: into an entry for every place
def standardise_(x):
    shifted = x - x.mean()
    x[...] = shifted / shifted.abs().max()
    return x


# %% wrong standardise: still rebinds
# says: The caller's tensor has not changed: the results went into a new tensor. `x = …` gives the
# name x to another tensor. Use the forms with an underscore, which write into x itself.
def standardise_(x):
    x = x - x.mean()
    x = x / x.abs().max()
    return x


# %% wrong standardise: only the first step in place
# says: The shift happens in place, but then `x / …` makes a new tensor: the caller sees the first
# half only.
def standardise_(x):
    x.sub_(x.mean())
    return x / x.abs().max()


# %% wrong standardise: scaled before the shift
# says: The largest absolute value was asked for before the shift. After the shift another one is
# the largest, so the scale is not 1.
def standardise_(x):
    largest = x.abs().max()
    x.sub_(x.mean())
    return x.div_(largest)


# %% wrong standardise: largest without abs
# says: You divided by the largest value. When the smallest one lies further from 0, the result
# goes below -1: take the absolute values first, with `abs`, not `abs_`.
def standardise_(x):
    x.sub_(x.mean())
    return x.div_(x.max())


# %% wrong standardise: absolute values in place
# says: `x.abs_()` writes the absolute values into x, so that all signs are lost. `x.abs()` makes a
# new tensor for the question.
def standardise_(x):
    x.sub_(x.mean())
    return x.div_(x.abs_().max())


# %% wrong standardise: returns nothing
# says: The work is done in place, but the function has to return x as well, as `add_` does.
def standardise_(x):
    x.sub_(x.mean())
    x.div_(x.abs().max())


# %% right shares-memory: write at the beginning of the block and look
def shares_memory(x, y):
    mine, theirs = x.storage(), y.storage()
    old, seen = mine[0], []
    for value in (0, 1):
        mine[0] = value
        seen.append(theirs[0])
    mine[0] = old
    return seen == [0, 1]


# %% right shares-memory: the first number's address, less how far it lies from the block's
def shares_memory(x, y):
    starts = {t.data_ptr() - t.storage_offset() * t.element_size() for t in (x, y)}
    return len(starts) == 1


# %% wrong shares-memory: compares the numbers
# says: You compare the numbers. Two tensors can hold equal numbers in different places, and parts
# of one block can hold different numbers.
def shares_memory(x, y):
    return x.shape == y.shape and bool((x == y).all())


# %% wrong shares-memory: address of the first number
# says: `data_ptr()` of the tensor is the address of its first number. `x` and `x[1]` lie in one
# block, but begin at different places. Ask the storage.
def shares_memory(x, y):
    return x.data_ptr() == y.data_ptr()


# %% wrong shares-memory: asks NumPy whether the bytes overlap
# says: You ask whether some number of x is a number of y. `x[0]` and `x[2]` have none in common,
# and still lie in one block, that of x. Compare where the blocks begin: ask the storage.
def shares_memory(x, y):
    return np.shares_memory(x.numpy(), y.numpy())


# %% wrong shares-memory: the storage objects
# says: You compare two storage objects. Two calls of `from_numpy` make two of them, over the memory
# of one array. Compare their addresses.
def shares_memory(x, y):
    return x.storage() is y.storage()


# %% wrong shares-memory: the same object
# says: `is` asks whether both names mean one object. A view is a new object on old memory.
def shares_memory(x, y):
    return x is y


# %% wrong shares-memory: changes x and leaves it so
# says: The answer is found, but x is not as it was: put the old numbers back.
def shares_memory(x, y):
    shared = x.storage().data_ptr() == y.storage().data_ptr()
    x.add_(1)
    return shared


# %% wrong shares-memory: always true
# says: This says yes to everything. A clone has memory of its own.
def shares_memory(x, y):
    return True


# %% wrong shares-memory: the storage objects compared by their numbers
# says: You compare what is in the two blocks. Two blocks full of zeros are equal and still two.
def shares_memory(x, y):
    return x.storage().tolist() == y.storage().tolist()


# %% right which-copy: written down
shared = {
    "x.view(6)": True,
    "x.float()": True,
    "x.double()": False,
    "x.clone()": False,
    "x[0]": True,
    "x + 0": False,
}

# %% right which-copy: by a change
x = tg.zeros(2, 3)
shared = {}
for name, make in {
    "x.view(6)": lambda: x.view(6),
    "x.float()": lambda: x.float(),
    "x.double()": lambda: x.double(),
    "x.clone()": lambda: x.clone(),
    "x[0]": lambda: x[0],
    "x + 0": lambda: x + 0,
}.items():
    result = make()
    result.fill_(1)
    shared[name] = x.sum().item() > 0
    x.zero_()

# %% wrong which-copy: a conversion always copies
# says: `x` is a float tensor already, so `x.float()` has nothing to convert and returns x itself.
shared = {
    "x.view(6)": True,
    "x.float()": False,
    "x.double()": False,
    "x.clone()": False,
    "x[0]": True,
    "x + 0": False,
}

# %% wrong which-copy: x + 0 is x
# says: `x + 0` computes a new tensor, even if its numbers are those of x.
shared = {
    "x.view(6)": True,
    "x.float()": True,
    "x.double()": False,
    "x.clone()": False,
    "x[0]": True,
    "x + 0": True,
}

# %% wrong which-copy: x[0] is a copy
# says: `x[0]` is a row of x in the memory of x. In a Python list of lists it would be the same.
shared = {
    "x.view(6)": True,
    "x.float()": True,
    "x.double()": False,
    "x.clone()": False,
    "x[0]": False,
    "x + 0": False,
}

# %% wrong which-copy: asked for copies, not for sharing
# says: Your entries say whether the result is a copy. Asked is whether it shares memory with x,
# which is the opposite.
shared = {
    "x.view(6)": False,
    "x.float()": False,
    "x.double()": True,
    "x.clone()": True,
    "x[0]": False,
    "x + 0": True,
}

# %% wrong which-copy: compared the numbers
# says: All of these hold zeros, so comparing numbers says nothing about memory, and `view` and
# `x[0]` have another shape.
shared = {
    "x.view(6)": False,
    "x.float()": True,
    "x.double()": True,
    "x.clone()": True,
    "x[0]": False,
    "x + 0": True,
}


# %% right predict-sharing: run
def _run(text):
    names = {"np": np, "tg": tg, "a": np.zeros(2, dtype=np.float32)}
    exec(text, names)
    return names["a"][0]


ends = {
    "from_numpy": _run("b = tg.from_numpy(a); b.add_(1)"),
    "rebound": _run("b = tg.from_numpy(a); b = b + 1"),
    "new array": _run("b = tg.from_numpy(a); a = np.add(a, 1); b.add_(5)"),
    "tensor": _run("b = tg.tensor(a); b.add_(1)"),
    "FloatTensor": _run("b = tg.FloatTensor(a); b.add_(1)"),
    "DoubleTensor": _run("b = tg.DoubleTensor(a); b.add_(1)"),
    "and back": _run("b = tg.from_numpy(a).double().numpy(); b += 1"),
}
ends = {name: float(value) for name, value in ends.items()}

# %% right predict-sharing: as floats
ends = {"from_numpy": 1.0, "rebound": 0.0, "new array": 1.0, "tensor": 0.0}
ends |= {"FloatTensor": 1.0, "DoubleTensor": 0.0, "and back": 0.0}

# %% wrong predict-sharing: an assignment writes
# says: `b = b + 1` makes a new tensor and moves the name b to it. The memory that a looks at is
# not touched.
ends = {"from_numpy": 1, "rebound": 1, "new array": 1, "tensor": 0}
ends |= {"FloatTensor": 1, "DoubleTensor": 0, "and back": 0}

# %% wrong predict-sharing: b follows the name a
# says: After `a = np.add(a, 1)` the name a means a new array of ones. b still looks at the old
# one, and its 5 never reaches the new one.
ends = {"from_numpy": 1, "rebound": 0, "new array": 6, "tensor": 0}
ends |= {"FloatTensor": 1, "DoubleTensor": 0, "and back": 0}

# %% wrong predict-sharing: the name a stays with the old array
# says: In “new array” the question is what a[0] is at the end, and a is the new array by then,
# which np.add filled with ones.
ends = {"from_numpy": 1, "rebound": 0, "new array": 5, "tensor": 0}
ends |= {"FloatTensor": 1, "DoubleTensor": 0, "and back": 0}

# %% wrong predict-sharing: FloatTensor copies
# says: The array holds 32-bit floats, just what a FloatTensor holds: it lies over the array's
# memory and copies nothing.
ends = {"from_numpy": 1, "rebound": 0, "new array": 1, "tensor": 0}
ends |= {"FloatTensor": 0, "DoubleTensor": 0, "and back": 0}

# %% wrong predict-sharing: tensor shares
# says: `tensor` always copies. To look at the memory of an array, use from_numpy.
ends = {"from_numpy": 1, "rebound": 0, "new array": 1, "tensor": 1}
ends |= {"FloatTensor": 1, "DoubleTensor": 0, "and back": 0}

# %% wrong predict-sharing: every constructor shares
# says: A DoubleTensor holds 64-bit floats and the array 32-bit ones. The numbers are converted,
# and converted numbers are new ones; `.double()` does the same on the way back.
ends = {"from_numpy": 1, "rebound": 0, "new array": 1, "tensor": 0}
ends |= {"FloatTensor": 1, "DoubleTensor": 1, "and back": 1}

# %% wrong predict-sharing: numpy() leads back to the first array
# says: `.double()` makes new numbers, since the array holds 32-bit floats. `numpy()` looks at
# those and not at a.
ends = {"from_numpy": 1, "rebound": 0, "new array": 1, "tensor": 0}
ends |= {"FloatTensor": 1, "DoubleTensor": 0, "and back": 1}


# %% right shape-of: down the first entries, then a check of all
def shape_of(data):
    shape, first = [], data
    while isinstance(first, list):
        shape.append(len(first))
        first = first[0] if first else None
    level = [data]
    for size in shape:
        if any(not isinstance(entry, list) or len(entry) != size for entry in level):
            raise ValueError("rows differ")
        level = [entry for row in level for entry in row]
    if any(isinstance(entry, list) for entry in level):
        raise ValueError("lists beside numbers")
    return tuple(shape)


# %% right shape-of: a set of shapes
def shape_of(data):
    if type(data) is not list:
        return ()
    inner = {shape_of(entry) for entry in data}
    if len(inner) > 1:
        raise ValueError("different shapes")
    return (len(data),) + (inner.pop() if inner else ())


# %% wrong shape-of: looks at the first entry only
# says: You look at the first row only. `[[1, 2], [3]]` has rows of different length, and that must
# be a ValueError.
def shape_of(data):
    if not isinstance(data, list):
        return ()
    return (len(data), *(shape_of(data[0]) if data else ()))


# %% wrong shape-of: two levels
# says: This knows vectors and matrices, but lists can be nested deeper.
def shape_of(data):
    if not isinstance(data, list):
        return ()
    if not data or not isinstance(data[0], list):
        if any(isinstance(entry, list) for entry in data):
            raise ValueError("lists beside numbers")
        return (len(data),)
    if any(not isinstance(row, list) or len(row) != len(data[0]) for row in data):
        raise ValueError("rows differ")
    return (len(data), len(data[0]))


# %% wrong shape-of: sizes from the inside
# says: The sizes are there, but from the inside to the outside. The outermost list gives the first
# size.
def shape_of(data):
    if not isinstance(data, list):
        return ()
    shapes = [shape_of(entry) for entry in data]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("rows differ")
    return (*(shapes[0] if shapes else ()), len(data))


# %% wrong shape-of: a number has the shape (1,)
# says: A number has no axis, so its shape is (). Each list then gets a size of 1 too many at the
# end.
def shape_of(data):
    if not isinstance(data, list):
        return (1,)
    shapes = [shape_of(entry) for entry in data]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("rows differ")
    return (len(data), *(shapes[0] if shapes else ()))


# %% wrong shape-of: fails on an empty list
# says: An empty list has no entry 0. Its shape is (0,).
def shape_of(data):
    if not isinstance(data, list):
        return ()
    shapes = [shape_of(entry) for entry in data]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("rows differ")
    return (len(data), *shapes[0])


# %% wrong shape-of: compares lengths, not shapes
# says: You compare the lengths of the rows, and those of a row's own rows with each other. But
# `[[[1]], [[1, 2]]]` has two rows of length 1 whose inner rows differ from one to the other.
def shape_of(data):
    if not isinstance(data, list):
        return ()
    kinds = {len(entry) if isinstance(entry, list) else -1 for entry in data}
    if len(kinds) > 1:
        raise ValueError("rows differ")
    inner = [shape_of(entry) for entry in data]
    return (len(data), *(inner[0] if inner else ()))


# %% wrong shape-of: returns None for rows that differ
# says: Where rows differ there is no shape: raise a ValueError. A None would go on and fail
# somewhere else, far from the cause.
def shape_of(data):
    if not isinstance(data, list):
        return ()
    shapes = [shape_of(entry) for entry in data]
    if any(shape is None or shape != shapes[0] for shape in shapes):
        return None
    return (len(data), *(shapes[0] if shapes else ()))


# %% right my-tensor: one level opened after the other
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    shape, flat = shape_of(data), [data]
    for _ in shape:
        flat = [entry for row in flat for entry in row]
    return makers[dtype_of(data)](flat).view(*shape) if shape else makers[dtype_of(data)](flat)[0]


# %% right my-tensor: through NumPy
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    array = np.array(data, dtype=dtype_of(data)).reshape(shape_of(data))
    return tg.from_numpy(array)


# %% wrong my-tensor: a number becomes a vector
# says: A single number needs a list to be handed to the constructor, and then has one axis too
# many. Take entry 0 of it.
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    def flat(entry):
        return [n for e in entry for n in flat(e)] if isinstance(entry, list) else [entry]

    return makers[dtype_of(data)](flat(data)).view(shape_of(data) or (1,))


# %% wrong my-tensor: the shape of a number unpacked
# says: The shape of a single number is empty, so `view(*shape)` is a call without any argument.
# Hand over the tuple as it is: `view(shape)`.
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    def flat(entry):
        return [n for e in entry for n in flat(e)] if isinstance(entry, list) else [entry]

    return makers[dtype_of(data)](flat(data)).view(*shape_of(data))


# %% wrong my-tensor: always floats
# says: Everything becomes a float here. `dtype_of` says which of the makers to take.
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    def flat(entry):
        return [n for e in entry for n in flat(e)] if isinstance(entry, list) else [entry]

    return tg.FloatTensor(flat(data)).view(shape_of(data))


# %% wrong my-tensor: without a shape
# says: The numbers are right and in order, but they lie in one row. `view` gives them their shape.
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    def flat(entry):
        return [n for e in entry for n in flat(e)] if isinstance(entry, list) else [entry]

    return makers[dtype_of(data)](flat(data))


# %% wrong my-tensor: a number given as a size
# says: `LongTensor(7)` takes the 7 for a size and gives seven arbitrary numbers. Put a single
# number into a list.
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    if not isinstance(data, list):
        return makers[dtype_of(data)](int(data)).zero_()

    def flat(entry):
        return [n for e in entry for n in flat(e)] if isinstance(entry, list) else [entry]

    return makers[dtype_of(data)](flat(data)).view(shape_of(data))


# %% wrong my-tensor: column by column
# says: The numbers of a matrix are laid down column by column here. In memory the rows follow each
# other.
makers = {"bool": tg.BoolTensor, "int64": tg.LongTensor, "float32": tg.FloatTensor}


def my_tensor(data):
    shape = shape_of(data)
    array = np.array(data, dtype=dtype_of(data)).reshape(shape)
    return (
        tg.from_numpy(array.ravel(order="F").copy()).view(*shape) if shape else tg.from_numpy(array)
    )
