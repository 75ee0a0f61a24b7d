"""Right and wrong answers of lesson 02. The wrong ones must be caught and named."""

import tinygrad_course as tg


# %% right place-of: a loop
def place_of(index, stride, offset=0):
    for i, s in zip(index, stride):
        offset += i * s
    return offset


# %% right place-of: as a product of vectors
def place_of(index, stride, offset=0):
    return int(tg.LongTensor([*index, 1]).dot(tg.LongTensor([*stride, offset])))


# %% wrong place-of: without the offset
# says: The offset is where the tensor begins in the storage. Add it.
def place_of(index, stride, offset=0):
    return sum(i * s for i, s in zip(index, stride))


# %% wrong place-of: index and stride added
# says: An index of 2 along an axis with stride 3 is two steps of 3 cells each: multiply the two.
def place_of(index, stride, offset=0):
    return offset + sum(i + s for i, s in zip(index, stride))


# %% wrong place-of: strides in the wrong order
# says: You pair the first index with the last stride. Index and stride have their axes in the same
# order.
def place_of(index, stride, offset=0):
    return offset + sum(i * s for i, s in zip(index, reversed(stride)))


# %% wrong place-of: the offset multiplied
# says: The offset is counted once, not once for each axis.
def place_of(index, stride, offset=0):
    return sum(offset + i * s for i, s in zip(index, stride))


# %% wrong place-of: the last axis always moves by 1
# says: You take 1 for the last stride. That holds for fresh tensors; in a transposed one the last
# axis moves by more.
def place_of(index, stride, offset=0):
    return offset + sum(i * s for i, s in zip(index[:-1], stride[:-1])) + index[-1]


# %% right row-major: products of the sizes behind
def row_major(shape):
    strides = []
    for axis in range(len(shape)):
        step = 1
        for size in shape[axis + 1 :]:
            step *= size
        strides.append(step)
    return tuple(strides)


# %% right row-major: built from the front
def row_major(shape):
    if len(shape) == 0:
        return ()
    rest = row_major(shape[1:])
    return (rest[0] * shape[1], *rest) if rest else (1,)


# %% wrong row-major: the size itself included
# says: A step along an axis skips everything behind that axis, and not the axis itself. You
# multiply its own size in as well.
def row_major(shape):
    strides, step = [], 1
    for size in reversed(shape):
        step *= size
        strides.append(step)
    return tuple(reversed(strides))


# %% wrong row-major: the first axis moves fastest
# says: This is column-major order: the first axis moves fastest. In a fresh tensor the last one
# does.
def row_major(shape):
    strides, step = [], 1
    for size in shape:
        strides.append(step)
        step *= size
    return tuple(strides)


# %% wrong row-major: not turned round
# says: The strides are right, but you went from the last axis to the first: turn the list round.
def row_major(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(strides)


# %% wrong row-major: only the next size
# says: You take the size of the next axis alone. With three axes, a step along the first one skips
# a whole matrix: the product of both sizes behind it.
def row_major(shape):
    return (*shape[1:], 1) if shape else ()


# %% wrong row-major: stride and size swapped
# says: These are the sizes. The stride of an axis is the number of cells to move for one step
# along it.
def row_major(shape):
    return tuple(shape)


# %% wrong row-major: a stride without an axis
# says: A single number, with the shape (), has no axis and so no stride: (). Yours has one, as you
# begin with the last stride even where there is no last axis.
def row_major(shape):
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides)


# %% right contiguous: walked from the back
def is_contiguous(shape, stride):
    step = 1
    for size, own in zip(reversed(shape), reversed(stride)):
        if size != 1:
            if own != step:
                return False
            step *= size
    return True


# %% right contiguous: without the axes of size 1
def is_contiguous(shape, stride):
    axes = [(n, s) for n, s in zip(shape, stride) if n > 1]
    return tuple(s for _, s in axes) == row_major([n for n, _ in axes])


# %% wrong contiguous: all strides compared
# says: All strides are compared, also those of axes of size 1. Such a stride is never used, so it
# may be anything.
def is_contiguous(shape, stride):
    return tuple(stride) == row_major(shape)


# %% wrong contiguous: the last stride alone
# says: You look at the last stride only. Between the rows there may still be gaps, as in every
# second row of a matrix.
def is_contiguous(shape, stride):
    return shape[-1] == 1 or stride[-1] == 1


# %% wrong contiguous: strides that fall
# says: Falling strides mean that rows follow each other, but not that there are no gaps between
# them.
def is_contiguous(shape, stride):
    used = [s for n, s in zip(shape, stride) if n > 1]
    return used == sorted(used, reverse=True) and 0 not in used


# %% wrong contiguous: any axis of size 1 makes it so
# says: One axis of size 1 doesn't make a tensor contiguous. The other axes still have to fit.
def is_contiguous(shape, stride):
    return 1 in tuple(shape) or tuple(stride) == row_major(shape)


# %% wrong contiguous: the first axis of size 1 only
# says: You let the first axis off if its size is 1. The same holds for every axis.
def is_contiguous(shape, stride):
    expected = row_major(shape)
    if shape[0] == 1:
        return tuple(stride[1:]) == expected[1:]
    return tuple(stride) == expected


# %% right predict-strides: tried out
x = tg.zeros(4, 6)
strides = {
    "x.t()": x.t().stride(),
    "x.view(2, 12)": x.view(2, 12).stride(),
    "x[1]": x[1].stride(),
    "x[:, ::2]": x[:, ::2].stride(),
    "x.t().view(24)": "error",
    "x.t().contiguous()": x.t().contiguous().stride(),
    "x[::2].view(2, 2, 3)": x[::2].view(2, 2, 3).stride(),
}

# %% right predict-strides: a stride alone as a number
strides = {
    "x.t()": (1, 6),
    "x.view(2, 12)": (12, 1),
    "x[1]": 1,
    "x[:, ::2]": (6, 2),
    "x.t().view(24)": "Error",
    "x.t().contiguous()": (4, 1),
    "x[::2].view(2, 2, 3)": (12, 3, 1),
}

# %% right predict-strides: as lists
strides = {
    "x.t()": [1, 6],
    "x.view(2, 12)": [12, 1],
    "x[1]": [1],
    "x[:, ::2]": [6, 2],
    "x.t().view(24)": "error",
    "x.t().contiguous()": [4, 1],
    "x[::2].view(2, 2, 3)": [12, 3, 1],
}

# %% wrong predict-strides: the transposed one is row-major
# says: Transposing moves no number. The strides change places, so x.t() has the stride (1, 6).
strides = {
    "x.t()": (4, 1),
    "x.view(2, 12)": (12, 1),
    "x[1]": (1,),
    "x[:, ::2]": (6, 2),
    "x.t().view(24)": "error",
    "x.t().contiguous()": (4, 1),
    "x[::2].view(2, 2, 3)": (12, 3, 1),
}

# %% wrong predict-strides: every view exists
# says: x.t() read row by row goes 0, 6, 12, 18, 1, 7 and so on. No single stride does that, so
# view(24) is an error.
strides = {
    "x.t()": (1, 6),
    "x.view(2, 12)": (12, 1),
    "x[1]": (1,),
    "x[:, ::2]": (6, 2),
    "x.t().view(24)": (1,),
    "x.t().contiguous()": (4, 1),
    "x[::2].view(2, 2, 3)": (12, 3, 1),
}

# %% wrong predict-strides: contiguous keeps the strides
# says: contiguous() makes a fresh tensor of the shape (6, 4), and that has the stride (4, 1).
strides = {
    "x.t()": (1, 6),
    "x.view(2, 12)": (12, 1),
    "x[1]": (1,),
    "x[:, ::2]": (6, 2),
    "x.t().view(24)": "error",
    "x.t().contiguous()": (1, 6),
    "x[::2].view(2, 2, 3)": (12, 3, 1),
}

# %% wrong predict-strides: a step leaves the stride alone
# says: In x[:, ::2] a step to the next column skips one: the stride 1 is multiplied by 2.
strides = {
    "x.t()": (1, 6),
    "x.view(2, 12)": (12, 1),
    "x[1]": (1,),
    "x[:, ::2]": (6, 1),
    "x.t().view(24)": "error",
    "x.t().contiguous()": (4, 1),
    "x[::2].view(2, 2, 3)": (12, 3, 1),
}

# %% wrong predict-strides: a view of every second row is an error
# says: x[::2] has the stride (12, 1). Splitting its rows of 6 into 2 times 3 needs no element
# moved: (12, 3, 1).
strides = {
    "x.t()": (1, 6),
    "x.view(2, 12)": (12, 1),
    "x[1]": (1,),
    "x[:, ::2]": (6, 2),
    "x.t().view(24)": "error",
    "x.t().contiguous()": (4, 1),
    "x[::2].view(2, 2, 3)": "error",
}

# %% wrong predict-strides: gaps forgotten
# says: x[::2] skips every second row, so its rows lie 12 apart and not 6.
strides = {
    "x.t()": (1, 6),
    "x.view(2, 12)": (12, 1),
    "x[1]": (1,),
    "x[:, ::2]": (6, 2),
    "x.t().view(24)": "error",
    "x.t().contiguous()": (4, 1),
    "x[::2].view(2, 2, 3)": (6, 3, 1),
}


# %% right expand-geometry: padded with axes of size 1 first
def expand_geometry(shape, stride, sizes):
    added = len(sizes) - len(shape)
    if added < 0 or -1 in tuple(sizes[:added]):
        raise ValueError("sizes and axes don't fit")
    shape, stride = (1,) * added + tuple(shape), (0,) * added + tuple(stride)
    result = []
    for old, step, size in zip(shape, stride, sizes):
        if size == -1 or size == old:
            result.append((old, step))
        elif old == 1:
            result.append((size, 0))
        else:
            raise ValueError(f"{old} cannot become {size}")
    return tuple(n for n, _ in result), tuple(s for _, s in result)


# %% right expand-geometry: from the back
def expand_geometry(shape, stride, sizes):
    if len(sizes) < len(shape):
        raise ValueError("too few sizes")
    new_shape, new_stride = (), ()
    for back in range(1, len(sizes) + 1):
        size = sizes[-back]
        if back > len(shape):
            if size < 0:
                raise ValueError("a new axis needs a size")
            pair = size, 0
        elif size in (-1, shape[-back]):
            pair = shape[-back], stride[-back]
        elif shape[-back] == 1:
            pair = size, 0
        else:
            raise ValueError("only an axis of size 1 can be stretched")
        new_shape, new_stride = (pair[0], *new_shape), (pair[1], *new_stride)
    return new_shape, new_stride


# %% wrong expand-geometry: the old stride kept
# says: A stretched axis reads the same cell again and again: its stride is 0. With the old stride
# it would run on into the next numbers.
def expand_geometry(shape, stride, sizes):
    new = len(sizes) - len(shape)
    if new < 0 or any(size < 0 for size in sizes[:new]):
        raise ValueError
    wanted, steps = list(sizes[:new]), [0] * new
    for old, step, size in zip(shape, stride, sizes[new:]):
        if size not in (-1, old) and old != 1:
            raise ValueError
        wanted.append(old if size == -1 else size)
        steps.append(step)
    return tuple(wanted), tuple(steps)


# %% wrong expand-geometry: row-major strides
# says: These are the strides of a fresh tensor. expand moves no number, so it has to keep the old
# strides, and 0 where it stretches.
def expand_geometry(shape, stride, sizes):
    new = len(sizes) - len(shape)
    if new < 0 or any(size < 0 for size in sizes[:new]):
        raise ValueError
    wanted = list(sizes[:new])
    for old, size in zip(shape, sizes[new:]):
        if size not in (-1, old) and old != 1:
            raise ValueError
        wanted.append(old if size == -1 else size)
    return tuple(wanted), row_major(wanted)


# %% wrong expand-geometry: new axes at the end
# says: You match shape and sizes from the front, so that new axes come last. They stand in front:
# match from the back.
def expand_geometry(shape, stride, sizes):
    if len(sizes) < len(shape):
        raise ValueError
    wanted, steps = [], []
    for axis, size in enumerate(sizes):
        old, step = (shape[axis], stride[axis]) if axis < len(shape) else (1, 0)
        if size in (-1, old):
            wanted.append(old)
            steps.append(step)
        elif old == 1:
            wanted.append(size)
            steps.append(0)
        else:
            raise ValueError
    return tuple(wanted), tuple(steps)


# %% wrong expand-geometry: -1 kept in the shape
# says: -1 means “as it is”, so the old size belongs in the new shape.
def expand_geometry(shape, stride, sizes):
    new = len(sizes) - len(shape)
    if new < 0 or any(size < 0 for size in sizes[:new]):
        raise ValueError
    steps = [0] * new
    for old, step, size in zip(shape, stride, sizes[new:]):
        if size not in (-1, old) and old != 1:
            raise ValueError
        steps.append(step if size in (-1, old) else 0)
    return tuple(sizes), tuple(steps)


# %% wrong expand-geometry: any size may be stretched
# says: An axis of size 2 can't be stretched: with a stride of 0 only its first element would be
# read. Only an axis of size 1 can; all else is a ValueError.
def expand_geometry(shape, stride, sizes):
    new = len(sizes) - len(shape)
    if new < 0 or any(size < 0 for size in sizes[:new]):
        raise ValueError
    wanted, steps = list(sizes[:new]), [0] * new
    for old, step, size in zip(shape, stride, sizes[new:]):
        stretched = size not in (-1, old)
        wanted.append(size if stretched else old)
        steps.append(0 if stretched else step)
    return tuple(wanted), tuple(steps)


# %% wrong expand-geometry: axes of size 1 always get the stride 0
# says: An axis of size 1 that stays at size 1 keeps its stride. Only a stretched one gets 0.
def expand_geometry(shape, stride, sizes):
    new = len(sizes) - len(shape)
    if new < 0 or any(size < 0 for size in sizes[:new]):
        raise ValueError
    wanted, steps = list(sizes[:new]), [0] * new
    for old, step, size in zip(shape, stride, sizes[new:]):
        if size not in (-1, old) and old != 1:
            raise ValueError
        wanted.append(old if size == -1 else size)
        steps.append(0 if old == 1 else step)
    return tuple(wanted), tuple(steps)


# %% wrong expand-geometry: -1 for a new axis passes
# says: -1 leaves an axis as it is, and a new axis is nothing yet: that must be a ValueError.
def expand_geometry(shape, stride, sizes):
    new = len(sizes) - len(shape)
    if new < 0:
        raise ValueError
    wanted, steps = [abs(size) for size in sizes[:new]], [0] * new
    for old, step, size in zip(shape, stride, sizes[new:]):
        if size not in (-1, old) and old != 1:
            raise ValueError
        stretched = size not in (-1, old)
        wanted.append(size if stretched else old)
        steps.append(0 if stretched else step)
    return tuple(wanted), tuple(steps)


# %% right count-cells: from the numbers that are read, where they are new
cells = {"expand": 3, "repeat": 300, "expand + 0": 300, "expand, contiguous": 300}
cells["expand, one row"] = 3

# %% right count-cells: asked in bytes
base, cells = tg.tensor([[1.0], [2.0], [3.0]]), {}
for name, result in {
    "expand": base.expand(3, 100),
    "repeat": base.repeat(1, 100),
    "expand + 0": base.expand(3, 100) + 0,
    "expand, contiguous": base.expand(3, 100).contiguous(),
    "expand, one row": base.expand(3, 100)[1],
}.items():
    cells[name] = result.untyped_storage().nbytes() // result.element_size()

# %% wrong count-cells: elements instead of cells
# says: You counted the elements that the tensor reads. An expanded tensor reads 300 elements from
# 3 cells: ask its storage.
cells = {"expand": 300, "repeat": 300, "expand + 0": 300, "expand, contiguous": 300}
cells["expand, one row"] = 100

# %% wrong count-cells: results of views are views
# says: `expand + 0` and `contiguous()` write their results into new memory, and there are 300 of
# them.
cells = {"expand": 3, "repeat": 300, "expand + 0": 3, "expand, contiguous": 3}
cells["expand, one row"] = 3

# %% wrong count-cells: a row has its own cell
# says: The row is a view on the storage of `base`, which has 3 numbers, though it reads one of
# them.
cells = {"expand": 3, "repeat": 300, "expand + 0": 300, "expand, contiguous": 300}
cells["expand, one row"] = 1

# %% wrong count-cells: counted in bytes
# says: These are bytes, four for each number. `storage().size()` counts the numbers.
cells = {"expand": 12, "repeat": 1200, "expand + 0": 1200, "expand, contiguous": 1200}
cells["expand, one row"] = 12

# %% wrong count-cells: repeat is a view
# says: repeat copies: its result has 300 cells of its own.
cells = {"expand": 3, "repeat": 3, "expand + 0": 300, "expand, contiguous": 300}
cells["expand, one row"] = 3
