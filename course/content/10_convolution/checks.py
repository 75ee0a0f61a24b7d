"""What the checks of lesson 10 try: small whole numbers, so that a wrong index shows at once."""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise


def entries(answer, *names):
    """Those entries of a dict that a learner gave, tensors as lists, a list of one as its entry."""
    found = {}
    for name in names:
        value = answer[name]
        value = value.tolist() if isinstance(value, tg.Tensor | np.ndarray) else value
        found[name] = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
    return found


def whole(rng, *shape):
    """A tensor of small whole numbers other than zero: sums of products of them are exact."""
    values = rng.integers(1, 8, size=shape) * rng.choice([-1, 1], size=shape)
    return tg.tensor(values.astype(np.float32))


def pick(rng, low, high):
    return int(rng.integers(low, high))


# --- Predict: an impulse --------------------------------------------------------------------------

predict_impulse = Exercise(
    "predict-impulse",
    answer="impulse",
    title="Predict what an impulse gives",
    points=4,
    difficulty=1,
    hints=(
        "Lay the kernel on the first three points, 0 0 1. Which of its weights meets the 1?",
        "The windows of the first line are 0 0 1, 0 1 0 and 1 0 0. With padding=1 there is one "
        "more at each end.",
        "With dilation=2 the kernel reads the points 0, 2 and 4, and fits only once.",
    ),
)


@predict_impulse.case("as it is", points=1)
def as_it_is(impulse, rng):
    return entries(impulse, "as it is")


@predict_impulse.case("with padding", points=1)
def with_padding(impulse, rng):
    return entries(impulse, "padding=1")


@predict_impulse.case("with padding and stride", points=1)
def with_stride(impulse, rng):
    return entries(impulse, "padding=1, stride=2")


@predict_impulse.case("with dilation", points=1)
def with_dilation(impulse, rng):
    return entries(impulse, "dilation=2")


# --- The output size ------------------------------------------------------------------------------

output_size = Exercise(
    "output-size",
    answer="output_size",
    title="The output size",
    points=4,
    difficulty=1,
    hints=(
        "How many points does the kernel span? `dilation * (kernel - 1) + 1`.",
        "The padding is there twice, at the beginning and at the end.",
        "Divide what is left over by the stride with `//`, and count the first place, too.",
    ),
)


@output_size.case("a kernel and nothing else", points=1)
def plain_size(answer, rng):
    return [answer(length, kernel) for length, kernel in ((32, 5), (7, 3), (3, 3), (9, 1))]


@output_size.case("with stride and padding", points=1)
def stride_and_padding(answer, rng):
    given = [(32, 3, 2, 1), (33, 3, 2, 1), (10, 3, 4, 0), (5, 2, 2, 0), (6, 4, 3, 2)]
    return {repr(four): answer(*four) for four in given}


@output_size.property("anything, with dilation", points=2, draw=lambda st: st.integers(1, 8))
def any_size(answer, rng, size):
    kernel, stride, padding = pick(rng, 2, 5), pick(rng, 1, 5), pick(rng, 0, 4)
    dilation = pick(rng, 2, 4)
    length = dilation * (kernel - 1) + 1 + size
    given = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    return {"given": {"length": length, **given}, "places": answer(length, **given)}


# --- conv1d by loops ------------------------------------------------------------------------------

conv1d = Exercise(
    "conv1d",
    answer="conv1d",
    title="conv1d with loops",
    points=7,
    difficulty=2,
    needs=("output-size",),
    hints=(
        "There are four loops: over the output channels, the places, the input channels and the "
        "points of the kernel.",
        "Get rid of the padding first: `np.pad(x, ((0, 0), (padding, padding)))` puts zeros at "
        "both ends of each channel. Ask `output_size` with the length from before.",
        "Window p begins at `p * stride`. Its k-th point lies `k * dilation` further on.",
        "`y[o, p] = bias[o]` first, and in the inner loops `y[o, p] += weight[o, c, k] * x[c, p * "
        "stride + k * dilation]`.",
    ),
)


def try_conv1d(answer, x, weight, bias, *geometry):
    given = {"x": x, "weight": weight, "bias": bias, "stride, padding, dilation": geometry}
    return {"given": given, "result": np.asarray(answer(x, weight, bias, *geometry))}


def arrays(rng, *shapes):
    return [whole(rng, *shape).numpy().astype(np.float64) for shape in shapes]


@conv1d.case("one channel, no bias", points=1)
def one_channel(answer, rng):
    x, weight = arrays(rng, (1, 5), (1, 1, 3))
    return try_conv1d(answer, x, weight, np.zeros(1), 1, 0, 1)


@conv1d.case("channels and bias", points=2)
def with_channels(answer, rng):
    return try_conv1d(answer, *arrays(rng, (3, 5), (2, 3, 2), (2,)), 1, 0, 1)


@conv1d.case("padding and stride", points=1)
def padding_and_stride(answer, rng):
    return try_conv1d(answer, *arrays(rng, (1, 8), (1, 1, 3), (1,)), 3, 2, 1)


@conv1d.case("dilation", points=1)
def dilated(answer, rng):
    return try_conv1d(answer, *arrays(rng, (1, 8), (1, 1, 3), (1,)), 1, 0, 3)


@conv1d.property("everything at once", points=2, draw=lambda st: st.integers(1, 5))
def everything(answer, rng, size):
    c, o, kernel, dilation = (pick(rng, 1, 4) for _ in range(4))
    length = dilation * (kernel - 1) + size
    inputs = arrays(rng, (c, length), (o, c, kernel), (o,))
    return try_conv1d(answer, *inputs, pick(rng, 1, 4), pick(rng, 1, 3), dilation)


# --- Repair: groups -------------------------------------------------------------------------------

grouped = Exercise(
    "grouped",
    answer="grouped",
    title="Repair the grouped convolution",
    points=6,
    difficulty=2,
    hints=(
        "Which input channels belong to group 0 if there are 4 of them and 2 groups? The bundles "
        "are stretches of neighbours.",
        "The same holds for the output channels, and these are the first axis of `weight`.",
        "The groups don't meet in a sum: their outputs stand one after the other, along axis 1.",
        "`x[:, group * n : (group + 1) * n]` with `n = x.shape[1] // groups`, `weight` in the same "
        "way along its axis 0, and `tg.cat(parts, 1)`.",
    ),
)


def try_grouped(answer, rng, groups, inputs, outputs):
    x, weight = whole(rng, 2, groups * inputs, 2, 3), whole(rng, groups * outputs, inputs, 2, 2)
    given = {"x": x, "weight": weight, "groups": groups}
    return {"given": given, "result": answer(x, weight, groups)}


@grouped.case("one group", points=1)
def one_group(answer, rng):
    return [
        try_grouped(answer, rng, 1, 2, 3),
        tuple(try_grouped(answer, rng, 2, 1, 1)["result"].shape),
    ]


@grouped.case("a channel for each group", points=2)
def channel_each(answer, rng):
    return try_grouped(answer, rng, 3, 1, 1)


@grouped.case("two channels and two outputs for each group", points=2)
def two_each(answer, rng):
    return try_grouped(answer, rng, 2, 2, 2)


@grouped.case("depthwise with K = 3", points=1)
def depthwise(answer, rng):
    return try_grouped(answer, rng, 2, 1, 3)


# --- Predict: shapes ------------------------------------------------------------------------------

predict_shapes = Exercise(
    "predict-shapes",
    answer="shapes",
    title="Predict shapes",
    points=6,
    difficulty=2,
    hints=(
        "The output has the batch of the input, the channels of the layer, and sizes by the "
        "formula of section 2.",
        "A kernel of 3 with dilation 2 spans 5 points.",
        "The weight has the shape (out, in / groups, k, k). And how many channels does x have?",
    ),
)


@predict_shapes.case("sizes with a stride of 1 and 2", points=2)
def sizes_of_outputs(shapes, rng):
    return entries(shapes, "Conv2d(8, 4, 5)(x)", "Conv2d(8, 4, 3, stride=2, padding=1)(x)")


@predict_shapes.case("a size with dilation", points=1)
def size_with_dilation(shapes, rng):
    return entries(shapes, "Conv2d(8, 4, 3, padding=1, dilation=2)(x)")


@predict_shapes.case("weights with groups", points=2)
def weights_with_groups(shapes, rng):
    names = "Conv2d(8, 24, 3, groups=8).weight", "Conv2d(8, 24, 3, groups=4).weight"
    return entries(shapes, *names)


@predict_shapes.case("an input of other channels", points=1)
def other_channels(shapes, rng):
    return entries(shapes, "Conv2d(3, 8, 1)(x)")


# --- im2col ---------------------------------------------------------------------------------------

im2col = Exercise(
    "im2col",
    answer="im2col",
    title="Windows as columns",
    points=8,
    difficulty=3,
    hints=(
        "First the padding: `F.pad(x, (padding, padding, padding, padding))` puts zeros left, "
        "right, above and below.",
        "`x.unfold(2, kh, stride).unfold(3, kw, stride)` has the axes N, C, P, Q, kh, kw.",
        "A row of the result stands for a channel and a place within the window, a column for a "
        "window. So the axes have to come into the order N, C, kh, kw, P, Q.",
        "That is `permute(0, 1, 4, 5, 2, 3)`. Then `reshape` joins the middle three axes, and the "
        "last two.",
    ),
)


def try_im2col(answer, x, *geometry):
    given = {"x": x, "kernel, stride, padding": geometry}
    return {"given": given, "result": answer(x, *geometry)}


@im2col.case("one channel", points=2)
def columns_of_one(answer, rng):
    return try_im2col(answer, whole(rng, 1, 1, 3, 4), (2, 2))


@im2col.case("two channels, two pictures", points=2)
def columns_of_two(answer, rng):
    return try_im2col(answer, whole(rng, 2, 2, 3, 4), (2, 2))


@im2col.case("a kernel that is no square", points=1)
def oblong_kernel(answer, rng):
    return try_im2col(answer, whole(rng, 1, 2, 3, 4), (1, 3))


@im2col.case("a stride", points=1)
def columns_with_stride(answer, rng):
    return try_im2col(answer, whole(rng, 1, 1, 5, 6), (2, 2), 3)


@im2col.case("a padding", points=1)
def columns_with_padding(answer, rng):
    return try_im2col(answer, whole(rng, 1, 1, 2, 2), (2, 2), 1, 1)


@im2col.property("anything", points=1, draw=lambda st: st.integers(1, 5))
def any_columns(answer, rng, size):
    kernel = pick(rng, 1, 4), pick(rng, 1, 4)
    x = whole(rng, pick(rng, 1, 3), pick(rng, 1, 4), kernel[0] + size, kernel[1] + pick(rng, 0, 3))
    return try_im2col(answer, x, kernel, pick(rng, 1, 4), pick(rng, 0, 3))


# --- col2im ---------------------------------------------------------------------------------------

col2im = Exercise(
    "col2im",
    answer="col2im",
    title="Columns added up to a picture",
    points=7,
    difficulty=3,
    needs=("output-size",),
    hints=(
        "Undo the joining of axes first: `columns.reshape(n, c, kh, kw, p, q)`, where p and q are "
        "the output sizes of h and w.",
        "Make zeros of the size of the padded picture, add everything there, and cut the padding "
        "off at the end. `columns.new_zeros(...)` has the dtype of the columns.",
        "For each i below kh and each j below kw, the numbers `columns[:, :, i, j]` belong to p "
        "rows, beginning at i in steps of the stride, and q columns, beginning at j.",
        "`image[:, :, i : i + p * stride : stride, j : j + q * stride : stride] += columns[:, :, "
        "i, j]`",
    ),
)


def try_col2im(answer, rng, shape, kernel, stride=1, padding=0):
    places = 1
    for length, k in zip(shape[2:], kernel, strict=True):
        places *= (length + 2 * padding - k) // stride + 1
    columns = whole(rng, shape[0], shape[1] * kernel[0] * kernel[1], places)
    given = {"columns": columns, "shape": shape, "kernel": kernel}
    given |= {"stride": stride, "padding": padding}
    return {"given": given, "result": answer(columns.clone(), shape, kernel, stride, padding)}


@col2im.case("windows beside each other", points=1)
def beside(answer, rng):
    return try_col2im(answer, rng, (1, 1, 4, 4), (2, 2), 2)


@col2im.case("windows that overlap", points=2)
def overlapping(answer, rng):
    return try_col2im(answer, rng, (1, 1, 3, 4), (2, 2))


@col2im.case("channels, pictures and an oblong kernel", points=1)
def several(answer, rng):
    return try_col2im(answer, rng, (2, 2, 4, 3), (3, 2))


@col2im.case("a padding", points=1)
def image_with_padding(answer, rng):
    return try_col2im(answer, rng, (1, 1, 2, 3), (2, 2), 1, 1)


@col2im.case("points that no window reads", points=1)
def unread(answer, rng):
    return try_col2im(answer, rng, (1, 1, 5, 6), (2, 2), 3)


@col2im.property("anything", points=1, draw=lambda st: st.integers(1, 5))
def any_image(answer, rng, size):
    kernel = pick(rng, 1, 4), pick(rng, 1, 4)
    shape = pick(rng, 1, 3), pick(rng, 1, 3), kernel[0] + size, kernel[1] + pick(rng, 0, 3)
    return try_col2im(answer, rng, shape, kernel, pick(rng, 1, 4), pick(rng, 0, 3))


# --- The Function ---------------------------------------------------------------------------------

conv_function = Exercise(
    "conv-function",
    answer="Conv",
    title="Conv2d as a Function",
    points=9,
    difficulty=3,
    needs=("output-size", "im2col", "col2im"),
    hints=(
        "Forward: `weight.flatten(1) @ im2col(x, weight.shape[2:], stride, padding)` has the shape "
        "(N, O, P·Q). `view` it as (N, O, P, Q), where P is the output size of the height.",
        "Save x and weight with `ctx.save_for_backward`, and put the plain numbers on ctx: "
        "`ctx.geometry = weight.shape[2:], stride, padding`.",
        "Backward: bring g to (N, O, P·Q) with `g.flatten(2)`. The weight's gradient is `g @ "
        "columns.transpose(1, 2)`, summed over the batch, in the shape of the weight.",
        "The columns' gradient is `weight.flatten(1).t() @ g`, and `col2im(…, x.shape, "
        "*ctx.geometry)` makes it the picture's. Return one gradient for each argument of forward: "
        "two tensors and two `None`.",
    ),
)


def try_conv(answer, rng, x_shape, w_shape, stride=1, padding=0):
    x, weight = whole(rng, *x_shape), whole(rng, *w_shape)
    given = {"x": x.clone(), "weight": weight.clone(), "stride": stride, "padding": padding}
    x.requires_grad_()
    weight.requires_grad_()
    return given, x, weight, answer.apply(x, weight, stride, padding)


@conv_function.case("forward", points=2)
def forward(answer, rng):
    given, _, _, y = try_conv(answer, rng, (2, 2, 4, 3), (3, 2, 2, 2))
    return {"given": given, "result": y.detach()}


@conv_function.case("forward with stride and padding", points=1)
def forward_with_stride(answer, rng):
    given, _, _, y = try_conv(answer, rng, (1, 2, 5, 4), (2, 2, 3, 2), 2, 1)
    return {"given": given, "result": y.detach()}


@conv_function.case("the gradient of the weight", points=2)
def weight_gradient(answer, rng):
    given, _, weight, y = try_conv(answer, rng, (2, 2, 4, 3), (3, 2, 2, 2))
    g = whole(rng, *y.shape)
    y.backward(g)
    return {"given": {**given, "g": g}, "gradient of weight": weight.grad}


@conv_function.case("the gradient of the picture", points=2)
def input_gradient(answer, rng):
    given, x, _, y = try_conv(answer, rng, (2, 2, 4, 3), (3, 2, 2, 2))
    g = whole(rng, *y.shape)
    y.backward(g)
    return {"given": {**given, "g": g}, "gradient of x": x.grad}


@conv_function.property(
    "both, with stride and padding", points=2, draw=lambda st: st.integers(1, 3)
)
def both_gradients(answer, rng, size):
    shapes = (2, 2, 3 + size, 4), (2, 2, 3, 2)
    given, x, weight, y = try_conv(answer, rng, *shapes, pick(rng, 1, 4), pick(rng, 1, 3))
    g = whole(rng, *y.shape)
    y.backward(g)
    return {"given": {**given, "g": g}, "x": x.grad, "weight": weight.grad}


# --- Experiment: overlaps -------------------------------------------------------------------------

overlaps = Exercise(
    "overlaps",
    answer="overlaps",
    title="Count the overlaps",
    points=4,
    difficulty=2,
    hints=(
        "`F.conv_transpose2d(tg.ones(1, 1, 8, 8), tg.ones(1, 1, k, k), stride=stride)` adds a 1 "
        "for each copy that reaches a point.",
        "Cut k points off each side, `[k:-k, k:-k]`, so that the border doesn't count.",
        "`sorted(set(counts.flatten().int().tolist()))` has every number once.",
    ),
)


@overlaps.case("(3, 1), every point alike", points=1)
def every_point(overlaps, rng):
    return [float(count) for count in overlaps[3, 1]]


@overlaps.case("(3, 2), the checkerboard", points=1)
def checkerboard(overlaps, rng):
    return [float(count) for count in overlaps[3, 2]]


@overlaps.case("(4, 2) and (5, 3)", points=2)
def others(overlaps, rng):
    return [[float(count) for count in overlaps[pair]] for pair in ((4, 2), (5, 3))]


# --- Pixel shuffle --------------------------------------------------------------------------------

pixel_shuffle = Exercise(
    "pixel-shuffle",
    answer="pixel_shuffle",
    title="Channels into pixels",
    points=5,
    difficulty=2,
    hints=(
        "Split the channels: `x.reshape(n, c // r**2, r, r, h, w)`. The first r counts the rows of "
        "a square, the second its columns.",
        "In the result a row is found by h first and then by the row within the square. So these "
        "two axes have to be neighbours, in that order.",
        "`permute(0, 1, 4, 2, 5, 3)`, then `reshape(n, c // r**2, h * r, w * r)`.",
    ),
)


def try_shuffle(answer, r, *shape):
    x = tg.arange(int(np.prod(shape))).view(shape)
    return {"given": {"x": x, "r": r}, "result": answer(x, r)}


@pixel_shuffle.case("four channels of one point", points=1)
def four_points(answer, rng):
    return try_shuffle(answer, 2, 1, 4, 1, 1)


@pixel_shuffle.case("one channel comes out", points=2)
def one_comes_out(answer, rng):
    return [try_shuffle(answer, 2, 1, 4, 2, 3), try_shuffle(answer, 3, 1, 9, 1, 2)]


@pixel_shuffle.case("several come out", points=2)
def several_come_out(answer, rng):
    return [try_shuffle(answer, 2, 2, 8, 2, 1), try_shuffle(answer, 3, 1, 18, 1, 2)]
