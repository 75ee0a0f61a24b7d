"""Right and wrong answers of lesson 11. The wrong ones must be caught and named."""

import numpy as np

import tinygrad_course as tg
import tinygrad_course.nn as nn
import tinygrad_course.nn.functional as F

# %% right predict-pools: asked of the engine
x, y = tg.tensor([[3.0, 1, 4, 1, 5, 9, 2]]), tg.tensor([[-4.0, -7, -2]])
pools = {
    "max_pool1d(x, 3)": F.max_pool1d(x, 3)[0].int().tolist(),
    "max_pool1d(x, 3, stride=1)": F.max_pool1d(x, 3, stride=1)[0].int().tolist(),
    "max_pool1d(x, 2, ceil_mode=True)": F.max_pool1d(x, 2, ceil_mode=True)[0].int().tolist(),
}
apart, padded = F.max_pool1d(x, 2, stride=1, dilation=2), F.max_pool1d(y, 3, stride=1, padding=1)
pools["max_pool1d(x, 2, stride=1, dilation=2)"] = apart[0].int().tolist()
pools["max_pool1d(y, 3, stride=1, padding=1)"] = padded[0].int().tolist()

# %% right predict-pools: with slices
x, y = [3, 1, 4, 1, 5, 9, 2], [-4, -7, -2]
pools = {
    "max_pool1d(x, 3)": [max(x[i : i + 3]) for i in (0, 3)],
    "max_pool1d(x, 3, stride=1)": [max(x[i : i + 3]) for i in range(5)],
    "max_pool1d(x, 2, ceil_mode=True)": [max(x[i : i + 2]) for i in (0, 2, 4, 6)],
    "max_pool1d(x, 2, stride=1, dilation=2)": [max(x[i], x[i + 2]) for i in range(5)],
    "max_pool1d(y, 3, stride=1, padding=1)": [max(y[:2]), max(y), max(y[1:])],
}

# %% wrong predict-pools: a stride of 1
# says: Where no stride is given it is the kernel size: windows of a pooling lie side by side.
pools = {
    "max_pool1d(x, 3)": [4, 4, 5, 9, 9],
    "max_pool1d(x, 3, stride=1)": [4, 4, 5, 9, 9],
    "max_pool1d(x, 2, ceil_mode=True)": [3, 4, 4, 5, 9, 9],
    "max_pool1d(x, 2, stride=1, dilation=2)": [4, 1, 5, 9, 5],
    "max_pool1d(y, 3, stride=1, padding=1)": [-4, -2, -2],
}

# %% wrong predict-pools: padding of zeros
# says: The padding of a max pooling counts as minus infinity. With zeros a map of negative numbers
# would get zeros on its border.
pools = {
    "max_pool1d(x, 3)": [4, 9],
    "max_pool1d(x, 3, stride=1)": [4, 4, 5, 9, 9],
    "max_pool1d(x, 2, ceil_mode=True)": [3, 4, 9, 2],
    "max_pool1d(x, 2, stride=1, dilation=2)": [4, 1, 5, 9, 5],
    "max_pool1d(y, 3, stride=1, padding=1)": [0, -2, 0],
}

# %% wrong predict-pools: always rounded up
# says: Without ceil_mode the last point of x, which fills no window of 3, is dropped.
pools = {
    "max_pool1d(x, 3)": [4, 9, 2],
    "max_pool1d(x, 3, stride=1)": [4, 4, 5, 9, 9],
    "max_pool1d(x, 2, ceil_mode=True)": [3, 4, 9, 2],
    "max_pool1d(x, 2, stride=1, dilation=2)": [4, 1, 5, 9, 5],
    "max_pool1d(y, 3, stride=1, padding=1)": [-4, -2, -2],
}

# %% wrong predict-pools: never rounded up
# says: ceil_mode keeps the 2 at the end: a last window of one point is counted.
pools = {
    "max_pool1d(x, 3)": [4, 9],
    "max_pool1d(x, 3, stride=1)": [4, 4, 5, 9, 9],
    "max_pool1d(x, 2, ceil_mode=True)": [3, 4, 9],
    "max_pool1d(x, 2, stride=1, dilation=2)": [4, 1, 5, 9, 5],
    "max_pool1d(y, 3, stride=1, padding=1)": [-4, -2, -2],
}

# %% wrong predict-pools: dilation as a wider window
# says: You take the largest of three neighbours. With dilation=2 a window of two reads a point and
# the next but one, and jumps over the one between.
pools = {
    "max_pool1d(x, 3)": [4, 9],
    "max_pool1d(x, 3, stride=1)": [4, 4, 5, 9, 9],
    "max_pool1d(x, 2, ceil_mode=True)": [3, 4, 9, 2],
    "max_pool1d(x, 2, stride=1, dilation=2)": [4, 4, 5, 9, 9],
    "max_pool1d(y, 3, stride=1, padding=1)": [-4, -2, -2],
}


# %% right max-pool: from a picture of the places
def max_pool(x, kernel, stride):
    h, w = x.shape[2:]
    places = tg.arange(h * w).view(h, w).unfold(0, kernel, stride).unfold(1, kernel, stride)
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride)
    values, cell = windows.flatten(4).max(4)
    places = places.flatten(2).expand(*values.shape, kernel * kernel)
    return values, places.gather(4, cell.unsqueeze(4)).squeeze(4)


# %% right max-pool: a running maximum over the cells
def max_pool(x, kernel, stride):
    p, q = ((n - kernel) // stride + 1 for n in x.shape[2:])
    rows, columns = tg.arange(p).view(-1, 1) * stride, tg.arange(q) * stride
    best = where = None
    for i in range(kernel):
        for j in range(kernel):
            seen = x[:, :, i : i + p * stride : stride, j : j + q * stride : stride]
            here = ((rows + i) * x.shape[3] + columns + j).expand(seen.shape)
            if best is None:
                best, where = seen, here
            else:
                better = seen > best
                best, where = tg.where(better, seen, best), tg.where(better, here, where)
    return best, where


# %% wrong max-pool: cells of the window as indices
# says: Your indices count within the window. They have to count in the picture: row · width +
# column.
def max_pool(x, kernel, stride):
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    return windows.max(-1)


# %% wrong max-pool: the height for the width
# says: A step to the next row is a step of the picture's width. You multiply the row by the height.
def max_pool(x, kernel, stride):
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    values, cell = windows.max(-1)
    rows = tg.arange(windows.shape[2]).view(-1, 1) * stride + cell // kernel
    columns = tg.arange(windows.shape[3]) * stride + cell % kernel
    return values, rows * x.shape[2] + columns


# %% wrong max-pool: the width of what comes out
# says: You multiply the row by the width of the pooled map. The indices count in the picture that
# was pooled, so a step to the next row is its width.
def max_pool(x, kernel, stride):
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    values, cell = windows.max(-1)
    p, q = values.shape[2:]
    rows = tg.arange(p).view(-1, 1) * stride + cell // kernel
    return values, rows * q + tg.arange(q) * stride + cell % kernel


# %% wrong max-pool: the kernel for the stride
# says: A window begins at its number times the stride. You take the kernel size; that is the same
# only where the windows lie side by side.
def max_pool(x, kernel, stride):
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    values, cell = windows.max(-1)
    rows = tg.arange(windows.shape[2]).view(-1, 1) * kernel + cell // kernel
    columns = tg.arange(windows.shape[3]) * kernel + cell % kernel
    return values, rows * x.shape[3] + columns


# %% wrong max-pool: counted through the whole batch
# says: Your indices count through all channels and pictures. They begin anew in each channel.
def max_pool(x, kernel, stride):
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    values, cell = windows.max(-1)
    rows = tg.arange(windows.shape[2]).view(-1, 1) * stride + cell // kernel
    columns = tg.arange(windows.shape[3]) * stride + cell % kernel
    n, c, h, w = x.shape
    return values, rows * w + columns + tg.arange(n * c).view(n, c, 1, 1) * h * w


# %% wrong max-pool: row and column of the cell exchanged
# says: Within the window you take row and column for each other: the row is cell // kernel, the
# column cell % kernel.
def max_pool(x, kernel, stride):
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    values, cell = windows.max(-1)
    rows = tg.arange(windows.shape[2]).view(-1, 1) * stride + cell % kernel
    columns = tg.arange(windows.shape[3]) * stride + cell // kernel
    return values, rows * x.shape[3] + columns


# %% wrong max-pool: the last of equal numbers
# says: On equal numbers you take the last one; the first one wins. Ask whether a number is greater
# than the best so far, not whether it is as great.
def max_pool(x, kernel, stride):
    p, q = ((n - kernel) // stride + 1 for n in x.shape[2:])
    rows, columns = tg.arange(p).view(-1, 1) * stride, tg.arange(q) * stride
    best = where = None
    for i in range(kernel):
        for j in range(kernel):
            seen = x[:, :, i : i + p * stride : stride, j : j + q * stride : stride]
            here = ((rows + i) * x.shape[3] + columns + j).expand(seen.shape)
            if best is None:
                best, where = seen, here
            else:
                better = seen >= best
                best, where = tg.where(better, seen, best), tg.where(better, here, where)
    return best, where


# %% wrong max-pool: the mean
# says: These are the means of the windows. The largest number of each is wanted.
def max_pool(x, kernel, stride):
    windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    cell = windows.max(-1)[1]
    rows = tg.arange(windows.shape[2]).view(-1, 1) * stride + cell // kernel
    columns = tg.arange(windows.shape[3]) * stride + cell % kernel
    return windows.mean(-1), rows * x.shape[3] + columns


# %% wrong max-pool: cut off from the graph
# says: Values and indices are right, but x gets no gradient: you took the values out of the graph.
def max_pool(x, kernel, stride):
    windows = x.detach().unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
    values, cell = windows.max(-1)
    rows = tg.arange(windows.shape[2]).view(-1, 1) * stride + cell // kernel
    columns = tg.arange(windows.shape[3]) * stride + cell % kernel
    return values, rows * x.shape[3] + columns


# %% right normalise: through a matrix with a row for each channel
def normalise(x, running_mean, running_var, training, eps=1e-5):
    n, c, h, w = x.shape
    rows = x.transpose(0, 1).reshape(c, -1)
    mean, var = running_mean, running_var
    if training:
        mean = rows.mean(1)
        var = ((rows - mean[:, None]) ** 2).mean(1)
    rows = (rows - mean[:, None]) / tg.sqrt(var[:, None] + eps)
    return rows.view(c, n, h, w).transpose(0, 1)


# %% right normalise: channel by channel
def normalise(x, running_mean, running_var, training, eps=1e-5):
    parts = []
    for channel in range(x.shape[1]):
        part, mean, var = x[:, channel], running_mean[channel], running_var[channel]
        if training:
            mean, var = part.mean(), part.var(unbiased=False)
        parts.append((part - mean) * (var + eps) ** -0.5)
    return tg.stack(parts, 1)


# %% wrong normalise: the axes as they were
# says: Variance and modes are mended. The mean is still taken over each picture alone; it has to go
# over the batch as well: axes 0, 2 and 3.
def normalise(x, running_mean, running_var, training, eps=1e-5):
    if training:
        mean, var = x.mean((2, 3), keepdim=True), x.var((2, 3), unbiased=False, keepdim=True)
    else:
        mean, var = running_mean.view(1, -1, 1, 1), running_var.view(1, -1, 1, 1)
    return (x - mean) / (var + eps).sqrt()


# %% wrong normalise: the variance as it was
# says: Axes and modes are mended. The variance is still divided by n - 1; the batch is normalised
# by the plain one.
def normalise(x, running_mean, running_var, training, eps=1e-5):
    mean, var = running_mean, running_var
    if training:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    return (x - mean.view(1, -1, 1, 1)) / (var.view(1, -1, 1, 1) + eps).sqrt()


# %% wrong normalise: the modes as they were
# says: In training it is right. In use the running statistics are to be taken, and yours takes
# those of the batch in both modes.
def normalise(x, running_mean, running_var, training, eps=1e-5):
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
    return (x - mean.view(1, -1, 1, 1)) / (var.view(1, -1, 1, 1) + eps).sqrt()


# %% wrong normalise: the modes exchanged
# says: The modes are exchanged: in training the batch's own statistics count, in use the running
# ones.
def normalise(x, running_mean, running_var, training, eps=1e-5):
    mean, var = running_mean, running_var
    if not training:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
    return (x - mean.view(1, -1, 1, 1)) / (var.view(1, -1, 1, 1) + eps).sqrt()


# %% wrong normalise: over the batch only
# says: You take a mean for each point. All points of a channel share one: axes 0, 2 and 3.
def normalise(x, running_mean, running_var, training, eps=1e-5):
    if training:
        mean, var = x.mean(0, keepdim=True), x.var(0, unbiased=False, keepdim=True)
    else:
        mean, var = running_mean.view(1, -1, 1, 1), running_var.view(1, -1, 1, 1)
    return (x - mean) / (var + eps).sqrt()


# %% wrong normalise: one mean for everything
# says: You take one mean for all channels. Each channel has its own.
def normalise(x, running_mean, running_var, training, eps=1e-5):
    if training:
        mean, var = x.mean(), x.var(unbiased=False)
    else:
        mean, var = running_mean.view(1, -1, 1, 1), running_var.view(1, -1, 1, 1)
    return (x - mean) / (var + eps).sqrt()


# %% wrong normalise: the mean along the columns
# says: A tensor of shape (C,) goes with the last axis of x, which are the columns. To go with the
# channels it needs view(1, -1, 1, 1).
def normalise(x, running_mean, running_var, training, eps=1e-5):
    mean, var = running_mean, running_var
    if training:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
    return (x - mean) / (var + eps).sqrt()


# %% wrong normalise: eps outside the root
# says: eps is added to the variance, under the root. You add it to the root.
def normalise(x, running_mean, running_var, training, eps=1e-5):
    mean, var = running_mean, running_var
    if training:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
    return (x - mean.view(1, -1, 1, 1)) / (var.view(1, -1, 1, 1).sqrt() + eps)


# %% right predict-running: tried out
layer = nn.BatchNorm2d(1, affine=False)
layer(tg.tensor([8.0, 12.0]).view(2, 1, 1, 1))
layer.eval()
layer(tg.tensor([100.0]).view(1, 1, 1, 1))
running = {name: buffer.item() for name, buffer in layer.named_buffers()}
running["parameters"] = len(list(layer.parameters()))

# %% right predict-running: worked out
running = {
    "running_mean": 0.9 * 0 + 0.1 * (8 + 12) / 2,
    "running_var": 0.9 * 1 + 0.1 * ((8 - 10) ** 2 + (12 - 10) ** 2) / (2 - 1),
    "num_batches_tracked": 1,
    "parameters": 0,
}

# %% right predict-running: the buffers as lists and as tensors
running = {"running_mean": [1.0], "running_var": tg.tensor([1.7]), "num_batches_tracked": 1}
running["parameters"] = 0

# %% wrong predict-running: the plain variance
# says: The running variance is kept with n - 1: the squares 4 + 4 are divided by 1, and not by 2.
running = {"running_mean": 1.0, "running_var": 1.3, "num_batches_tracked": 1, "parameters": 0}

# %% wrong predict-running: momentum the other way round
# says: momentum is the share of the new batch. Your values keep a tenth of the old and take nine
# tenths of the new.
running = {"running_mean": 9.0, "running_var": 7.3, "num_batches_tracked": 1, "parameters": 0}

# %% wrong predict-running: eval updates as well
# says: After eval() nothing is updated. The 100 leaves no trace in the buffers.
running = {"running_mean": 10.9, "running_var": 1.7, "num_batches_tracked": 2, "parameters": 0}

# %% wrong predict-running: a weight and a bias
# says: affine=False leaves weight and bias out, and the running statistics are buffers. So the
# layer has no parameters at all.
running = {"running_mean": 1.0, "running_var": 1.7, "num_batches_tracked": 1, "parameters": 2}

# %% wrong predict-running: replaced by the batch
# says: These are the statistics of the batch. The running ones go a tenth of the way to them.
running = {"running_mean": 10.0, "running_var": 8.0, "num_batches_tracked": 1, "parameters": 0}

# %% wrong predict-running: started at zero
# says: The running variance begins at 1, not at 0, and nine tenths of that stay.
running = {"running_mean": 1.0, "running_var": 0.8, "num_batches_tracked": 1, "parameters": 0}


# %% right batch-norm: x saved, everything else computed again
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        mean, var = x.mean((0, 2, 3), keepdim=True), x.var((0, 2, 3), False, keepdim=True)
        scale = weight.reshape(1, -1, 1, 1) / (var + eps).sqrt()
        return (x - mean) * scale + bias.reshape(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        axes, n = (0, 2, 3), x.numel() // x.shape[1]
        centred = x - x.mean(axes, keepdim=True)
        r = ((centred**2).mean(axes, keepdim=True) + ctx.eps) ** -0.5
        h = g * weight.reshape(1, -1, 1, 1)
        direct = h * r
        by_var = (h * centred).sum(axes, keepdim=True) * -0.5 * r**3 * 2 * centred / n
        by_mean = -(h * r).sum(axes, keepdim=True) / n
        return direct + by_var + by_mean, (g * centred * r).sum(axes), g.sum(axes), None


# %% right batch-norm: on a matrix with a row for each channel
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        n, c, h, w = x.shape
        rows = x.transpose(0, 1).reshape(c, -1)
        rows = rows - rows.mean(1, keepdim=True)
        r = ((rows * rows).mean(1, keepdim=True) + eps) ** -0.5
        ctx.save_for_backward(rows * r, r, weight)
        rows = rows * r * weight[:, None] + bias[:, None]
        return rows.reshape(c, n, h, w).transpose(0, 1)

    @staticmethod
    def backward(ctx, g):
        rows, r, weight = ctx.saved_tensors
        n, c, h, w = g.shape
        g = g.transpose(0, 1).reshape(c, -1)
        gw, gb, d = (g * rows).sum(1), g.sum(1), weight[:, None] * g
        gx = r * (d - d.mean(1, keepdim=True) - rows * (d * rows).mean(1, keepdim=True))
        return gx.reshape(c, n, h, w).transpose(0, 1), gw, gb, None


# %% wrong batch-norm: mean and variance as constants
# says: You treat mean and variance as constants, so only the direct way is there. They depend on
# every number of the channel: two more terms.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, r, weight), axes = ctx.saved_tensors, (0, 2, 3)
        gx = r * g * weight.view(1, -1, 1, 1)
        return gx, (g * normal).sum(axes), g.sum(axes), None


# %% wrong batch-norm: the way through the variance missing
# says: The term of the mean is there, that of the variance is missing: x̂ times the mean of h · x̂.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, r, weight), axes = ctx.saved_tensors, (0, 2, 3)
        h = g * weight.view(1, -1, 1, 1)
        gx = r * (h - h.mean(axes, True))
        return gx, (g * normal).sum(axes), g.sum(axes), None


# %% wrong batch-norm: means over everything
# says: Your two means are over the whole tensor, h.mean(). Each channel has its own: over the axes
# 0, 2 and 3.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        mean, var = x.mean((0, 2, 3), True), x.var((0, 2, 3), unbiased=False, keepdim=True)
        normal = (x - mean) / (var + eps).sqrt()
        ctx.save_for_backward(normal, (var + eps).rsqrt(), weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        normal, r, weight = ctx.saved_tensors
        h = g * weight.view(1, -1, 1, 1)
        gx = r * (h - h.mean() - normal * (h * normal).mean())
        return gx, (g * normal).sum((0, 2, 3)), g.sum((0, 2, 3)), None


# %% wrong batch-norm: the weight left out of x's gradient
# says: The gradient that reaches x̂ is γ · g. In the gradient of x you use g itself.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, r, _), axes = ctx.saved_tensors, (0, 2, 3)
        gx = r * (g - g.mean(axes, True) - normal * (g * normal).mean(axes, True))
        return gx, (g * normal).sum(axes), g.sum(axes), None


# %% wrong batch-norm: without the factor r
# says: The bracket is right. The factor r before it is missing: x̂ is x stretched by r, so its slope
# is r as well.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, _, weight), axes = ctx.saved_tensors, (0, 2, 3)
        h = g * weight.view(1, -1, 1, 1)
        gx = h - h.mean(axes, True) - normal * (h * normal).mean(axes, True)
        return gx, (g * normal).sum(axes), g.sum(axes), None


# %% wrong batch-norm: sums for means
# says: In the gradient of x you take sums where the formula has means.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, r, weight), axes = ctx.saved_tensors, (0, 2, 3)
        h = g * weight.view(1, -1, 1, 1)
        gx = r * (h - h.sum(axes, True) - normal * (h * normal).sum(axes, True))
        return gx, (g * normal).sum(axes), g.sum(axes), None


# %% wrong batch-norm: means for the parameters
# says: The gradients of weight and bias are sums: all numbers of the channel use the same γ and β.
# You take means.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, r, weight), axes = ctx.saved_tensors, (0, 2, 3)
        h = g * weight.view(1, -1, 1, 1)
        gx = r * (h - h.mean(axes, True) - normal * (h * normal).mean(axes, True))
        return gx, (g * normal).mean(axes), g.mean(axes), None


# %% wrong batch-norm: x in the place of x̂
# says: You saved x and use it in backward where the formula has x̂, the normalised numbers.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(x, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (x, r, weight), axes = ctx.saved_tensors, (0, 2, 3)
        h = g * weight.view(1, -1, 1, 1)
        gx = r * (h - h.mean(axes, True) - x * (h * x).mean(axes, True))
        return gx, (g * x).sum(axes), g.sum(axes), None


# %% wrong batch-norm: the variance with n - 1
# says: Your forward divides the variance by n - 1, as `var` does by itself. The batch is normalised
# by the plain one, and for that one the gradient is meant.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, r, weight), axes = ctx.saved_tensors, (0, 2, 3)
        h = g * weight.view(1, -1, 1, 1)
        gx = r * (h - h.mean(axes, True) - normal * (h * normal).mean(axes, True))
        return gx, (g * normal).sum(axes), g.sum(axes), None


# %% wrong batch-norm: three gradients for four arguments
# says: forward has four arguments, so backward returns four gradients; the one of eps is None.
class Norm(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        r = (x.var((0, 2, 3), unbiased=False, keepdim=True) + eps).rsqrt()
        normal = (x - x.mean((0, 2, 3), keepdim=True)) * r
        ctx.save_for_backward(normal, r, weight)
        return normal * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, g):
        (normal, r, weight), axes = ctx.saved_tensors, (0, 2, 3)
        h = g * weight.view(1, -1, 1, 1)
        gx = r * (h - h.mean(axes, True) - normal * (h * normal).mean(axes, True))
        return gx, (g * normal).sum(axes), g.sum(axes)


# %% right reach: compared in NumPy
before = tg.arange(96.0).view(2, 3, 4, 4).sin()
after = before.clone()
after[0, 1, 1, 1] += 10
reach = {}
for name in fresh:
    layer = fresh[name]()
    one, two = layer(before).detach().numpy(), layer(after).detach().numpy()
    reach[name] = int(np.count_nonzero(one != two))

# %% right reach: reasoned
reach = {"MaxPool2d(2)": 1, "MaxPool2d(2, stride=1)": 2 * 2, "Softmax2d": 3}
reach |= {"BatchNorm2d, train": 2 * 4 * 4, "BatchNorm2d, eval": 1}

# %% right reach: sums left as tensors
before = tg.arange(96.0).view(2, 3, 4, 4).sin()
after = before.clone()
after[0, 1, 1, 1] += 10
reach = {name: (make()(before) != make()(after)).sum() for name, make in fresh.items()}

# %% wrong reach: batch norm of one picture
# says: In training batch norm takes the channel's mean over the whole batch, so the second picture
# changes, too: 2 · 16 numbers.
reach = {"MaxPool2d(2)": 1, "MaxPool2d(2, stride=1)": 4, "Softmax2d": 3}
reach |= {"BatchNorm2d, train": 16, "BatchNorm2d, eval": 1}

# %% wrong reach: eval as train
# says: In use the layer takes its running statistics, which the batch doesn't change. So each
# number reaches its own output only.
reach = {"MaxPool2d(2)": 1, "MaxPool2d(2, stride=1)": 4, "Softmax2d": 3}
reach |= {"BatchNorm2d, train": 32, "BatchNorm2d, eval": 32}

# %% wrong reach: softmax over the picture
# says: Softmax2d goes over the channels of one point. You count the points of the picture.
reach = {"MaxPool2d(2)": 1, "MaxPool2d(2, stride=1)": 4, "Softmax2d": 16}
reach |= {"BatchNorm2d, train": 32, "BatchNorm2d, eval": 1}

# %% wrong reach: every number changes alone
# says: You count one output for each layer. With a stride of 1 four windows see the point, softmax
# divides by a sum over the channels, and batch norm takes a mean of the batch.
reach = {"MaxPool2d(2)": 1, "MaxPool2d(2, stride=1)": 1, "Softmax2d": 1}
reach |= {"BatchNorm2d, train": 1, "BatchNorm2d, eval": 1}

# %% wrong reach: what stays the same
# says: You count the outputs that are equal. Those that differ are wanted.
before = tg.arange(96.0).view(2, 3, 4, 4).sin()
after = before.clone()
after[0, 1, 1, 1] += 10
reach = {}
for name, make in fresh.items():
    layer = make()
    reach[name] = (layer(before) == layer(after)).sum().item()

# %% wrong reach: all channels
# says: Batch norm keeps the channels apart: a change in one of them reaches no other.
reach = {"MaxPool2d(2)": 1, "MaxPool2d(2, stride=1)": 4, "Softmax2d": 3}
reach |= {"BatchNorm2d, train": 96, "BatchNorm2d, eval": 1}
