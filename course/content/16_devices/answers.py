"""Right and wrong answers of lesson 16. The wrong ones must be caught and named."""

import copy

import tinygrad_course as tg
from tinygrad_course import optim
from tinygrad_course.nn import functional as F
from tinygrad_course.utils.data import BatchSampler

# %% right predict-devices: by rule
here, there, fails = "cpu", "cuda:0", "error"
lies = {
    "x": here,
    "x + y": fails,
    "y * tg.tensor(2.0)": there,
    "y * tg.tensor([2.0])": fails,
    "tg.zeros_like(y)": there,
    "net(x)": fails,
    "net(y).cpu().sum()": here,
}


# %% right predict-devices: the names written by device
lies = dict.fromkeys(("x + y", "y * tg.tensor([2.0])", "net(x)"), "error")
lies.update(dict.fromkeys(("x", "net(y).cpu().sum()"), str(tg.device("cpu"))))
lies.update(dict.fromkeys(("y * tg.tensor(2.0)", "tg.zeros_like(y)"), str(tg.device("cuda", 0))))


# %% right predict-devices: names, devices and classes of errors
lies = {
    "x": "CPU",
    "x + y": "RuntimeError",
    "y * tg.tensor(2.0)": tg.device("cuda:0"),
    "y * tg.tensor([2.0])": RuntimeError,
    "tg.zeros_like(y)": tg.device("cuda"),
    "net(x)": "Error",
    "net(y).cpu().sum()": tg.device("cpu"),
}


# %% wrong predict-devices: x moved
# says: `x.cuda()` returns another tensor, and nobody kept it: x still lies on the CPU. Only modules
# move in place.
lies = {
    "x": "cuda:0",
    "x + y": "cuda:0",
    "y * tg.tensor(2.0)": "cuda:0",
    "y * tg.tensor([2.0])": "error",
    "tg.zeros_like(y)": "cuda:0",
    "net(x)": "cuda:0",
    "net(y).cpu().sum()": "cpu",
}


# %% wrong predict-devices: copied by itself
# says: Nothing is copied by itself. Where two devices meet, the operation fails.
lies = {
    "x": "cpu",
    "x + y": "cuda:0",
    "y * tg.tensor(2.0)": "cuda:0",
    "y * tg.tensor([2.0])": "cuda:0",
    "tg.zeros_like(y)": "cuda:0",
    "net(x)": "cuda:0",
    "net(y).cpu().sum()": "cpu",
}


# %% wrong predict-devices: numbers fail as well
# says: `tg.tensor(2.0)` has no dimensions. Such a single number may meet any device.
lies = {
    "x": "cpu",
    "x + y": "error",
    "y * tg.tensor(2.0)": "error",
    "y * tg.tensor([2.0])": "error",
    "tg.zeros_like(y)": "cuda:0",
    "net(x)": "error",
    "net(y).cpu().sum()": "cpu",
}


# %% wrong predict-devices: one entry taken for a number
# says: `tg.tensor([2.0])` has one entry, but also one dimension. Only a tensor without dimensions
# may lie elsewhere.
lies = {
    "x": "cpu",
    "x + y": "error",
    "y * tg.tensor(2.0)": "cuda:0",
    "y * tg.tensor([2.0])": "cuda:0",
    "tg.zeros_like(y)": "cuda:0",
    "net(x)": "error",
    "net(y).cpu().sum()": "cpu",
}


# %% wrong predict-devices: zeros_like on the CPU
# says: `tg.zeros_like(y)` is like y in its device, too.
lies = {
    "x": "cpu",
    "x + y": "error",
    "y * tg.tensor(2.0)": "cuda:0",
    "y * tg.tensor([2.0])": "error",
    "tg.zeros_like(y)": "cpu",
    "net(x)": "error",
    "net(y).cpu().sum()": "cpu",
}


# %% wrong predict-devices: the module stayed
# says: `net.cuda()` moves the parameters of net in place. So net takes y and refuses x.
lies = {
    "x": "cpu",
    "x + y": "error",
    "y * tg.tensor(2.0)": "cuda:0",
    "y * tg.tensor([2.0])": "error",
    "tg.zeros_like(y)": "cuda:0",
    "net(x)": "cpu",
    "net(y).cpu().sum()": "error",
}


# %% right scatter-gather: slices, moved to the front and back
def my_scatter(batch, n, dim=0):
    front = batch.transpose(0, dim)
    size = (len(front) + n - 1) // n
    parts = []
    while len(parts) * size < len(front):
        start = len(parts) * size
        parts.append(front[start : start + size].transpose(0, dim))
    return parts


def my_gather(parts, dim=0):
    return tg.cat(list(parts), dim=dim)


# %% right scatter-gather: chunk
def my_scatter(batch, n, dim=0):
    return list(batch.chunk(n, dim))


def my_gather(parts, dim=0):
    whole = parts[0]
    for part in parts[1:]:
        whole = tg.cat((whole, part), dim)
    return whole


# %% wrong scatter-gather: rounded down, the rest lost
# says: Your parts have the size rounded down, and the samples that are left over reach no device.
# Round up.
def my_scatter(batch, n, dim=0):
    size = batch.shape[dim] // n
    return [batch.narrow(dim, i * size, size) for i in range(n)]


def my_gather(parts, dim=0):
    return tg.cat(parts, dim)


# %% wrong scatter-gather: the rest for the last
# says: Your last part takes the whole rest and is larger than the others. The size is rounded up,
# so that the last part is the small one.
def my_scatter(batch, n, dim=0):
    count = batch.shape[dim]
    size = max(count // n, 1)
    parts = [batch.narrow(dim, i * size, size) for i in range(min(n, count) - 1)]
    start = len(parts) * size
    return [*parts, batch.narrow(dim, start, count - start)]


def my_gather(parts, dim=0):
    return tg.cat(parts, dim)


# %% wrong scatter-gather: the rest shared out one by one
# says: You share the rest out, as 3, 2, 2 for seven samples. Here all parts but the last are equal:
# 3, 3, 1.
def my_scatter(batch, n, dim=0):
    least, rest = divmod(batch.shape[dim], n)
    sizes = [least + (i < rest) for i in range(n)]
    return [part for part in batch.split(sizes, dim) if part.shape[dim]]


def my_gather(parts, dim=0):
    return tg.cat(parts, dim)


# %% wrong scatter-gather: every n-th
# says: These parts take every n-th sample. Gathered one after the other, they come back in another
# order than they had.
def my_scatter(batch, n, dim=0):
    places = [tg.arange(i, batch.shape[dim], n) for i in range(min(n, batch.shape[dim]))]
    return [batch.index_select(dim, own) for own in places]


def my_gather(parts, dim=0):
    return tg.cat(parts, dim)


# %% wrong scatter-gather: empty parts
# says: There are always n parts here, and some are empty. A device that has nothing to do gets no
# part at all.
def my_scatter(batch, n, dim=0):
    count = batch.shape[dim]
    size = -(-count // n)
    starts = [min(i * size, count) for i in range(n)]
    return [batch.narrow(dim, start, min(size, count - start)) for start in starts]


def my_gather(parts, dim=0):
    return tg.cat(parts, dim)


# %% wrong scatter-gather: n taken for the size
# says: n is the number of parts, not the size of one.
def my_scatter(batch, n, dim=0):
    return list(batch.split(n, dim))


def my_gather(parts, dim=0):
    return tg.cat(parts, dim)


# %% wrong scatter-gather: dim ignored
# says: You always cut and join along the first dim. Use the dim that is given.
def my_scatter(batch, n, dim=0):
    size = -(-len(batch) // n)
    return [batch[i : i + size] for i in range(0, len(batch), size)]


def my_gather(parts, dim=0):
    return tg.cat(parts)


# %% wrong scatter-gather: through NumPy
# says: The values are right, but the way through detached or NumPy data is not recorded: no
# gradient comes back to the batch.
def my_scatter(batch, n, dim=0):
    return list(batch.detach().chunk(n, dim))


def my_gather(parts, dim=0):
    return tg.cat([part.detach() for part in parts], dim).requires_grad_(
        parts[0].is_floating_point()
    )


# %% wrong scatter-gather: stacked
# says: stack puts the parts along a new axis, and fails where they have different sizes. cat joins
# them along one that is there.
def my_scatter(batch, n, dim=0):
    return list(batch.chunk(n, dim))


def my_gather(parts, dim=0):
    return tg.stack(parts, dim)


# %% right replica-gradients: by autograd.grad
def replica_gradients(model, x, labels, n):
    found = []
    for part, own in zip(my_scatter(x, n), my_scatter(labels, n)):
        replica = copy.deepcopy(model)
        loss = F.cross_entropy(replica(part), own) * (len(part) / len(x))
        found.append(tg.autograd.grad(loss, list(replica.parameters())))
    return [sum(parts) for parts in zip(*found)]


# %% right replica-gradients: one backward through the gathered scores
def replica_gradients(model, x, labels, n):
    parts = my_scatter(x, n)
    replicas = [copy.deepcopy(model) for _ in parts]
    scores = my_gather([replica(part) for replica, part in zip(replicas, parts)])
    F.cross_entropy(scores, labels).backward()
    columns = zip(*(replica.parameters() for replica in replicas))
    return [tg.stack([p.grad for p in column]).sum(0) for column in columns]


# %% wrong replica-gradients: a sum of means
# says: Each part's loss is a mean over that part, so their sum is n times too large. Before each
# sample 1 / len(x) has to stand.
def replica_gradients(model, x, labels, n):
    totals = [tg.zeros_like(parameter) for parameter in model.parameters()]
    for part, own in zip(my_scatter(x, n), my_scatter(labels, n)):
        replica = copy.deepcopy(model)
        F.cross_entropy(replica(part), own).backward()
        for total, parameter in zip(totals, replica.parameters()):
            total += parameter.grad
    return totals


# %% wrong replica-gradients: a mean of means
# says: You take the mean of the parts' means. It is right for equal parts alone: in a small part
# each sample counts for more.
def replica_gradients(model, x, labels, n):
    parts, owns = my_scatter(x, n), my_scatter(labels, n)
    totals = [tg.zeros_like(parameter) for parameter in model.parameters()]
    for part, own in zip(parts, owns):
        replica = copy.deepcopy(model)
        (F.cross_entropy(replica(part), own) / len(parts)).backward()
        for total, parameter in zip(totals, replica.parameters()):
            total += parameter.grad
    return totals


# %% wrong replica-gradients: divided by the number of devices
# says: Divide by what was computed, not by n: with fewer samples than devices some have no part.
# And count each sample alike.
def replica_gradients(model, x, labels, n):
    totals = [tg.zeros_like(parameter) for parameter in model.parameters()]
    for part, own in zip(my_scatter(x, n), my_scatter(labels, n)):
        replica = copy.deepcopy(model)
        (F.cross_entropy(replica(part), own) / n).backward()
        for total, parameter in zip(totals, replica.parameters()):
            total += parameter.grad
    return totals


# %% wrong replica-gradients: not divided
# says: This is the gradient of the sum over all samples. The loss is their mean: divide by len(x).
def replica_gradients(model, x, labels, n):
    totals = [tg.zeros_like(parameter) for parameter in model.parameters()]
    for part, own in zip(my_scatter(x, n), my_scatter(labels, n)):
        replica = copy.deepcopy(model)
        F.cross_entropy(replica(part), own, reduction="sum").backward()
        for total, parameter in zip(totals, replica.parameters()):
            total += parameter.grad
    return totals


# %% wrong replica-gradients: the model itself runs
# says: Backward ran on the model, so its own gradients have changed. Each part has to run on a
# replica.
def replica_gradients(model, x, labels, n):
    model.zero_grad()
    for part, own in zip(my_scatter(x, n), my_scatter(labels, n)):
        loss = F.cross_entropy(model(part), own, reduction="sum") / len(x)
        loss.backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


# %% wrong replica-gradients: only the last part
# says: These are the gradients of the last part alone. Add up those of all replicas.
def replica_gradients(model, x, labels, n):
    for part, own in zip(my_scatter(x, n), my_scatter(labels, n)):
        replica = copy.deepcopy(model)
        loss = F.cross_entropy(replica(part), own, reduction="sum") / len(x)
        loss.backward()
    return [parameter.grad for parameter in replica.parameters()]


# %% right mean-gradients: sums, then one division
def mean_gradients(gradients, counts):
    result = []
    for place in range(len(gradients[0])):
        total = None
        for own, count in zip(gradients, counts):
            if own[place] is not None:
                term = own[place] * count
                total = term if total is None else total + term
        result.append(None if total is None else total / sum(counts))
    return result


# %% right mean-gradients: zeros for None, stacked
def mean_gradients(gradients, counts):
    shares = tg.tensor(counts).double() / sum(counts)
    result = []
    for column in zip(*gradients):
        like = next((grad for grad in column if grad is not None), None)
        if like is None:
            result.append(None)
            continue
        rows = [tg.zeros_like(like) if grad is None else grad for grad in column]
        result.append(tg.tensordot(shares, tg.stack(rows).double(), 1).to(like.dtype))
    return result


# %% wrong mean-gradients: a mean of means
# says: This is the mean of the ranks' means. With different shares it isn't the mean over all
# samples: weight each by its count.
def mean_gradients(gradients, counts):
    means = []
    for parts in zip(*gradients):
        there = [grad for grad in parts if grad is not None]
        means.append(sum(there) / len(parts) if there else None)
    return means


# %% wrong mean-gradients: a sum
# says: You add the ranks' gradients. That is right for DataParallel, where one loss stands behind
# all parts; here each is a mean, and their mean is asked for.
def mean_gradients(gradients, counts):
    means = []
    for parts in zip(*gradients):
        there = [grad for grad in parts if grad is not None]
        means.append(sum(there) if there else None)
    return means


# %% wrong mean-gradients: weighted, divided by the ranks
# says: The weights are right, but you divide by the number of ranks. Divide by the number of all
# samples.
def mean_gradients(gradients, counts):
    means = []
    for parts in zip(*gradients):
        there = [grad * c for grad, c in zip(parts, counts) if grad is not None]
        means.append(sum(there) / len(counts) if there else None)
    return means


# %% wrong mean-gradients: None not counted
# says: You leave the samples of a rank without a gradient out of the number of samples. They are
# samples of the batch whose slope is zero.
def mean_gradients(gradients, counts):
    means = []
    for parts in zip(*gradients):
        there = [(grad, c) for grad, c in zip(parts, counts) if grad is not None]
        samples = sum(c for _, c in there)
        means.append(sum(grad * c for grad, c in there) / samples if there else None)
    return means


# %% wrong mean-gradients: zeros for None
# says: A parameter without a gradient on all ranks keeps None. With zeros, an optimizer with
# momentum or weight decay would move it.
def mean_gradients(gradients, counts):
    means = []
    for parts in zip(*gradients):
        there = [grad * c for grad, c in zip(parts, counts) if grad is not None]
        means.append(sum(there) / sum(counts) if there else tg.zeros(1).double())
    return means


# %% wrong mean-gradients: None on one is None on all
# says: If one rank has no gradient you give up on the parameter. The others have one.
def mean_gradients(gradients, counts):
    means = []
    for parts in zip(*gradients):
        if any(grad is None for grad in parts):
            means.append(None)
        else:
            means.append(sum(grad * c for grad, c in zip(parts, counts)) / sum(counts))
    return means


# %% wrong mean-gradients: None forgotten
# says: A gradient may be None, and None can't be multiplied. Leave it out of the sum.
def mean_gradients(gradients, counts):
    return [
        sum(grad * c for grad, c in zip(parts, counts)) / sum(counts) for parts in zip(*gradients)
    ]


# %% wrong mean-gradients: changed in place
# says: The means are right, but you changed the gradients that you were given: mul_ works in place.
def mean_gradients(gradients, counts):
    means = []
    for parts in zip(*gradients):
        there = [g.mul_(c / sum(counts)) for g, c in zip(parts, counts) if g is not None]
        means.append(sum(there) if there else None)
    return means


# %% right my-share: the list made longer, then cut
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        own = tg.Generator()
        own.manual_seed(seed + epoch)
        order = [int(i) for i in tg.randperm(size, generator=own)]
    if drop_last:
        order = order[: size - size % ranks]
    else:
        front = list(order)
        while len(order) % ranks:
            order += front[: ranks - len(order) % ranks]
    return order[rank::ranks]


# %% right my-share: the engine's sampler
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    sampler = tg.utils.data.DistributedSampler(
        range(size), ranks, rank, shuffle=shuffle, seed=seed, drop_last=drop_last
    )
    sampler.set_epoch(epoch)
    return list(sampler)


# %% wrong my-share: nothing made longer
# says: The ranks get different numbers of samples, so some would wait for ever for the last step of
# others. Begin again from the front until all have as many.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        generator = tg.Generator().manual_seed(seed + epoch)
        order = tg.randperm(size, generator=generator).tolist()
    if drop_last:
        order = order[: size // ranks * ranks]
    return order[rank::ranks]


# %% wrong my-share: blocks
# says: Each rank takes a block of neighbours here. It is to take every R-th entry, from its rank
# on.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        generator = tg.Generator().manual_seed(seed + epoch)
        order = tg.randperm(size, generator=generator).tolist()
    each = size // ranks if drop_last else -(-size // ranks)
    return [order[i % size] for i in range(rank * each, (rank + 1) * each)]


# %% wrong my-share: the front added only once
# says: With more than twice as many ranks as samples the front is needed more than once. `order[i %
# size]` begins again as often as needed.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        generator = tg.Generator().manual_seed(seed + epoch)
        order = tg.randperm(size, generator=generator).tolist()
    each = size // ranks if drop_last else -(-size // ranks)
    order = (order + order[: each * ranks - size])[: each * ranks] if not drop_last else order
    return order[: each * ranks][rank::ranks]


# %% wrong my-share: filled up with the last sample
# says: You fill up with the last sample, again and again. The list begins again from its front.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        generator = tg.Generator().manual_seed(seed + epoch)
        order = tg.randperm(size, generator=generator).tolist()
    each = size // ranks if drop_last else -(-size // ranks)
    return [order[min(i, size - 1)] for i in range(rank, each * ranks, ranks)]


# %% wrong my-share: epoch ignored
# says: All epochs have the order of epoch 0. Seed the generator with seed + epoch.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        generator = tg.Generator().manual_seed(seed)
        order = tg.randperm(size, generator=generator).tolist()
    each = size // ranks if drop_last else -(-size // ranks)
    return [order[i % size] for i in range(rank, each * ranks, ranks)]


# %% wrong my-share: the rank in the seed
# says: Each rank shuffles in its own way, so some samples are taken by two ranks and others by
# none. The order must be the same on all: no rank in the seed.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        generator = tg.Generator().manual_seed(seed + epoch + rank)
        order = tg.randperm(size, generator=generator).tolist()
    each = size // ranks if drop_last else -(-size // ranks)
    return [order[i % size] for i in range(rank, each * ranks, ranks)]


# %% wrong my-share: the global generator seeded
# says: The shares are right, but tg.manual_seed sets the random numbers of the whole program back.
# All dropout masks would repeat in each epoch. Use a generator of your own.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        tg.manual_seed(seed + epoch)
        order = tg.randperm(size).tolist()
    each = size // ranks if drop_last else -(-size // ranks)
    return [order[i % size] for i in range(rank, each * ranks, ranks)]


# %% wrong my-share: never seeded
# says: This order comes from the random numbers of each rank itself, which may stand at different
# places. Give randperm a generator seeded with seed + epoch.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = tg.randperm(size).tolist() if shuffle else list(range(size))
    each = size // ranks if drop_last else -(-size // ranks)
    return [order[i % size] for i in range(rank, each * ranks, ranks)]


# %% wrong my-share: drop_last ignored
# says: With drop_last the list is made shorter, so each rank's number is rounded down.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    order = list(range(size))
    if shuffle:
        generator = tg.Generator().manual_seed(seed + epoch)
        order = tg.randperm(size, generator=generator).tolist()
    each = -(-size // ranks)
    return [order[i % size] for i in range(rank, each * ranks, ranks)]


# %% wrong my-share: always shuffled
# says: With shuffle=False the samples keep their order.
def my_share(size, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    generator = tg.Generator().manual_seed(seed + epoch)
    order = tg.randperm(size, generator=generator).tolist()
    each = size // ranks if drop_last else -(-size // ranks)
    return [order[i % size] for i in range(rank, each * ranks, ranks)]


# %% right ring-sum: the two rounds apart
def ring_sum(rows, ring):
    n = len(rows)
    size = len(rows[0]) // n
    own = [list(row) for row in rows]

    def part(number):
        return slice(number % n * size, (number % n + 1) * size)

    for step in range(n - 1):
        for rank in range(n):
            ring.send(rank, own[rank][part(rank - step)])
        for rank in range(n):
            where = part(rank - step - 1)
            own[rank][where] = [a + b for a, b in zip(own[rank][where], ring.receive(rank))]
    for step in range(n - 1):
        for rank in range(n):
            ring.send(rank, own[rank][part(rank + 1 - step)])
        for rank in range(n):
            own[rank][part(rank - step)] = ring.receive(rank)
    return own


# %% right ring-sum: pieces in dicts, and what is held is sent on
def ring_sum(rows, ring):
    n, width = len(rows), len(rows[0]) // len(rows)
    held = []
    for row in rows:
        held.append({k: list(row[k * width : k * width + width]) for k in range(n)})
    last = list(range(n))  # the number of the piece that each rank sends next
    for turn in range(2 * n - 2):
        for r in range(n):
            ring.send(r, held[r][last[r]])
        last = [last[r - 1] for r in range(n)]
        for r in range(n):
            piece = ring.receive(r)
            if turn < n - 1:
                piece = [x + y for x, y in zip(piece, held[r][last[r]])]
            held[r][last[r]] = piece
    return [[value for k in range(n) for value in own[k]] for own in held]


# %% wrong ring-sum: whole rows go round
# says: The sums are right, but each rank sends whole rows, n - 1 of them. Cut them into pieces.
def ring_sum(rows, ring):
    totals, under_way = [list(row) for row in rows], [list(row) for row in rows]
    for _ in range(len(rows) - 1):
        for rank, row in enumerate(under_way):
            ring.send(rank, row)
        under_way = [ring.receive(rank) for rank in range(len(rows))]
        totals = [[a + b for a, b in zip(t, row)] for t, row in zip(totals, under_way)]
    return totals


# %% wrong ring-sum: only the first round
# says: After the first round each rank has one piece that is complete, and the others are not. Pass
# the complete ones on in a second round.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    pieces = [[row[i * size : (i + 1) * size] for i in range(n)] for row in rows]
    for step in range(n - 1):
        for rank in range(n):
            ring.send(rank, pieces[rank][(rank - step) % n])
        for rank in range(n):
            number, piece = (rank - 1 - step) % n, ring.receive(rank)
            pieces[rank][number] = [a + b for a, b in zip(pieces[rank][number], piece)]
    return [[v for piece in own for v in piece] for own in pieces]


# %% wrong ring-sum: added in both rounds
# says: In the second round you add what arrives, so some ranks' numbers count twice. There it
# replaces the own piece.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    pieces = [[row[i * size : (i + 1) * size] for i in range(n)] for row in rows]
    for step in range(2 * (n - 1)):
        for rank in range(n):
            ring.send(rank, pieces[rank][(rank - step) % n])
        for rank in range(n):
            number, piece = (rank - 1 - step) % n, ring.receive(rank)
            pieces[rank][number] = [a + b for a, b in zip(pieces[rank][number], piece)]
    return [[v for piece in own for v in piece] for own in pieces]


# %% wrong ring-sum: replaced in both rounds
# says: No sum gets round. Either what arrives replaces the own piece already in the first round, or
# s is 0 again in the second: then pieces are passed on that aren't complete. There s goes on from
# n − 1.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    pieces = [[row[i * size : (i + 1) * size] for i in range(n)] for row in rows]
    for step in range(2 * (n - 1)):
        for rank in range(n):
            ring.send(rank, pieces[rank][(rank - step) % n])
        for rank in range(n):
            pieces[rank][(rank - 1 - step) % n] = ring.receive(rank)
    return [[v for piece in own for v in piece] for own in pieces]


# %% wrong ring-sum: put where the own piece was sent from
# says: What arrives was sent by rank - 1, so its number is (rank - 1 - step) % n, not that of the
# piece that this rank has just sent.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    pieces = [[row[i * size : (i + 1) * size] for i in range(n)] for row in rows]
    for step in range(2 * (n - 1)):
        for rank in range(n):
            ring.send(rank, pieces[rank][(rank - step) % n])
        for rank in range(n):
            number, piece = (rank - step) % n, ring.receive(rank)
            if step < n - 1:
                piece = [a + b for a, b in zip(pieces[rank][number], piece)]
            pieces[rank][number] = piece
    return [[v for piece in own for v in piece] for own in pieces]


# %% wrong ring-sum: n steps in each round
# says: Each round has n - 1 steps: a piece has then been at all ranks. You make n, so that a piece
# comes back to where it began and is added once more.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    pieces = [[row[i * size : (i + 1) * size] for i in range(n)] for row in rows]
    for step in range(2 * n):
        for rank in range(n):
            ring.send(rank, pieces[rank][(rank - step) % n])
        for rank in range(n):
            number, piece = (rank - 1 - step) % n, ring.receive(rank)
            if step < n:
                piece = [a + b for a, b in zip(pieces[rank][number], piece)]
            pieces[rank][number] = piece
    return [[v for piece in own for v in piece] for own in pieces]


# %% wrong ring-sum: nothing sent
# says: You add rows that a rank can't see. It has its own row and what it receives from the ring.
def ring_sum(rows, ring):
    total = [sum(column) for column in zip(*rows)]
    return [list(total) for _ in rows]


# %% wrong ring-sum: the mean
# says: These are means. The sum is asked for.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    pieces = [[row[i * size : (i + 1) * size] for i in range(n)] for row in rows]
    for step in range(2 * (n - 1)):
        for rank in range(n):
            ring.send(rank, pieces[rank][(rank - step) % n])
        for rank in range(n):
            number, piece = (rank - 1 - step) % n, ring.receive(rank)
            if step < n - 1:
                piece = [a + b for a, b in zip(pieces[rank][number], piece)]
            pieces[rank][number] = piece
    return [[v / n for piece in own for v in piece] for own in pieces]


# %% wrong ring-sum: rows changed
# says: The sums are right, but the lists that you were given have changed. Work on copies.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    for step in range(2 * (n - 1)):
        for rank in range(n):
            first = (rank - step) % n * size
            ring.send(rank, rows[rank][first : first + size])
        for rank in range(n):
            first, piece = (rank - 1 - step) % n * size, ring.receive(rank)
            if step < n - 1:
                piece = [a + b for a, b in zip(rows[rank][first : first + size], piece)]
            rows[rank][first : first + size] = piece
    return rows


# %% right count-sent: by hand
busiest = {"ring": [2 * (n - 1) * (840 // n) for n in (2, 4, 8)], "plain": [840, 2520, 5880]}


# %% right count-sent: as a function
def both_ways(n):
    ring, sent = Ring(n), [0] * n
    rows = [list(range(840)) for _ in range(n)]
    ring_sum(rows, ring)
    plain_sum(rows, sent)
    return sorted(ring.sent)[-1], sorted(sent)[-1]


measured = [both_ways(n) for n in (2, 4, 8)]
busiest = {"ring": [a for a, _ in measured], "plain": [b for _, b in measured]}


# %% right count-sent: a tensor, and a dict by ranks
busiest = {
    "ring": tg.tensor([2 * (n - 1) * 840 // n for n in (2, 4, 8)]),
    "plain": {n: np.int64((n - 1) * 840) for n in (2, 4, 8)},
}


# %% wrong count-sent: all ranks together
# says: These are the numbers that all ranks send together. Ranks send at the same time, so the
# busiest one decides.
busiest = {"ring": [], "plain": []}
for n in (2, 4, 8):
    rows, ring, sent = [[1] * 840 for _ in range(n)], Ring(n), [0] * n
    ring_sum(rows, ring)
    plain_sum(rows, sent)
    busiest["ring"].append(sum(ring.sent))
    busiest["plain"].append(sum(sent))


# %% wrong count-sent: the last rank
# says: This is what the last rank sends. In the plain way rank 0 is the busiest.
busiest = {"ring": [], "plain": []}
for n in (2, 4, 8):
    rows, ring, sent = [[1] * 840 for _ in range(n)], Ring(n), [0] * n
    ring_sum(rows, ring)
    plain_sum(rows, sent)
    busiest["ring"].append(ring.sent[-1])
    busiest["plain"].append(sent[-1])


# %% wrong count-sent: one ring for all
# says: Your counts are those of all runs together: begin each with a new Ring and a new list.
busiest = {"ring": [], "plain": []}
ring_so_far, plain_so_far = 0, 0
for n in (2, 4, 8):
    rows, ring, sent = [[1] * 840 for _ in range(n)], Ring(n), [0] * n
    ring_sum(rows, ring)
    plain_sum(rows, sent)
    ring_so_far, plain_so_far = ring_so_far + max(ring.sent), plain_so_far + max(sent)
    busiest["ring"].append(ring_so_far)
    busiest["plain"].append(plain_so_far)


# %% wrong count-sent: in lists instead of numbers
# says: These count lists of 840 numbers. Give the numbers.
busiest = {"ring": [2 * (n - 1) / n for n in (2, 4, 8)], "plain": [n - 1 for n in (2, 4, 8)]}


# %% wrong count-sent: one round of the ring
# says: The ring has two rounds, one that adds and one that passes on.
busiest = {"ring": [(n - 1) * 840 // n for n in (2, 4, 8)], "plain": [840, 2520, 5880]}


# %% right repair-ranks: with optimizers
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    state = copy.deepcopy(models[0].state_dict())
    for model in models:
        model.load_state_dict(state)
    optimizers = [optim.SGD(model.parameters(), lr=lr) for model in models]
    for epoch in range(epochs):
        orders = []
        for sampler in samplers:
            sampler.set_epoch(epoch)
            orders.append(list(BatchSampler(sampler, size, False)))
        for batches in zip(*orders):
            grads = []
            for model, own in zip(models, batches):
                loss = F.cross_entropy(model(x[own]), y[own])
                grads.append(tg.autograd.grad(loss, list(model.parameters())))
            means = mean_gradients(grads, [len(own) for own in batches])
            for model, optimizer in zip(models, optimizers):
                for parameter, grad in zip(model.parameters(), means):
                    parameter.grad = grad
                optimizer.step()


# %% right repair-ranks: one model trained on the joined batches, then copied
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    first = models[0]
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            places = [place for own in batches for place in own]
            loss = F.cross_entropy(first(x[places]), y[places])
            for p, grad in zip(
                first.parameters(), tg.autograd.grad(loss, list(first.parameters()))
            ):
                p.data -= lr * grad
    for model in models[1:]:
        model.load_state_dict(first.state_dict())


# %% wrong repair-ranks: unequal starts
# says: The models begin with different parameters, and equal steps keep them different. Give all of
# them the state of rank 0 first.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[own]), y[own]) for m, own in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * grad


# %% wrong repair-ranks: averaged twice
# says: The steps are too small by the number of ranks: the mean is taken by mean_gradients, and the
# loss is divided once more.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[o]), y[o]) / len(models) for m, o in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * grad


# %% wrong repair-ranks: no set_epoch
# says: All epochs have the order of epoch 0: call set_epoch(epoch) on each sampler before the
# batches of an epoch.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    for _ in range(epochs):
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[own]), y[own]) for m, own in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * grad


# %% wrong repair-ranks: set_epoch on rank 0 alone
# says: Only rank 0 is told of the epoch. The others keep their old order, so that ranks share
# samples and leave others out. Tell all samplers.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    for epoch in range(epochs):
        samplers[0].set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[own]), y[own]) for m, own in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * grad


# %% wrong repair-ranks: epochs numbered from 1
# says: The orders are those of epochs 1, 2, ...: the first epoch has the number 0.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    for epoch in range(1, epochs + 1):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[own]), y[own]) for m, own in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * grad


# %% wrong repair-ranks: set_epoch after the epoch
# says: set_epoch comes after the batches, so each epoch has the order of the one before. It belongs
# in front of them.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    for epoch in range(epochs):
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[own]), y[own]) for m, own in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * grad
        for sampler in samplers:
            sampler.set_epoch(epoch)


# %% wrong repair-ranks: summed
# says: Now the steps are too large: multiplied by the number of ranks, the mean is a sum. Only the
# second division was wrong.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[own]), y[own]) for m, own in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * len(models) * grad


# %% wrong repair-ranks: the average of the starts
# says: All begin with the mean of the models. They are to begin with the parameters of rank 0, as
# DistributedDataParallel does.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for columns in zip(*(model.parameters() for model in models)):
        mean = sum(p.data for p in columns) / len(columns)
        for p in columns:
            p.data.copy_(mean)
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            losses = [F.cross_entropy(m(x[own]), y[own]) for m, own in zip(models, batches)]
            grads = [tg.autograd.grad(e, list(m.parameters())) for e, m in zip(losses, models)]
            means = mean_gradients(grads, [len(own) for own in batches])
            for model in models:
                for parameter, grad in zip(model.parameters(), means):
                    parameter.data -= lr * grad


# %% wrong repair-ranks: each rank steps alone
# says: Each rank steps with its own gradients, so the models drift apart. All steps use the mean.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        for batches in zip(*(BatchSampler(s, size, False) for s in samplers)):
            for model, own in zip(models, batches):
                loss = F.cross_entropy(model(x[own]), y[own])
                for p, grad in zip(
                    model.parameters(), tg.autograd.grad(loss, list(model.parameters()))
                ):
                    p.data -= lr * grad
