"""Right and wrong answers of lesson 13. The wrong ones must be caught and named."""

# %% right predict-reductions: computed by the library
_p, _t = (
    tg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True),
    tg.tensor([[1.0, 0.0], [3.0, 0.0]]),
)
F.mse_loss(_p, _t).backward()
reductions = {
    "mean": F.mse_loss(_p, _t).item(),
    "sum": F.mse_loss(_p, _t, reduction="sum"),
    "size_average=False": ((_p - _t) ** 2).sum().item(),
    "slope": _p.grad[1, 1].item(),
    "reduce=False, size_average=True": tuple(F.mse_loss(_p, _t, reduction="none").shape),
    "column, row": tuple((tg.zeros(3, 1) - tg.zeros(3)).shape),
}

# %% right predict-reductions: by hand
_errors = [0, 4, 0, 16]
reductions = {
    "mean": sum(_errors) / 4,
    "sum": sum(_errors),
    "size_average=False": sum(_errors),
    "slope": 2 * 4 / 4,
    "reduce=False, size_average=True": [2, 2],
    "column, row": [3, 3],
}

# %% wrong predict-reductions: divided by rows
# says: Your mean divides by the two rows. It divides by all elements, and there are four: the
# shape doesn't matter to it.
reductions = {
    "mean": 10.0,
    "sum": 20.0,
    "size_average=False": 20.0,
    "slope": 4.0,
    "reduce=False, size_average=True": (2, 2),
    "column, row": (3, 3),
}

# %% wrong predict-reductions: errors not squared
# says: You added the errors themselves, 2 and 4. MSELoss squares them first: 4 and 16.
reductions = {
    "mean": 1.5,
    "sum": 6.0,
    "size_average=False": 6.0,
    "slope": 2.0,
    "reduce=False, size_average=True": (2, 2),
    "column, row": (3, 3),
}

# %% wrong predict-reductions: size_average=False keeps the losses
# says: size_average=False still reduces, to the sum. What keeps the single losses is reduce=False.
reductions = {
    "mean": 5.0,
    "sum": 20.0,
    "size_average=False": (2, 2),
    "slope": 2.0,
    "reduce=False, size_average=True": (2, 2),
    "column, row": (3, 3),
}

# %% wrong predict-reductions: size_average wins over reduce
# says: With reduce=False nothing is averaged, whatever size_average says: the losses keep the shape
# (2, 2).
reductions = {
    "mean": 5.0,
    "sum": 20.0,
    "size_average=False": 20.0,
    "slope": 2.0,
    "reduce=False, size_average=True": (),
    "column, row": (3, 3),
}

# %% wrong predict-reductions: the slope of the sum
# says: 8 is the slope of the sum, 2 · (4 − 0). The mean divides it by the four elements, too.
reductions = {
    "mean": 5.0,
    "sum": 20.0,
    "size_average=False": 20.0,
    "slope": 8.0,
    "reduce=False, size_average=True": (2, 2),
    "column, row": (3, 3),
}

# %% wrong predict-reductions: the column fits the row
# says: A (3, 1) and a (3,) tensor are not matched element by element. Broadcasting makes both of
# them (3, 3): every prediction meets every target.
reductions = {
    "mean": 5.0,
    "sum": 20.0,
    "size_average=False": 20.0,
    "slope": 2.0,
    "reduce=False, size_average=True": (2, 2),
    "column, row": (3, 1),
}


# %% right limits: count down from far above
limits = {}
for _name in ("float16", "float32", "float64"):
    _good = {"naive": [], "log": []}
    for _n in range(800, -1, -1):
        _x = tg.tensor([float(_n), 0.0], dtype=getattr(tg, _name))
        for _kind, _y in {"naive": naive_softmax(_x), "log": tg.softmax(_x, 0).log()}.items():
            if not (_y.isinf() | _y.isnan()).any():
                _good[_kind].append(_n)
    limits[_name] = {_kind: max(_found) for _kind, _found in _good.items()}

# %% right limits: halving an interval
limits = {}
for _name in ("float16", "float32", "float64"):
    limits[_name] = {}
    for _kind in ("naive", "log"):
        _low, _high = 0, 1000
        while _high - _low > 1:
            _n = (_low + _high) // 2
            _x = tg.tensor([float(_n), 0.0], dtype=getattr(tg, _name))
            _y = naive_softmax(_x) if _kind == "naive" else tg.softmax(_x, 0).log()
            _low, _high = (_n, _high) if np.isfinite(_y.numpy()).all() else (_low, _n)
        limits[_name][_kind] = _low

# %% wrong limits: the first that fails
# says: Each of your numbers is one too large: it is the first n that fails. The last n that works
# was asked for.
limits = {}
for _name in ("float16", "float32", "float64"):
    limits[_name] = {}
    for _n in range(800, -1, -1):
        _x = tg.tensor([float(_n), 0.0], dtype=getattr(tg, _name))
        for _kind, _y in {"naive": naive_softmax(_x), "log": tg.softmax(_x, 0).log()}.items():
            if not np.isfinite(_y.numpy()).all():
                limits[_name][_kind] = _n

# %% wrong limits: the dtype is left out
# says: All three dtypes have the same limits in your table: tensors of Python numbers are float32
# unless dtype= says otherwise.
_one = {"naive": -1, "log": -1}
for _n in range(200):
    _x = tg.tensor([float(_n), 0.0])
    for _kind, _y in {"naive": naive_softmax(_x), "log": tg.softmax(_x, 0).log()}.items():
        if np.isfinite(_y.numpy()).all():
            _one[_kind] = _n
limits = dict.fromkeys(("float16", "float32", "float64"), _one)

# %% wrong limits: the logarithm of the naive softmax
# says: Your "log" numbers are those of the naive softmax: it fails by overflow before its logarithm
# can. Take the logarithm of tg.softmax.
limits = {
    "float16": {"naive": 11, "log": 11},
    "float32": {"naive": 88, "log": 88},
    "float64": {"naive": 709, "log": 709},
}

# %% wrong limits: log_softmax measured
# says: tg.log_softmax has no limit here, which is the point of section 3. The logarithm of
# tg.softmax was to be measured.
limits = {
    "float16": {"naive": 11, "log": 1000},
    "float32": {"naive": 88, "log": 1000},
    "float64": {"naive": 709, "log": 1000},
}

# %% wrong limits: where the smallest normal number lies
# says: Your "log" numbers come from the smallest normal number of each dtype. Below it there are
# still smaller ones, with fewer digits, and those have a logarithm. Measure.
limits = {
    "float16": {"naive": 11, "log": 9},
    "float32": {"naive": 88, "log": 87},
    "float64": {"naive": 709, "log": 708},
}


# %% right log-softmax: the maximum held constant
def logsumexp(x, dim):
    shift = x.detach().max(dim, keepdim=True)[0]
    return (tg.exp(x - shift).sum(dim, keepdim=True).log() + shift).squeeze(dim)


def log_softmax(x, dim):
    shifted = x - x.max(dim, keepdim=True)[0]
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


# %% right log-softmax: row by row
def logsumexp(x, dim):
    parts = x.unbind(dim)
    highest = parts[0]
    for part in parts[1:]:
        highest = tg.maximum(highest, part)
    return sum((part - highest).exp() for part in parts).log() + highest


def log_softmax(x, dim):
    whole = logsumexp(x, dim)
    return tg.stack([part - whole for part in x.unbind(dim)], dim)


# %% wrong log-softmax: the formula as it stands
# says: exp of a score of 1000 is infinite, and exp of -1000 is 0. Subtract the largest score of
# each row first, and add it again after the logarithm.
def logsumexp(x, dim):
    return x.exp().sum(dim).log()


def log_softmax(x, dim):
    return x - logsumexp(x, dim).unsqueeze(dim)


# %% wrong log-softmax: one maximum for all
# says: You subtract the maximum of the whole tensor. In a row whose scores are all far below it,
# every exponential becomes 0 and the logarithm -inf. Each row needs its own: max(dim).
def logsumexp(x, dim):
    return (x - x.max()).exp().sum(dim).log() + x.max()


def log_softmax(x, dim):
    return x - logsumexp(x, dim).unsqueeze(dim)


# %% wrong log-softmax: the maximum not added again
# says: Your logsumexp is too small by the largest score of each row: what was subtracted before the
# exponential has to be added after the logarithm.
def logsumexp(x, dim):
    return (x - x.max(dim, keepdim=True)[0]).exp().sum(dim).log()


def log_softmax(x, dim):
    return x - logsumexp(x, dim).unsqueeze(dim)


# %% wrong log-softmax: a pair for a maximum
# says: max(dim) returns two things, the largest values and where they were. Take the first, [0], or
# call amax(dim).
def logsumexp(x, dim):
    highest = x.max(dim, keepdim=True)
    return (x - highest).exp().sum(dim).log() + highest.squeeze(dim)


def log_softmax(x, dim):
    return x - logsumexp(x, dim).unsqueeze(dim)


# %% wrong log-softmax: a maximum that has kept its dim
# says: The maximum has kept its dim and the sum has lost it, so adding them broadcasts to a shape
# with one dim too many. Use squeeze(dim) on the maximum, or keepdim=True for both.
def logsumexp(x, dim):
    highest = x.max(dim, keepdim=True)[0]
    return (x - highest).exp().sum(dim).log() + highest


def log_softmax(x, dim):
    shifted = x - x.max(dim, keepdim=True)[0]
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


# %% wrong log-softmax: the logarithm of softmax
# says: Your log_softmax takes the logarithm of finished probabilities. Those that were rounded to 0
# give -inf. Subtract logsumexp from the scores instead.
def logsumexp(x, dim):
    highest = x.max(dim, keepdim=True)[0]
    return (x - highest).exp().sum(dim).log() + highest.squeeze(dim)


def log_softmax(x, dim):
    return tg.softmax(x, dim).log()


# %% wrong log-softmax: without unsqueeze
# says: `x - logsumexp(x, dim)` lines the result up with the last dim of x. For dim 1 of a square
# matrix, row i loses the numbers of all rows. Put the dim back: unsqueeze(dim).
def logsumexp(x, dim):
    highest = x.max(dim, keepdim=True)[0]
    return (x - highest).exp().sum(dim).log() + highest.squeeze(dim)


def log_softmax(x, dim):
    return x - logsumexp(x, dim)


# %% wrong log-softmax: always the last dim
# says: Your functions ignore dim and work along the last one.
def logsumexp(x, dim):
    highest = x.max(-1, keepdim=True)[0]
    return (x - highest).exp().sum(-1).log() + highest.squeeze(-1)


def log_softmax(x, dim):
    return x - logsumexp(x, -1).unsqueeze(-1)


# %% wrong log-softmax: the sign turned
# says: Your log_softmax has the wrong sign: log-probabilities are never positive. It is x minus
# logsumexp.
def logsumexp(x, dim):
    highest = x.max(dim, keepdim=True)[0]
    return (x - highest).exp().sum(dim).log() + highest.squeeze(dim)


def log_softmax(x, dim):
    return logsumexp(x, dim).unsqueeze(dim) - x


# %% wrong log-softmax: detached
# says: The values are right, but no gradient is: a whole logsumexp that is detached counts as a
# constant. Only the maximum may be one.
def logsumexp(x, dim):
    highest = x.max(dim, keepdim=True)[0]
    return (x - highest).exp().sum(dim).log() + highest.squeeze(dim)


def log_softmax(x, dim):
    return x - logsumexp(x.detach(), dim).unsqueeze(dim)


# %% right nll-loss: rows that count, picked by two lists of places
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    losses, factors = [], []
    for row, wanted in zip(log_p, target.tolist()):
        if wanted == ignore_index:
            factor, loss = 0.0, row[0] * 0.0
        else:
            factor = 1.0 if weight is None else weight[wanted].item()
            loss = -row[wanted] * factor
        losses.append(loss)
        factors.append(factor)
    losses = tg.stack(losses)
    if reduction == "none":
        return losses
    return losses.sum() / sum(factors) if reduction == "mean" else losses.sum()


# %% right nll-loss: a product with a one-hot matrix
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    hot = (target.unsqueeze(1) == tg.arange(log_p.shape[1])).to(log_p.dtype)
    hot = hot * (target != ignore_index).to(log_p.dtype).unsqueeze(1)
    if weight is not None:
        hot = hot * weight
    losses = -(log_p * hot).sum(1)
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else total / hot.sum()


# %% wrong nll-loss: divided by the number of samples
# says: With weights or ignored targets your mean is wrong: it divides by the number of samples.
# Divide by the sum of the factors that took part.
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    counts = target != ignore_index
    known = tg.where(counts, target, 0)
    factors = counts.to(log_p.dtype)
    if weight is not None:
        factors = factors * weight[known]
    losses = -log_p.gather(1, known.unsqueeze(1)).squeeze(1) * factors
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


# %% wrong nll-loss: divided by the number that counts
# says: With weights your mean is wrong: it divides by how many samples count. Divide by the sum of
# their weights.
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    counts = target != ignore_index
    known = tg.where(counts, target, 0)
    factors = counts.to(log_p.dtype)
    if weight is not None:
        factors = factors * weight[known]
    losses = -log_p.gather(1, known.unsqueeze(1)).squeeze(1) * factors
    if reduction == "none":
        return losses
    return losses.sum() / counts.sum() if reduction == "mean" else losses.sum()


# %% wrong nll-loss: ignored ones count as class 0
# says: Ignored samples count in your loss: -100 was replaced by the class 0, but the factor 0 that
# takes them out again is missing.
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    known = tg.where(target != ignore_index, target, 0)
    factors = tg.ones(len(target)) if weight is None else weight[known]
    losses = -log_p.gather(1, known.unsqueeze(1)).squeeze(1) * factors
    if reduction == "none":
        return losses
    return losses.sum() / factors.sum() if reduction == "mean" else losses.sum()


# %% wrong nll-loss: -100 written into the code
# says: -100 is only the default: the argument ignore_index may name another target, a class such as
# 0 among them.
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    counts = target != -100
    known = tg.where(counts, target, 0)
    factors = counts.to(log_p.dtype)
    if weight is not None:
        factors = factors * weight[known]
    losses = -log_p.gather(1, known.unsqueeze(1)).squeeze(1) * factors
    if reduction == "none":
        return losses
    return losses.sum() / factors.sum() if reduction == "mean" else losses.sum()


# %% wrong nll-loss: the minus is missing
# says: Your loss is negative: log-probabilities are below 0, and the loss is minus them.
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    counts = target != ignore_index
    known = tg.where(counts, target, 0)
    factors = counts.to(log_p.dtype)
    if weight is not None:
        factors = factors * weight[known]
    losses = log_p.gather(1, known.unsqueeze(1)).squeeze(1) * factors
    if reduction == "none":
        return losses
    return losses.sum() / factors.sum() if reduction == "mean" else losses.sum()


# %% wrong nll-loss: picks whole columns
# says: `log_p[:, target]` takes whole columns: for N samples an N × N table. One entry per row is
# what gather picks, or log_p[range(N), target].
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    counts = target != ignore_index
    known = tg.where(counts, target, 0)
    factors = counts.to(log_p.dtype)
    if weight is not None:
        factors = factors * weight[known]
    losses = -log_p[:, known] * factors
    if reduction == "none":
        return losses
    return losses.sum() / factors.sum() if reduction == "mean" else losses.sum()


# %% wrong nll-loss: ignored ones are cut out of the list
# says: Mean and sum are right, but reduction="none" has lost the places of ignored targets: they
# stand there as 0.
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    counts = target != ignore_index
    log_p, target = log_p[counts], target[counts]
    factors = tg.ones(len(target)) if weight is None else weight[target]
    losses = -log_p.gather(1, target.unsqueeze(1)).squeeze(1) * factors
    if reduction == "none":
        return losses
    return losses.sum() / factors.sum() if reduction == "mean" else losses.sum()


# %% wrong nll-loss: weights by place in the batch
# says: `weight` has an entry for each class, not for each sample: look it up with the target,
# weight[target].
def nll_loss(log_p, target, weight=None, ignore_index=-100, reduction="mean"):
    counts = target != ignore_index
    known = tg.where(counts, target, 0)
    factors = counts.to(log_p.dtype)
    if weight is not None:
        places = tg.arange(len(target)) % len(weight)
        factors = factors * weight[places]
    losses = -log_p.gather(1, known.unsqueeze(1)).squeeze(1) * factors
    if reduction == "none":
        return losses
    return losses.sum() / factors.sum() if reduction == "mean" else losses.sum()


# %% right cross-entropy: the gradient made in forward
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = tg.log_softmax(scores, 1)
        slope = log_p.exp()
        slope[tg.arange(len(target)), target] -= 1
        ctx.save_for_backward(slope / len(target))
        return F.nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        (slope,) = ctx.saved_tensors
        return slope * grad, None


# %% right cross-entropy: computed anew in backward
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        ctx.save_for_backward(scores, target)
        own = scores.gather(1, target.unsqueeze(1)).squeeze(1)
        return (logsumexp(scores, 1) - own).mean()

    @staticmethod
    def backward(ctx, grad):
        scores, target = ctx.saved_tensors
        p = tg.softmax(scores, 1)
        hot = target.unsqueeze(1) == tg.arange(p.shape[1])
        return (p - hot.to(p.dtype)) * (grad / p.shape[0]), None


# %% wrong cross-entropy: not divided by N
# says: For one sample the gradient is right, for several it is N times too large: the loss is a
# mean, so divide by N.
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        return grad * (log_p.exp() - F.one_hot(target, log_p.shape[1])), None


# %% wrong cross-entropy: divided by all elements
# says: You divide by N · C. The mean is over the N samples; the classes were summed.
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        hot = F.one_hot(target, log_p.shape[1])
        return grad * (log_p.exp() - hot) / log_p.numel(), None


# %% wrong cross-entropy: the incoming gradient left out
# says: Your backward ignores `grad`. It is 1 when the loss is the end of the graph; here something
# comes after it.
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        return (log_p.exp() - F.one_hot(target, log_p.shape[1])) / len(target), None


# %% wrong cross-entropy: one-hot minus softmax
# says: The gradient has the wrong sign. A higher score of the true class lowers the loss, so its
# slope is negative: softmax − one-hot.
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        return grad * (F.one_hot(target, log_p.shape[1]) - log_p.exp()) / len(target), None


# %% wrong cross-entropy: log-probabilities for probabilities
# says: You subtract the one-hot row from log-probabilities. The slope has probabilities:
# log_p.exp().
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        return grad * (log_p - F.one_hot(target, log_p.shape[1])) / len(target), None


# %% wrong cross-entropy: only the gradient of nll
# says: This is the slope in the log-probabilities. The classes that are not the target get 0 there;
# in the scores they get their probability, because they stand in the sum.
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        return -grad * F.one_hot(target, log_p.shape[1]) / len(target), None


# %% wrong cross-entropy: as many classes as occur
# says: Without a second argument, one_hot makes no more columns than the highest target needs. A
# batch need not hold the last class: give the number of classes, log_p.shape[1].
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        return grad * (log_p.exp() - F.one_hot(target)) / len(target), None


# %% wrong cross-entropy: one gradient for two arguments
# says: forward takes two arguments, so backward has to return two gradients: that of the scores,
# and None for the targets.
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        log_p = log_softmax(scores, 1)
        ctx.save_for_backward(log_p, target)
        return nll_loss(log_p, target)

    @staticmethod
    def backward(ctx, grad):
        log_p, target = ctx.saved_tensors
        return grad * (log_p.exp() - F.one_hot(target, log_p.shape[1])) / len(target)


# %% wrong cross-entropy: the naive softmax
# says: For scores of any size your value or your gradient is nan: exp of the scores themselves
# overflows. Use your log_softmax.
class CrossEntropy(tg.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        p = scores.exp() / scores.exp().sum(1, keepdim=True)
        ctx.save_for_backward(p, target)
        return nll_loss(p.log(), target)

    @staticmethod
    def backward(ctx, grad):
        p, target = ctx.saved_tensors
        return grad * (p - F.one_hot(target, p.shape[1])) / len(target), None


# %% right repair-average: each mean weighted by what it stands for
def average_loss(scores, target, batch_size, ignore_index=-100):
    total, counted = 0.0, 0
    for x, t in zip(scores.split(batch_size), target.split(batch_size)):
        count = int((t != ignore_index).sum().item())
        if count:
            total += count * F.cross_entropy(x, t, ignore_index=ignore_index).item()
            counted += count
    return total / counted


# %% right repair-average: all single losses
def average_loss(scores, target, batch_size, ignore_index=-100):
    losses = []
    for x, t in zip(scores.split(batch_size), target.split(batch_size)):
        losses.append(F.cross_entropy(x, t, ignore_index=ignore_index, reduction="none"))
    return tg.cat(losses)[target != ignore_index].mean().item()


# %% right repair-average: sums, with the count left as a tensor
def average_loss(scores, target, batch_size, ignore_index=-100):
    total, counted = 0.0, 0
    for x, t in zip(scores.split(batch_size), target.split(batch_size)):
        total += F.cross_entropy(x, t, ignore_index=ignore_index, reduction="sum").item()
        counted += (t != ignore_index).sum()
    return total / counted


# %% wrong repair-average: as it was
# says: This is still a mean of means: the one sample of a short batch counts as much as four of a
# full one.
def average_loss(scores, target, batch_size, ignore_index=-100):
    total, batches = 0.0, 0
    for start in range(0, len(target), batch_size):
        part = slice(start, start + batch_size)
        loss = F.cross_entropy(scores[part], target[part], ignore_index=ignore_index)
        total, batches = total + loss.item(), batches + 1
    return total / batches


# %% wrong repair-average: weighted by the length of the batch
# says: Without ignored targets this is right. With them, a batch's mean stands for the targets that
# count in it, not for its length.
def average_loss(scores, target, batch_size, ignore_index=-100):
    total = 0.0
    for start in range(0, len(target), batch_size):
        part = slice(start, start + batch_size)
        loss = F.cross_entropy(scores[part], target[part], ignore_index=ignore_index)
        total += loss.item() * len(target[part])
    return total / len(target)


# %% wrong repair-average: the sum divided by all targets
# says: The sum is right, but you divide it by all targets, the ignored ones among them.
def average_loss(scores, target, batch_size, ignore_index=-100):
    total = 0.0
    for start in range(0, len(target), batch_size):
        part = slice(start, start + batch_size)
        total += F.cross_entropy(
            scores[part], target[part], ignore_index=ignore_index, reduction="sum"
        ).item()
    return total / len(target)


# %% wrong repair-average: each weighted by what counts, nan times 0
# says: A batch in which nothing counts has the mean nan, and nan times 0 is nan. Leave such a batch
# out, or add up sums.
def average_loss(scores, target, batch_size, ignore_index=-100):
    total, counted = 0.0, 0
    for start in range(0, len(target), batch_size):
        part = slice(start, start + batch_size)
        count = (target[part] != ignore_index).sum().item()
        loss = F.cross_entropy(scores[part], target[part], ignore_index=ignore_index)
        total, counted = total + count * loss.item(), counted + count
    return total / counted


# %% wrong repair-average: sums divided by the number of batches
# says: You add up sums now, but still divide by the number of batches. Divide by the number of
# targets that count.
def average_loss(scores, target, batch_size, ignore_index=-100):
    total, batches = 0.0, 0
    for start in range(0, len(target), batch_size):
        part = slice(start, start + batch_size)
        loss = F.cross_entropy(
            scores[part], target[part], ignore_index=ignore_index, reduction="sum"
        )
        total, batches = total + loss.item(), batches + 1
    return total / batches


# %% wrong repair-average: ignored ones counted as a class
# says: ignore_index is not handed on to cross_entropy, which knows only its own default, -100.
def average_loss(scores, target, batch_size, ignore_index=-100):
    total, counted = 0.0, (target != ignore_index).sum().item()
    for start in range(0, len(target), batch_size):
        part = slice(start, start + batch_size)
        total += F.cross_entropy(scores[part], target[part], reduction="sum").item()
    return total / counted


# %% wrong repair-average: a batch of which nothing counts is left out
# says: Batches in which nothing counts are left out now, but the rest is still a mean of means.
def average_loss(scores, target, batch_size, ignore_index=-100):
    losses = []
    for x, t in zip(scores.split(batch_size), target.split(batch_size)):
        if (t != ignore_index).any():
            losses.append(F.cross_entropy(x, t, ignore_index=ignore_index).item())
    return sum(losses) / len(losses)
