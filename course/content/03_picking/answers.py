"""Right and wrong answers of lesson 03. The wrong ones must be caught and named."""

import numpy as np

import tinygrad_course as tg


# %% right count-classes: a table of comparisons, summed
def count(labels, classes):
    return (labels.unsqueeze(1) == tg.arange(classes)).sum(0)


# %% right count-classes: scatter_add_
def count(labels, classes):
    return tg.zeros(classes, dtype=tg.long).scatter_add_(0, labels, tg.ones_like(labels))


# %% right count-classes: one label after the other
def count(labels, classes):
    counts = [0] * classes
    for label in labels.tolist():
        counts[label] += 1
    return tg.LongTensor(counts)


# %% wrong count-classes: written, not added
# says: A class that comes again still counts once: the old value is read once for all, and written
# back several times. Use index_add_, which adds for every entry.
def count(labels, classes):
    counts = tg.zeros(classes, dtype=tg.long)
    counts[labels] = counts[labels] + 1
    return counts


# %% wrong count-classes: only up to the largest label
# says: The counts end at the largest label. Classes after it don't occur, and their count is 0.
def count(labels, classes):
    return labels.bincount()


# %% wrong count-classes: only classes that occur
# says: A class that doesn't occur has no entry here, so all later counts stand in wrong places. Its
# count is 0.
def count(labels, classes):
    return labels.unique(return_counts=True)[1]


# %% wrong count-classes: the labels added up
# says: You add the label itself at its place. For each label, 1 has to be added.
def count(labels, classes):
    return tg.zeros(classes, dtype=tg.long).index_add_(0, labels, labels)


# %% wrong count-classes: floats
# says: The counts are right, but they are floats. tg.zeros gives floats unless told otherwise; a
# count is a whole number: dtype=tg.long.
def count(labels, classes):
    return tg.zeros(classes).index_add_(0, labels, tg.ones(len(labels)))


# %% right predict-gather: tried out
x = tg.tensor([[10, 20, 30], [40, 50, 60]])
picks = {
    "x.index_select(1, tensor([2, 0]))": x[:, [2, 0]].tolist(),
    "x.gather(1, tensor([[2, 0], [1, 1]]))": x.gather(1, tg.tensor([[2, 0], [1, 1]])).tolist(),
    "x.gather(0, tensor([[1, 0, 1]]))": x.gather(0, tg.tensor([[1, 0, 1]])).tolist(),
    "x.gather(1, tensor([[2], [0]]))": x.gather(1, tg.tensor([[2], [0]])).tolist(),
    "x.gather(1, tensor([2, 0]))": "error",
    "x[tensor([1, 0]), tensor([0, 2])]": x[tg.tensor([1, 0]), tg.tensor([0, 2])].tolist(),
}

# %% right predict-gather: tensors as they come, and an error with a capital
x = tg.tensor([[10, 20, 30], [40, 50, 60]])
picks = {
    "x.index_select(1, tensor([2, 0]))": x[:, [2, 0]],
    "x.gather(1, tensor([[2, 0], [1, 1]]))": ((30, 10), (50, 50)),
    "x.gather(0, tensor([[1, 0, 1]]))": tg.tensor([[40, 20, 60]]),
    "x.gather(1, tensor([[2], [0]]))": x.gather(1, tg.tensor([[2], [0]])),
    "x.gather(1, tensor([2, 0]))": "Error",
    "x[tensor([1, 0]), tensor([0, 2])]": tg.tensor([40, 30]),
}

# %% right predict-gather: by the formula
rows = [[10, 20, 30], [40, 50, 60]]
picks = {
    "x.index_select(1, tensor([2, 0]))": [[row[j] for j in (2, 0)] for row in rows],
    "x.gather(1, tensor([[2, 0], [1, 1]]))": [[rows[0][2], rows[0][0]], [rows[1][1]] * 2],
    "x.gather(0, tensor([[1, 0, 1]]))": [[rows[i][j] for j, i in enumerate((1, 0, 1))]],
    "x.gather(1, tensor([[2], [0]]))": [[rows[0][2]], [rows[1][0]]],
    "x.gather(1, tensor([2, 0]))": "error",
    "x[tensor([1, 0]), tensor([0, 2])]": [rows[1][0], rows[0][2]],
}

# %% wrong predict-gather: gather takes whole columns
# says: In gather(1, [[2], [0]]) each row has its own place: row 0 takes column 2, row 1 takes
# column 0. Whole columns are what index_select takes.
picks = {
    "x.index_select(1, tensor([2, 0]))": [[30, 10], [60, 40]],
    "x.gather(1, tensor([[2, 0], [1, 1]]))": [[30, 10], [50, 50]],
    "x.gather(0, tensor([[1, 0, 1]]))": [[40, 20, 60]],
    "x.gather(1, tensor([[2], [0]]))": [[30, 10], [60, 40]],
    "x.gather(1, tensor([2, 0]))": "error",
    "x[tensor([1, 0]), tensor([0, 2])]": [40, 30],
}

# %% wrong predict-gather: an index with one axis works
# says: gather(1, [2, 0]) is refused. The index must have as many axes as x: labels.unsqueeze(1)
# makes a column of such a row.
picks = {
    "x.index_select(1, tensor([2, 0]))": [[30, 10], [60, 40]],
    "x.gather(1, tensor([[2, 0], [1, 1]]))": [[30, 10], [50, 50]],
    "x.gather(0, tensor([[1, 0, 1]]))": [[40, 20, 60]],
    "x.gather(1, tensor([[2], [0]]))": [[30], [40]],
    "x.gather(1, tensor([2, 0]))": [30, 40],
    "x[tensor([1, 0]), tensor([0, 2])]": [40, 30],
}

# %% wrong predict-gather: the lists in brackets give a block
# says: Two lists in brackets are read together, as pairs: (1, 0) and (0, 2), two elements. A block
# of whole rows and columns is x[[1, 0]][:, [0, 2]].
picks = {
    "x.index_select(1, tensor([2, 0]))": [[30, 10], [60, 40]],
    "x.gather(1, tensor([[2, 0], [1, 1]]))": [[30, 10], [50, 50]],
    "x.gather(0, tensor([[1, 0, 1]]))": [[40, 20, 60]],
    "x.gather(1, tensor([[2], [0]]))": [[30], [40]],
    "x.gather(1, tensor([2, 0]))": "error",
    "x[tensor([1, 0]), tensor([0, 2])]": [[40, 60], [10, 30]],
}

# %% wrong predict-gather: dim 0 read along the row
# says: With dim 0 the row comes from the index, and the column is the position's own: rows 1, 0, 1
# in the columns 0, 1, 2. You picked columns from row 0.
picks = {
    "x.index_select(1, tensor([2, 0]))": [[30, 10], [60, 40]],
    "x.gather(1, tensor([[2, 0], [1, 1]]))": [[30, 10], [50, 50]],
    "x.gather(0, tensor([[1, 0, 1]]))": [[20, 10, 20]],
    "x.gather(1, tensor([[2], [0]]))": [[30], [40]],
    "x.gather(1, tensor([2, 0]))": "error",
    "x[tensor([1, 0]), tensor([0, 2])]": [40, 30],
}

# %% wrong predict-gather: the column's axis dropped
# says: The result of gather has the shape of the index, which is (2, 1) here: two rows of one
# number, not a plain row.
picks = {
    "x.index_select(1, tensor([2, 0]))": [[30, 10], [60, 40]],
    "x.gather(1, tensor([[2, 0], [1, 1]]))": [[30, 10], [50, 50]],
    "x.gather(0, tensor([[1, 0, 1]]))": [[40, 20, 60]],
    "x.gather(1, tensor([[2], [0]]))": [30, 40],
    "x.gather(1, tensor([2, 0]))": "error",
    "x[tensor([1, 0]), tensor([0, 2])]": [40, 30],
}


# %% right flat-places: position by position
def flat_places(shape, dim, index):
    places = np.empty(tuple(index.shape), dtype=np.int64)
    for position in np.ndindex(*places.shape):
        coordinates = list(position)
        coordinates[dim] = int(index[position])
        place = 0
        for size, coordinate in zip(shape, coordinates):
            place = place * size + coordinate
        places[position] = place
    return tg.from_numpy(places)


# %% right flat-places: the places themselves, gathered
def flat_places(shape, dim, index):
    total = 1
    for size in shape:
        total *= size
    return tg.arange(total).view(*shape).gather(dim, index)


# %% right flat-places: NumPy's tools for it
def flat_places(shape, dim, index):
    coordinates = list(np.indices(tuple(index.shape)))
    coordinates[dim] = index.numpy()
    return tg.tensor(np.ravel_multi_index(coordinates, tuple(shape)))


# %% wrong flat-places: the position's own coordinates left out
# says: You take only the coordinate from the index. All positions then read in the first row, or
# column: add the position's own coordinate along each other axis, times its stride.
def flat_places(shape, dim, index):
    step = 1
    for size in shape[dim + 1 :]:
        step *= size
    return index * step


# %% wrong flat-places: floats for places
# says: The places are right, but they are floats: `tg.zeros` makes floats unless told otherwise.
# Places are whole numbers: `dtype=tg.long`.
def flat_places(shape, dim, index):
    places, strides = tg.zeros(tuple(index.shape)), tg.zeros(shape).stride()
    for position in np.ndindex(*index.shape):
        coordinates = list(position)
        coordinates[dim] = index[position].item()
        places[position] = sum(c * s for c, s in zip(coordinates, strides))
    return places


# %% wrong flat-places: strides of the index
# says: You use the strides of the index's shape. The numbers lie in the tensor, which may be larger
# than the index: use the strides of shape.
def flat_places(shape, dim, index):
    places, step = tg.zeros(index.shape, dtype=tg.long), 1
    for axis in reversed(range(len(shape))):
        own = [1] * len(shape)
        own[axis] = index.shape[axis]
        term = index if axis == dim else tg.arange(index.shape[axis]).view(own)
        places = places + step * term
        step *= index.shape[axis]
    return places


# %% wrong flat-places: always the last axis
# says: You replace the last coordinate, whatever dim says. With dim 0 it is the row that comes from
# the index.
def flat_places(shape, dim, index):
    places, step = index.clone(), shape[-1]
    for axis in reversed(range(len(shape) - 1)):
        own = [1] * len(shape)
        own[axis] = index.shape[axis]
        places = places + step * tg.arange(index.shape[axis]).view(own)
        step *= shape[axis]
    return places


# %% wrong flat-places: the index without its stride
# says: The index is added as it is. Along dim 0 of a matrix, one row further is a whole row of
# cells: multiply by the stride of that axis.
def flat_places(shape, dim, index):
    places, step = index.clone(), 1
    for axis in reversed(range(len(shape))):
        if axis != dim:
            own = [1] * len(shape)
            own[axis] = index.shape[axis]
            places = places + step * tg.arange(index.shape[axis]).view(own)
        step *= shape[axis]
    return places


# %% wrong flat-places: the own coordinate along dim as well
# says: Along dim the coordinate comes from the index alone. You add the position's own coordinate
# there too.
def flat_places(shape, dim, index):
    places, step = tg.zeros(index.shape, dtype=tg.long), 1
    for axis in reversed(range(len(shape))):
        own = [1] * len(shape)
        own[axis] = index.shape[axis]
        places = places + step * tg.arange(index.shape[axis]).view(own)
        if axis == dim:
            places = places + step * index
        step *= shape[axis]
    return places


# %% right my-scatter: made contiguous, then cloned
def my_scatter(x, dim, index, src):
    flat = x.contiguous().clone().view(-1)
    for axis, size in enumerate(index.shape):
        src = src.narrow(axis, 0, size)
    flat[flat_places(x.shape, dim, index)] = src
    return flat.view(x.shape)


# %% right my-scatter: number by number
def my_scatter(x, dim, index, src):
    out = x.clone()
    for position in np.ndindex(*index.shape):
        to = list(position)
        to[dim] = index[position].item()
        out[tuple(to)] = src[position]
    return out


# %% right my-scatter: with NumPy
def my_scatter(x, dim, index, src):
    out = x.numpy().flatten()
    corner = src.numpy()[np.ix_(*(range(size) for size in index.shape))]
    out[flat_places(x.shape, dim, index).numpy()] = corner
    return tg.from_numpy(out).view(x.shape)


# %% wrong my-scatter: x itself changed
# says: The result is right, but x has changed: contiguous() gives x itself when it is contiguous.
# The form without the underscore leaves x alone: clone it.
def my_scatter(x, dim, index, src):
    out = x.contiguous()
    corner = src[tuple(slice(size) for size in index.shape)]
    out.view(-1)[flat_places(x.shape, dim, index)] = corner
    return out


# %% wrong my-scatter: the first numbers of the source
# says: With an index smaller than src you take the first numbers of src, row after row. What
# belongs to the positions is its corner: src[i][j] for the position (i, j).
def my_scatter(x, dim, index, src):
    out = x.contiguous().clone()
    first = src.reshape(-1)[: index.numel()].view(index.shape)
    out.view(-1)[flat_places(x.shape, dim, index)] = first
    return out


# %% wrong my-scatter: the whole source
# says: Where the index is smaller than src, the shapes don't fit: take the corner of src that has
# the index's shape.
def my_scatter(x, dim, index, src):
    out = x.contiguous().clone()
    out.view(-1)[flat_places(x.shape, dim, index)] = src
    return out


# %% wrong my-scatter: added
# says: You add to what is there. scatter replaces it; adding is scatter_add.
def my_scatter(x, dim, index, src):
    out = x.contiguous().clone()
    corner = src[tuple(slice(size) for size in index.shape)]
    out.view(-1)[flat_places(x.shape, dim, index)] += corner
    return out


# %% wrong my-scatter: into zeros
# says: Where nothing is written, the numbers of x have to stay. You begin with zeros.
def my_scatter(x, dim, index, src):
    out = tg.zeros(x.shape, dtype=x.dtype)
    corner = src[tuple(slice(size) for size in index.shape)]
    out.view(-1)[flat_places(x.shape, dim, index)] = corner
    return out


# %% wrong my-scatter: a clone of a transposed tensor
# says: A clone keeps the memory order, so that of a transposed tensor has no view(-1). Make it
# contiguous first.
def my_scatter(x, dim, index, src):
    out = x.clone()
    corner = src[tuple(slice(size) for size in index.shape)]
    out.view(-1)[flat_places(x.shape, dim, index)] = corner
    return out


# %% wrong my-scatter: written into a copy
# says: For a transposed tensor nothing is written: reshape(-1) of it is a copy, and your result
# doesn't see what goes there.
def my_scatter(x, dim, index, src):
    out = x.clone()
    corner = src[tuple(slice(size) for size in index.shape)]
    out.reshape(-1)[flat_places(x.shape, dim, index)] = corner
    return out


# %% right repair-accuracy: the mean of zeros and ones
def accuracy(scores, labels):
    return (scores.argmax(1) == labels).float().mean().item()


# %% right repair-accuracy: is the right score the largest?
def accuracy(scores, labels):
    right = scores.gather(1, labels.unsqueeze(1)).squeeze(1)
    return (right == scores.max(1)[0]).sum().item() / len(labels)


# %% wrong repair-accuracy: values for places
# says: You compare the largest scores with the labels. The classes are the places of those scores,
# max(1)[1].
def accuracy(scores, labels):
    guesses = scores.max(1)[0]
    return (guesses == labels).sum().item() / scores.shape[0]


# %% wrong repair-accuracy: a column against a row
# says: guesses is a column and labels a row, so every guess is compared with every label. Leave
# keepdim out.
def accuracy(scores, labels):
    guesses = scores.max(1, keepdim=True)[1]
    return (guesses == labels).sum().item() / scores.shape[0]


# %% wrong repair-accuracy: a column against a row, and the mean of the table
# says: guesses is a column and labels a row, so hits is a table of every guess with every label.
# Its mean lies between 0 and 1 and is no accuracy. Leave keepdim out.
def accuracy(scores, labels):
    guesses = scores.max(1, keepdim=True)[1]
    return (guesses == labels).float().mean().item()


# %% wrong repair-accuracy: divided by the classes
# says: The hits are right. The share is that of the rows; you divide by the number of classes.
def accuracy(scores, labels):
    guesses = scores.max(1)[1]
    return (guesses == labels).sum().item() / scores.shape[1]


# %% wrong repair-accuracy: the count
# says: This is the number of hits. Divide it by the number of rows.
def accuracy(scores, labels):
    return (scores.argmax(1) == labels).sum().item()


# %% right distances: one centre after the other
def distances(x, centres):
    return tg.stack([((x - centre) ** 2).sum(1) for centre in centres], 1)


# %% right distances: addmm
def distances(x, centres):
    squares = (x**2).sum(1).unsqueeze(1) + (centres**2).sum(1).unsqueeze(0)
    return tg.addmm(squares, x, centres.t(), alpha=-2)


# %% wrong distances: three axes
# says: The distances are right, but x.unsqueeze(1) - centres is an array of three axes, with d
# numbers for each pair. Multiply the square out, and use a matrix product.
def distances(x, centres):
    return ((x.unsqueeze(1) - centres) ** 2).sum(2)


# %% wrong distances: the factor 2 is missing
# says: The middle term is 2 x·c: the square of a difference has it twice.
def distances(x, centres):
    return (x * x).sum(1, keepdim=True) - x @ centres.t() + (centres * centres).sum(1)


# %% wrong distances: the points' squares as a row
# says: The squares of the points have to be a column, one for each row of the table. Without
# keepdim they are a row, and are added along the wrong axis or don't fit at all.
def distances(x, centres):
    return (x * x).sum(1) - 2 * (x @ centres.t()) + (centres * centres).sum(1)


# %% wrong distances: elementwise
# says: x * centres multiplies element by element. All pairs of a point and a centre need the matrix
# product x @ centres.t().
def distances(x, centres):
    return (x * x).sum(1, keepdim=True) - 2 * (x * centres) + (centres * centres).sum(1)


# %% wrong distances: not transposed
# says: centres has its coordinates along the rows, and the matrix product sums over them: multiply
# by centres.t().
def distances(x, centres):
    return (x * x).sum(1, keepdim=True) - 2 * (x @ centres) + (centres * centres).sum(1)


# %% wrong distances: the root taken
# says: Squared distances are asked for. You took the root.
def distances(x, centres):
    squares = (x * x).sum(1, keepdim=True) - 2 * (x @ centres.t()) + (centres * centres).sum(1)
    return squares.clamp(min=0).sqrt()


# %% right count-numbers: worked out
measured = {
    "by_broadcast": [100 * k * 64 for k in (2, 10, 20)],
    "distances": [max(100 * 64, k * 64, 100 * k) for k in (2, 10, 20)],
}

# %% right count-numbers: one function after the other
measured = {"by_broadcast": [], "distances": []}
for name, function in (("by_broadcast", by_broadcast), ("distances", distances)):
    for k in (2, 10, 20):
        with Largest() as seen:
            function(tg.zeros(100, 64), tg.zeros(k, 64))
        measured[name].append(seen.size)

# %% wrong count-numbers: one block for both
# says: Both functions ran in the same block, and Largest keeps the largest of all it saw. Give each
# call a block of its own.
measured = {"by_broadcast": [], "distances": []}
for k in (2, 10, 20):
    with Largest() as seen:
        by_broadcast(tg.zeros(100, 64), tg.zeros(k, 64))
        measured["by_broadcast"].append(seen.size)
        distances(tg.zeros(100, 64), tg.zeros(k, 64))
        measured["distances"].append(seen.size)

# %% wrong count-numbers: the sizes of the results
# says: These are the sizes of the results, which are the same for both. The larger arrays are made
# on the way: let Largest watch the calls.
measured = {"by_broadcast": [], "distances": []}
for k in (2, 10, 20):
    measured["by_broadcast"].append(by_broadcast(tg.zeros(100, 64), tg.zeros(k, 64)).numel())
    measured["distances"].append(distances(tg.zeros(100, 64), tg.zeros(k, 64)).numel())

# %% wrong count-numbers: the names swapped
# says: You have the two lists under each other's names: broadcasting makes the large arrays.
measured = {"by_broadcast": [6400, 6400, 6400], "distances": [12800, 64000, 128000]}

# %% wrong count-numbers: bytes
# says: These are bytes, four for each number. Largest counts elements.
measured = {"by_broadcast": [51200, 256000, 512000], "distances": [25600, 25600, 25600]}
