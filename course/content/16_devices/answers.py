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


# %% wrong ring-sum: received before all have sent
# says: A rank receives before the one behind it has sent: nothing is under way yet. In each step
# first all send, in a loop of its own, then all receive.
def ring_sum(rows, ring):
    n, size = len(rows), len(rows[0]) // len(rows)
    pieces = [[row[i * size : (i + 1) * size] for i in range(n)] for row in rows]
    for step in range(2 * (n - 1)):
        for rank in range(n):
            ring.send(rank, pieces[rank][(rank - step) % n])
            number, piece = (rank - 1 - step) % n, ring.receive(rank)
            if step < n - 1:
                piece = [a + b for a, b in zip(pieces[rank][number], piece)]
            pieces[rank][number] = piece
    return [[v for piece in own for v in piece] for own in pieces]


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


# %% wrong repair-ranks: new models in the list
# says: Copies were put into the list. The models that the caller holds are still what they were:
# load the state of rank 0 into them.
def train_ranks(models, samplers, x, y, epochs, size, lr=0.1):
    for rank in range(1, len(models)):
        models[rank] = copy.deepcopy(models[0])
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
