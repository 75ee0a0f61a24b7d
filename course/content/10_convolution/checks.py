"""What the checks of lesson 10 try: small whole numbers, so that a wrong index shows at once."""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise


def entries(answer, *names):
    """Those entries of a dict that a learner gave: tensors as lists, a list of one as its entry,
    "Error" as "error"."""
    found = {}
    for name in names:
        value = answer[name]
        value = value.tolist() if isinstance(value, tg.Tensor | np.ndarray) else value
        value = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
        found[name] = value.lower() if isinstance(value, str) else value
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
    points=5,
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


@predict_impulse.case("with dilation", points=2)
def with_dilation(impulse, rng):
    return entries(impulse, "dilation=2")


# --- The output size ------------------------------------------------------------------------------

output_size = Exercise(
    "output-size",
    answer="output_size",
    title="The output size",
    points=5,
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


@output_size.property("anything, with dilation", points=3, draw=lambda st: st.integers(1, 8))
def any_size(answer, rng, size):
    kernel, stride, padding = pick(rng, 2, 5), pick(rng, 1, 5), pick(rng, 0, 4)
    dilation = pick(rng, 2, 4)
    length = dilation * (kernel - 1) + 1 + size
    given = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    return {"given": {"length": length, **given}, "places": answer(length, **given)}


# --- Repair: groups -------------------------------------------------------------------------------

grouped = Exercise(
    "grouped",
    answer="grouped",
    title="Repair the grouped convolution",
    points=8,
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


@grouped.case("two channels and two outputs for each group", points=3)
def two_each(answer, rng):
    return try_grouped(answer, rng, 2, 2, 2)


@grouped.case("depthwise with K = 3", points=2)
def depthwise(answer, rng):
    return try_grouped(answer, rng, 2, 1, 3)


# --- Predict: shapes ------------------------------------------------------------------------------

predict_shapes = Exercise(
    "predict-shapes",
    answer="shapes",
    title="Predict shapes",
    points=8,
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


@predict_shapes.case("weights with groups", points=3)
def weights_with_groups(shapes, rng):
    names = "Conv2d(8, 24, 3, groups=8).weight", "Conv2d(8, 24, 3, groups=4).weight"
    return entries(shapes, *names)


@predict_shapes.case("an input of other channels", points=2)
def other_channels(shapes, rng):
    return entries(shapes, "Conv2d(3, 8, 1)(x)")


# --- im2col ---------------------------------------------------------------------------------------

im2col = Exercise(
    "im2col",
    answer="im2col",
    title="Windows as columns",
    points=10,
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


@im2col.case("a padding", points=2)
def columns_with_padding(answer, rng):
    return try_im2col(answer, whole(rng, 1, 1, 2, 2), (2, 2), 1, 1)


@im2col.property("anything", points=2, draw=lambda st: st.integers(1, 5))
def any_columns(answer, rng, size):
    kernel = pick(rng, 1, 4), pick(rng, 1, 4)
    x = whole(rng, pick(rng, 1, 3), pick(rng, 1, 4), kernel[0] + size, kernel[1] + pick(rng, 0, 3))
    return try_im2col(answer, x, kernel, pick(rng, 1, 4), pick(rng, 0, 3))


# --- The Function ---------------------------------------------------------------------------------

conv_function = Exercise(
    "conv-function",
    answer="Conv",
    title="Conv2d as a Function",
    points=11,
    difficulty=3,
    needs=("output-size", "im2col"),
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


@conv_function.case("the gradient of the picture", points=3)
def input_gradient(answer, rng):
    given, x, _, y = try_conv(answer, rng, (2, 2, 4, 3), (3, 2, 2, 2))
    g = whole(rng, *y.shape)
    y.backward(g)
    return {"given": {**given, "g": g}, "gradient of x": x.grad}


@conv_function.property(
    "both, with stride and padding", points=3, draw=lambda st: st.integers(1, 3)
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
    points=6,
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


@overlaps.case("(3, 2), the checkerboard", points=2)
def checkerboard(overlaps, rng):
    return [float(count) for count in overlaps[3, 2]]


@overlaps.case("(4, 2) and (5, 3)", points=3)
def others(overlaps, rng):
    return [[float(count) for count in overlaps[pair]] for pair in ((4, 2), (5, 3))]
