"""Right and wrong answers of lesson 10. The wrong ones must be caught and named."""

import numpy as np

import tinygrad_course as tg
import tinygrad_course.nn.functional as F

# %% right predict-impulse: asked of the engine
x, w, impulse = tg.tensor([[0.0, 0, 1, 0, 0]]), tg.tensor([[[1.0, 2, 3]]]), {}
impulse["as it is"] = F.conv1d(x, w)[0].int().tolist()
impulse["padding=1"] = F.conv1d(x, w, padding=1)[0].int().tolist()
impulse["padding=1, stride=2"] = F.conv1d(x, w, padding=1, stride=2)[0].int().tolist()
impulse["dilation=2"] = F.conv1d(x, w, dilation=2)[0].int().tolist()

# %% right predict-impulse: by NumPy's correlation, as tuples
full = np.correlate([0, 0, 1, 0, 0], [1, 2, 3], "same").tolist()
impulse = {"as it is": tuple(full[1:-1]), "padding=1": tuple(full)}
impulse |= {"padding=1, stride=2": tuple(full[::2]), "dilation=2": (2,)}

# %% right predict-impulse: as tensors, the last as a number
impulse = {"as it is": tg.tensor([3, 2, 1]), "padding=1": tg.tensor([0.0, 3, 2, 1, 0])}
impulse |= {"padding=1, stride=2": np.array([0, 2, 0]), "dilation=2": 2}

# %% wrong predict-impulse: the kernel turned round
# says: This is the convolution of mathematics, which turns the kernel round first. Here the first
# weight meets the first point of the window, so in the first window, 0 0 1, the 1 meets the 3.
impulse = {
    "as it is": [1, 2, 3],
    "padding=1": [0, 1, 2, 3, 0],
    "padding=1, stride=2": [0, 2, 0],
    "dilation=2": [2],
}

# %% wrong predict-impulse: padding at one end only
# says: padding=1 puts a zero at each end, two in all. You added one at the end.
impulse = {
    "as it is": [3, 2, 1],
    "padding=1": [3, 2, 1, 0],
    "padding=1, stride=2": [3, 1],
    "dilation=2": [2],
}

# %% wrong predict-impulse: padded without being asked
# says: Without padding the kernel stays inside the input: it fits on 5 points in 3 places.
impulse = {
    "as it is": [0, 3, 2, 1, 0],
    "padding=1": [0, 0, 3, 2, 1, 0, 0],
    "padding=1, stride=2": [0, 3, 1, 0],
    "dilation=2": [3, 0, 2, 0, 1],
}

# %% wrong predict-impulse: the stride begins at the second place
# says: The first window stands at the very beginning, whatever the stride. Of the five places of
# padding=1 the stride of 2 takes the first, the third and the fifth.
impulse = {
    "as it is": [3, 2, 1],
    "padding=1": [0, 3, 2, 1, 0],
    "padding=1, stride=2": [3, 1],
    "dilation=2": [2],
}

# %% wrong predict-impulse: dilation changes nothing
# says: With dilation=2 the kernel reads the points 0, 2 and 4. It spans all five and has one place
# only.
impulse = {
    "as it is": [3, 2, 1],
    "padding=1": [0, 3, 2, 1, 0],
    "padding=1, stride=2": [0, 2, 0],
    "dilation=2": [3, 2, 1],
}

# %% wrong predict-impulse: dilation taken for a stride
# says: Under dilation=2 you moved the kernel by two points. That is the stride. Dilation pulls the
# points of the kernel apart.
impulse = {
    "as it is": [3, 2, 1],
    "padding=1": [0, 3, 2, 1, 0],
    "padding=1, stride=2": [0, 2, 0],
    "dilation=2": [3, 1],
}


# %% right output-size: counted
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    last_start = length + 2 * padding - dilation * (kernel - 1) - 1
    return len(range(0, last_start + 1, stride))


# %% right output-size: rounded down by the floor of a quotient
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    free = length + 2 * padding - dilation * (kernel - 1) - 1
    return int(np.floor(free / stride + 1))


# %% wrong output-size: padding counted once
# says: The padding is put at both ends, so it counts twice.
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    return (length + padding - dilation * (kernel - 1) - 1) // stride + 1


# %% wrong output-size: dilation times the kernel
# says: Between k points there are k - 1 gaps. The reach is dilation * (kernel - 1) + 1; you have
# dilation * kernel.
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    return (length + 2 * padding - dilation * kernel) // stride + 1


# %% wrong output-size: the first place forgotten
# says: The quotient counts the steps. There is one place more than steps: the one at the start.
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    return (length + 2 * padding - dilation * (kernel - 1) - 1) // stride


# %% wrong output-size: rounded up
# says: You round up. A last step that leads past the end isn't made, so round down.
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    return -(-(length + 2 * padding - dilation * (kernel - 1) - 1) // stride) + 1


# %% wrong output-size: not rounded
# says: Some of your sizes are fractions. Round down: `//` does.
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    return (length + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1


# %% wrong output-size: dilation ignored
# says: Your kernel always spans as many points as it has. With dilation d the k points span
# d * (k - 1) + 1.
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    return (length + 2 * padding - kernel) // stride + 1


# %% wrong output-size: everything divided
# says: You add 1 before you divide. Divide the number of points left over by the stride, then add
# the first place.
def output_size(length, kernel, stride=1, padding=0, dilation=1):
    return (length + 2 * padding - dilation * (kernel - 1)) // stride


# %% right grouped: with chunk
def grouped(x, weight, groups):
    pairs = zip(x.chunk(groups, 1), weight.chunk(groups, 0))
    return tg.cat([F.conv2d(channels, kernels) for channels, kernels in pairs], dim=1)


# %% right grouped: one convolution with zeros for the channels of other groups
def grouped(x, weight, groups):
    outputs, inputs = weight.shape[0] // groups, weight.shape[1]
    full = tg.zeros(weight.shape[0], x.shape[1], *weight.shape[2:])
    for j in range(weight.shape[0]):
        first = j // outputs * inputs
        full[j, first : first + inputs] = weight[j]
    return F.conv2d(x, full)


# %% wrong grouped: as it was, summed
# says: The sum adds the outputs of different groups to each other. They are different channels: put
# them one after the other, with tg.cat along axis 1.
def grouped(x, weight, groups):
    inputs, outputs = x.shape[1] // groups, len(weight) // groups
    parts = []
    for group in range(groups):
        channels = x[:, group * inputs : (group + 1) * inputs]
        parts.append(F.conv2d(channels, weight[group * outputs : (group + 1) * outputs]))
    return sum(parts)


# %% wrong grouped: input channels dealt in turn
# says: With two groups and four input channels, yours read 0, 2 and 1, 3. A group is a stretch of
# neighbours: 0, 1 and 2, 3.
def grouped(x, weight, groups):
    outputs, parts = len(weight) // groups, []
    for group in range(groups):
        kernels = weight[group * outputs : (group + 1) * outputs]
        parts.append(F.conv2d(x[:, group::groups], kernels))
    return tg.cat(parts, 1)


# %% wrong grouped: kernels dealt in turn
# says: The input channels are right. The kernels, too, belong to the groups in stretches of
# neighbours; yours are dealt in turn, so outputs stand in the wrong place.
def grouped(x, weight, groups):
    inputs, parts = x.shape[1] // groups, []
    for group in range(groups):
        channels = x[:, group * inputs : (group + 1) * inputs]
        parts.append(F.conv2d(channels, weight[group::groups]))
    return tg.cat(parts, 1)


# %% wrong grouped: both dealt in turn
# says: The sum is mended, but channels and kernels are still dealt in turn. Both belong to the
# groups in stretches of neighbours.
def grouped(x, weight, groups):
    parts = [F.conv2d(x[:, group::groups], weight[group::groups]) for group in range(groups)]
    return tg.cat(parts, 1)


# %% wrong grouped: kernels cut like the input
# says: You cut the kernels into stretches as long as those of the input. A group has
# len(weight) // groups kernels, which may be more or fewer than its input channels.
def grouped(x, weight, groups):
    n, parts = x.shape[1] // groups, []
    for group in range(groups):
        part = slice(group * n, (group + 1) * n)
        parts.append(F.conv2d(x[:, part], weight[part]))
    return tg.cat(parts, 1)


# %% wrong grouped: joined along the batch
# says: You join the parts along the axis of the pictures. Axis 1 holds the channels.
def grouped(x, weight, groups):
    inputs, outputs = x.shape[1] // groups, len(weight) // groups
    parts = []
    for group in range(groups):
        channels = x[:, group * inputs : (group + 1) * inputs]
        parts.append(F.conv2d(channels, weight[group * outputs : (group + 1) * outputs]))
    return tg.cat(parts, 0)


# %% right predict-shapes: asked of the engine
x, shapes = tg.zeros(2, 8, 16, 16), {}
shapes["Conv2d(8, 4, 5)(x)"] = nn.Conv2d(8, 4, 5)(x).shape
shapes["Conv2d(8, 4, 3, stride=2, padding=1)(x)"] = nn.Conv2d(8, 4, 3, 2, 1)(x).shape
shapes["Conv2d(8, 4, 3, padding=1, dilation=2)(x)"] = nn.Conv2d(8, 4, 3, 1, 1, 2)(x).shape
shapes["Conv2d(8, 24, 3, groups=8).weight"] = nn.Conv2d(8, 24, 3, groups=8).weight.shape
shapes["Conv2d(8, 24, 3, groups=4).weight"] = nn.Conv2d(8, 24, 3, groups=4).weight.shape
shapes["Conv2d(3, 8, 1)(x)"] = "Error"

# %% right predict-shapes: worked out
shapes = {
    "Conv2d(8, 4, 5)(x)": [2, 4, 16 - 4, 16 - 4],
    "Conv2d(8, 4, 3, stride=2, padding=1)(x)": [2, 4, 15 // 2 + 1, 15 // 2 + 1],
    "Conv2d(8, 4, 3, padding=1, dilation=2)(x)": [2, 4, 18 - 4, 18 - 4],
    "Conv2d(8, 24, 3, groups=8).weight": [24, 8 // 8, 3, 3],
    "Conv2d(8, 24, 3, groups=4).weight": [24, 8 // 4, 3, 3],
    "Conv2d(3, 8, 1)(x)": "error",
}

# %% wrong predict-shapes: groups left out of the weight
# says: With groups each kernel reads only the channels of its own group, so the second size of the
# weight is in / groups.
shapes = {
    "Conv2d(8, 4, 5)(x)": (2, 4, 12, 12),
    "Conv2d(8, 4, 3, stride=2, padding=1)(x)": (2, 4, 8, 8),
    "Conv2d(8, 4, 3, padding=1, dilation=2)(x)": (2, 4, 14, 14),
    "Conv2d(8, 24, 3, groups=8).weight": (24, 8, 3, 3),
    "Conv2d(8, 24, 3, groups=4).weight": (24, 8, 3, 3),
    "Conv2d(3, 8, 1)(x)": "error",
}

# %% wrong predict-shapes: the outputs divided by the groups
# says: You divided the output channels of the weight by the groups. There is a kernel for each
# output channel; what shrinks is the number of input channels that it reads.
shapes = {
    "Conv2d(8, 4, 5)(x)": (2, 4, 12, 12),
    "Conv2d(8, 4, 3, stride=2, padding=1)(x)": (2, 4, 8, 8),
    "Conv2d(8, 4, 3, padding=1, dilation=2)(x)": (2, 4, 14, 14),
    "Conv2d(8, 24, 3, groups=8).weight": (3, 8, 3, 3),
    "Conv2d(8, 24, 3, groups=4).weight": (6, 8, 3, 3),
    "Conv2d(3, 8, 1)(x)": "error",
}

# %% wrong predict-shapes: inputs before outputs
# says: In the weight of a Conv2d the output channels come first. The other way round is that of
# ConvTranspose2d.
shapes = {
    "Conv2d(8, 4, 5)(x)": (2, 4, 12, 12),
    "Conv2d(8, 4, 3, stride=2, padding=1)(x)": (2, 4, 8, 8),
    "Conv2d(8, 4, 3, padding=1, dilation=2)(x)": (2, 4, 14, 14),
    "Conv2d(8, 24, 3, groups=8).weight": (1, 24, 3, 3),
    "Conv2d(8, 24, 3, groups=4).weight": (2, 24, 3, 3),
    "Conv2d(3, 8, 1)(x)": "error",
}

# %% wrong predict-shapes: dilation does not count
# says: With dilation 2 a kernel of 3 spans 5 points, so a padding of 1 doesn't keep the size.
shapes = {
    "Conv2d(8, 4, 5)(x)": (2, 4, 12, 12),
    "Conv2d(8, 4, 3, stride=2, padding=1)(x)": (2, 4, 8, 8),
    "Conv2d(8, 4, 3, padding=1, dilation=2)(x)": (2, 4, 16, 16),
    "Conv2d(8, 24, 3, groups=8).weight": (24, 1, 3, 3),
    "Conv2d(8, 24, 3, groups=4).weight": (24, 2, 3, 3),
    "Conv2d(3, 8, 1)(x)": "error",
}

# %% wrong predict-shapes: every window keeps the size
# says: Nothing is padded unless you ask for it: a kernel of 5 has 12 places on 16 points.
shapes = {
    "Conv2d(8, 4, 5)(x)": (2, 4, 16, 16),
    "Conv2d(8, 4, 3, stride=2, padding=1)(x)": (2, 4, 8, 8),
    "Conv2d(8, 4, 3, padding=1, dilation=2)(x)": (2, 4, 14, 14),
    "Conv2d(8, 24, 3, groups=8).weight": (24, 1, 3, 3),
    "Conv2d(8, 24, 3, groups=4).weight": (24, 2, 3, 3),
    "Conv2d(3, 8, 1)(x)": "error",
}

# %% wrong predict-shapes: any number of channels will do
# says: `Conv2d(3, 8, 1)` has weights for three input channels, and x has eight. It is refused.
shapes = {
    "Conv2d(8, 4, 5)(x)": (2, 4, 12, 12),
    "Conv2d(8, 4, 3, stride=2, padding=1)(x)": (2, 4, 8, 8),
    "Conv2d(8, 4, 3, padding=1, dilation=2)(x)": (2, 4, 14, 14),
    "Conv2d(8, 24, 3, groups=8).weight": (24, 1, 3, 3),
    "Conv2d(8, 24, 3, groups=4).weight": (24, 2, 3, 3),
    "Conv2d(3, 8, 1)(x)": (2, 8, 16, 16),
}


# %% right im2col: a row for each place in the kernel
def im2col(x, kernel, stride=1, padding=0):
    x = F.pad(x, (padding,) * 4)
    n, c, h, w = x.shape
    p, q = (h - kernel[0]) // stride + 1, (w - kernel[1]) // stride + 1
    rows = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = x[:, :, i : i + p * stride : stride, j : j + q * stride : stride]
            rows.append(part.reshape(n, c, p * q))
    return tg.stack(rows, 2).reshape(n, -1, p * q)


# %% right im2col: with as_strided
def im2col(x, kernel, stride=1, padding=0):
    x = F.pad(x, (padding,) * 4).contiguous()
    (n, c, h, w), (kh, kw) = x.shape, kernel
    p, q = (h - kh) // stride + 1, (w - kw) // stride + 1
    a, b, down, across = x.stride()
    strides = (a, b, down, across, stride * down, stride * across)
    return x.as_strided((n, c, kh, kw, p, q), strides).reshape(n, c * kh * kw, p * q)


# %% right im2col: window by window
def im2col(x, kernel, stride=1, padding=0):
    x = F.pad(x, (padding,) * 4)
    columns = []
    for i in range(0, x.shape[2] - kernel[0] + 1, stride):
        for j in range(0, x.shape[3] - kernel[1] + 1, stride):
            columns.append(x[:, :, i : i + kernel[0], j : j + kernel[1]].flatten(1))
    return tg.stack(columns, 2)


# %% wrong im2col: reshaped without permute
# says: The shape is right, but `reshape` alone moves no axes: your columns mix numbers of different
# windows. Bring the axes into the order N, C, kh, kw, P, Q first.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    x = F.pad(x, (padding,) * 4)
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)
    return windows.reshape(n, c * kernel[0] * kernel[1], -1)


# %% wrong im2col: windows as rows
# says: Your windows are the rows. They are to be the columns: a row for each channel and place in
# the kernel.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    x = F.pad(x, (padding,) * 4)
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)
    windows = windows.permute(0, 2, 3, 1, 4, 5)
    return windows.reshape(n, -1, c * kernel[0] * kernel[1])


# %% wrong im2col: the channels last within a column
# says: In your columns the channels move fastest. `weight.flatten(1)` has them slowest: C, kh, kw.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    x = F.pad(x, (padding,) * 4)
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)
    return windows.permute(0, 4, 5, 1, 2, 3).reshape(n, c * kernel[0] * kernel[1], -1)


# %% wrong im2col: the kernel's axes exchanged
# says: Within a column you go down the kernel first. It has to be row by row, as
# `weight.flatten(1)` lies.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    x = F.pad(x, (padding,) * 4)
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)
    return windows.permute(0, 1, 5, 4, 2, 3).reshape(n, c * kernel[0] * kernel[1], -1)


# %% wrong im2col: windows column by column
# says: Your windows are in the order of the columns of the picture. The output is read row by row,
# so the first row's windows come first.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    x = F.pad(x, (padding,) * 4)
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)
    return windows.permute(0, 1, 4, 5, 3, 2).reshape(n, c * kernel[0] * kernel[1], -1)


# %% wrong im2col: only the width padded
# says: `F.pad(x, (p, p))` pads the last axis. Four numbers pad the last two: left, right, above,
# below.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    x = F.pad(x, (padding, padding))
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)
    return windows.permute(0, 1, 4, 5, 2, 3).reshape(n, c * kernel[0] * kernel[1], -1)


# %% wrong im2col: the stride along one axis only
# says: Your windows move by the stride downwards, and by 1 to the right. Both unfolds need it.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    x = F.pad(x, (padding,) * 4)
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], 1)
    return windows.permute(0, 1, 4, 5, 2, 3).reshape(n, c * kernel[0] * kernel[1], -1)


# %% wrong im2col: no padding
# says: The padding is missing. `F.pad` puts the zeros around the pictures.
def im2col(x, kernel, stride=1, padding=0):
    n, c = x.shape[:2]
    windows = x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)
    return windows.permute(0, 1, 4, 5, 2, 3).reshape(n, c * kernel[0] * kernel[1], -1)


# %% right conv-function: the columns kept, sums written as einsum
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        columns = im2col(x, weight.shape[2:], stride, padding)
        ctx.save_for_backward(columns, weight)
        ctx.shape, ctx.geometry = x.shape, (weight.shape[2:], stride, padding)
        y = tg.einsum("ok,nkp->nop", weight.flatten(1), columns)
        width = output_size(x.shape[3], weight.shape[3], stride, padding)
        return y.reshape(x.shape[0], weight.shape[0], -1, width)

    @staticmethod
    def backward(ctx, g):
        columns, weight = ctx.saved_tensors
        g = g.reshape(*g.shape[:2], -1)
        gw = tg.einsum("nop,nkp->ok", g, columns).reshape(weight.shape)
        gx = col2im(tg.einsum("ok,nop->nkp", weight.flatten(1), g), ctx.shape, *ctx.geometry)
        return gx, gw, None, None


# %% right conv-function: one picture after the other
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.stride, ctx.padding = stride, padding
        kernel = weight.shape[2], weight.shape[3]
        height = output_size(x.shape[2], kernel[0], stride, padding)
        rows = weight.reshape(weight.shape[0], -1)
        ys = [rows @ im2col(one.unsqueeze(0), kernel, stride, padding)[0] for one in x]
        return tg.stack([y.reshape(y.shape[0], height, -1) for y in ys])

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        geometry = (weight.shape[2], weight.shape[3]), ctx.stride, ctx.padding
        rows = weight.reshape(weight.shape[0], -1)
        gw, gxs = tg.zeros_like(rows), []
        for one, grad in zip(x, g):
            grad = grad.reshape(grad.shape[0], -1)
            gw = gw + grad @ im2col(one.unsqueeze(0), *geometry)[0].t()
            back = (rows.t() @ grad).unsqueeze(0)
            gxs.append(col2im(back, (1, *one.shape), *geometry)[0])
        return tg.stack(gxs), gw.reshape(weight.shape), None, None


# %% wrong conv-function: gradients in the wrong order
# says: backward returns its gradients in the order of forward's arguments: x first, then weight.
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.geometry = weight.shape[2:], stride, padding
        height = output_size(x.shape[2], weight.shape[2], stride, padding)
        y = weight.flatten(1) @ im2col(x, *ctx.geometry)
        return y.view(len(x), len(weight), height, -1)

    @staticmethod
    def backward(ctx, g):
        (x, weight), g = ctx.saved_tensors, g.flatten(2)
        gw = (g @ im2col(x, *ctx.geometry).transpose(1, 2)).sum(0).view(weight.shape)
        return gw, col2im(weight.flatten(1).t() @ g, x.shape, *ctx.geometry), None, None


# %% wrong conv-function: the weight's gradient averaged over the batch
# says: You take the mean over the pictures for the weight's gradient. It is the sum: whether the
# loss is a mean is already in g.
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.geometry = weight.shape[2:], stride, padding
        height = output_size(x.shape[2], weight.shape[2], stride, padding)
        y = weight.flatten(1) @ im2col(x, *ctx.geometry)
        return y.view(len(x), len(weight), height, -1)

    @staticmethod
    def backward(ctx, g):
        (x, weight), g = ctx.saved_tensors, g.flatten(2)
        gw = (g @ im2col(x, *ctx.geometry).transpose(1, 2)).mean(0).view(weight.shape)
        return col2im(weight.flatten(1).t() @ g, x.shape, *ctx.geometry), gw, None, None


# %% wrong conv-function: the first picture's weight gradient
# says: Only the first picture of the batch counts in your weight's gradient. All of them used the
# weight: sum over the batch.
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.geometry = weight.shape[2:], stride, padding
        height = output_size(x.shape[2], weight.shape[2], stride, padding)
        y = weight.flatten(1) @ im2col(x, *ctx.geometry)
        return y.view(len(x), len(weight), height, -1)

    @staticmethod
    def backward(ctx, g):
        (x, weight), g = ctx.saved_tensors, g.flatten(2)
        gw = (g @ im2col(x, *ctx.geometry).transpose(1, 2))[0].view(weight.shape)
        return col2im(weight.flatten(1).t() @ g, x.shape, *ctx.geometry), gw, None, None


# %% wrong conv-function: geometry forgotten on the way back
# says: Forward is right. Backward calls im2col and col2im without stride and padding, so the
# columns are other ones than in forward. Keep the numbers on ctx.
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        height = output_size(x.shape[2], weight.shape[2], stride, padding)
        y = weight.flatten(1) @ im2col(x, weight.shape[2:], stride, padding)
        return y.view(len(x), len(weight), height, -1)

    @staticmethod
    def backward(ctx, g):
        (x, weight), g = ctx.saved_tensors, g.flatten(2)
        gw = (g @ im2col(x, weight.shape[2:]).transpose(1, 2)).sum(0).view(weight.shape)
        gx = col2im(weight.flatten(1).t() @ g, x.shape, weight.shape[2:])
        return gx, gw, None, None


# %% wrong conv-function: two gradients for four arguments
# says: backward has to return as many gradients as forward has arguments. stride and padding get
# `None`.
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.geometry = weight.shape[2:], stride, padding
        height = output_size(x.shape[2], weight.shape[2], stride, padding)
        y = weight.flatten(1) @ im2col(x, *ctx.geometry)
        return y.view(len(x), len(weight), height, -1)

    @staticmethod
    def backward(ctx, g):
        (x, weight), g = ctx.saved_tensors, g.flatten(2)
        gw = (g @ im2col(x, *ctx.geometry).transpose(1, 2)).sum(0).view(weight.shape)
        return col2im(weight.flatten(1).t() @ g, x.shape, *ctx.geometry), gw


# %% wrong conv-function: height and width exchanged
# says: The numbers are there, but in the wrong shape: you take the output's width for its height.
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.geometry = weight.shape[2:], stride, padding
        width = output_size(x.shape[3], weight.shape[3], stride, padding)
        y = weight.flatten(1) @ im2col(x, *ctx.geometry)
        return y.view(len(x), len(weight), width, -1)

    @staticmethod
    def backward(ctx, g):
        (x, weight), g = ctx.saved_tensors, g.flatten(2)
        gw = (g @ im2col(x, *ctx.geometry).transpose(1, 2)).sum(0).view(weight.shape)
        return col2im(weight.flatten(1).t() @ g, x.shape, *ctx.geometry), gw, None, None


# %% wrong conv-function: no gradient for the picture
# says: The picture gets no gradient. For the first layer of a network that does no harm, but the
# layers before any other one would learn nothing.
class Conv(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.geometry = weight.shape[2:], stride, padding
        height = output_size(x.shape[2], weight.shape[2], stride, padding)
        y = weight.flatten(1) @ im2col(x, *ctx.geometry)
        return y.view(len(x), len(weight), height, -1)

    @staticmethod
    def backward(ctx, g):
        (x, weight), g = ctx.saved_tensors, g.flatten(2)
        gw = (g @ im2col(x, *ctx.geometry).transpose(1, 2)).sum(0).view(weight.shape)
        return None, gw, None, None


# %% right overlaps: counted along one axis, where the table is a product
overlaps = {}
for k, stride in [(3, 1), (3, 2), (4, 2), (5, 3)]:
    line = [sum((p - i) % stride == 0 for i in range(k)) for p in range(stride)]
    overlaps[k, stride] = sorted({a * b for a in line for b in line})

# %% right overlaps: counted with fold
overlaps = {}
for k, stride in [(3, 1), (3, 2), (4, 2), (5, 3)]:
    size = 7 * stride + k
    table = F.fold(tg.ones(1, k * k, 64), size, k, stride=stride)[0, 0, k:-k, k:-k]
    overlaps[k, stride] = table.unique().int().tolist()

# %% right overlaps: tensors of floats, sorted by unique
overlaps = {}
for kernel, stride in [(3, 1), (3, 2), (4, 2), (5, 3)]:
    laid = F.conv_transpose2d(tg.ones(1, 1, 8, 8), tg.ones(1, 1, kernel, kernel), stride=stride)
    overlaps[kernel, stride] = laid[0, 0, kernel:-kernel, kernel:-kernel].unique()

# %% wrong overlaps: the border counted
# says: At the border of the picture copies are missing, so the counts there are smaller. Leave k
# points at each side out.
overlaps = {}
for k, stride in [(3, 1), (3, 2), (4, 2), (5, 3)]:
    counts = F.conv_transpose2d(tg.ones(1, 1, 8, 8), tg.ones(1, 1, k, k), stride=stride)
    overlaps[k, stride] = sorted(set(counts.flatten().int().tolist()))

# %% wrong overlaps: along one axis
# says: You counted along one axis. On a picture the copies overlap along both, so the counts are
# products of two of these.
overlaps = {}
for k, stride in [(3, 1), (3, 2), (4, 2), (5, 3)]:
    counts = F.conv_transpose1d(tg.ones(1, 1, 8), tg.ones(1, 1, k), stride=stride)
    overlaps[k, stride] = sorted(set(counts[0, 0, k:-k].int().tolist()))

# %% wrong overlaps: the largest alone
# says: You noted the largest count only. The question is which counts occur: where there are
# several, the picture is uneven.
overlaps = {(3, 1): [9], (3, 2): [4], (4, 2): [4], (5, 3): [4]}

# %% wrong overlaps: the stride left out
# says: You find k·k for every pair, as with a stride of 1, or as in an ordinary convolution. Use
# conv_transpose2d and hand the stride on: it lays copies of the kernel `stride` points apart.
overlaps = {}
for k, stride in [(3, 1), (3, 2), (4, 2), (5, 3)]:
    counts = F.conv_transpose2d(tg.ones(1, 1, 16, 16), tg.ones(1, 1, k, k))
    overlaps[k, stride] = sorted(set(counts[0, 0, k:-k, k:-k].flatten().int().tolist()))
