"""Right and wrong answers of lesson 06. The wrong ones must be caught and named."""


# %% right scaled-tanh: from the output
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        y = height * x.tanh()
        ctx.height = height
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (ctx.height - y * y / ctx.height), None


# %% right scaled-tanh: the input kept, the tanh computed again
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        ctx.save_for_backward(x)
        ctx.height = height
        return x.tanh() * height

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        slope = 1 / x.cosh() ** 2
        return g * slope * ctx.height, None


# %% wrong scaled-tanh: g forgotten
# says: Your gradient is the slope alone. What arrives from the rest of the graph, g, has to be
# multiplied by it.
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        t = x.tanh()
        ctx.save_for_backward(t)
        ctx.height = height
        return height * t

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return ctx.height * (1 - t * t), None


# %% wrong scaled-tanh: the height forgotten in backward
# says: The value is right. Your slope is that of tanh(x) alone: a curve that is `height` times as
# tall is `height` times as steep.
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        t = x.tanh()
        ctx.save_for_backward(t)
        return height * t

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * (1 - t * t), None


# %% wrong scaled-tanh: the output taken for t
# says: You saved y = height * tanh(x) and put it into 1 - t² as if it were t. Save t itself, or
# divide by the height.
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        y = height * x.tanh()
        ctx.save_for_backward(y)
        ctx.height = height
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * ctx.height * (1 - y * y), None


# %% wrong scaled-tanh: the input taken for t
# says: You saved x and put it into 1 - t². t is tanh(x), not x.
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        ctx.save_for_backward(x)
        ctx.height = height
        return height * x.tanh()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.height * (1 - x * x), None


# %% wrong scaled-tanh: no None
# says: forward has two arguments, so backward returns two values. The height is a number and has no
# gradient: return None in its place.
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        t = x.tanh()
        ctx.save_for_backward(t)
        ctx.height = height
        return height * t

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * ctx.height * (1 - t * t)


# %% wrong scaled-tanh: a gradient for the height
# says: You return a gradient for the height. It was given as a number, not as a tensor: nothing can
# receive one, and None belongs there.
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        t = x.tanh()
        ctx.save_for_backward(t)
        ctx.height = height
        return height * t

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * ctx.height * (1 - t * t), (g * t).sum()


# %% wrong scaled-tanh: x on the context
# says: The gradients are right as long as nobody changes x. `ctx.x = x` keeps it unguarded: use
# save_for_backward, which notices.
class ScaledTanh(Function):
    @staticmethod
    def forward(ctx, x, height):
        ctx.x, ctx.height = x, height
        return height * x.tanh()

    @staticmethod
    def backward(ctx, g):
        t = ctx.x.tanh()
        return g * ctx.height * (1 - t * t), None


# %% right predict-node: asked
class Blend(Function):
    @staticmethod
    def forward(ctx, a, b, t):
        return a + t * (b - a), b - a


_point, _way = Blend.apply(tg.ones(1, requires_grad=True) * 2, tg.tensor(5.0), 0.25)
_node = _point.grad_fn
node_says = {
    "num_inputs": _node.num_inputs,
    "num_outputs": _node.num_outputs,
    "needs_input_grad": _node.needs_input_grad,
    "len(next_functions)": len(_node.next_functions),
    "way.grad_fn is node": _way.grad_fn is _node,
}

# %% wrong predict-node: only tensors counted
# says: num_inputs counts all arguments of apply, the number 0.25 too. Only the edges leave it out.
node_says = {
    "num_inputs": 2,
    "num_outputs": 2,
    "needs_input_grad": (True, False, False),
    "len(next_functions)": 2,
    "way.grad_fn is node": True,
}

# %% wrong predict-node: an entry for each tensor
# says: needs_input_grad has an entry for each argument of forward. So index i in backward means
# argument i, whatever stands between.
node_says = {
    "num_inputs": 3,
    "num_outputs": 2,
    "needs_input_grad": (True, False),
    "len(next_functions)": 2,
    "way.grad_fn is node": True,
}

# %% wrong predict-node: all tensors need a gradient
# says: The tensor 5 doesn't require a gradient, and nothing behind it does. Being a tensor is not
# enough.
node_says = {
    "num_inputs": 3,
    "num_outputs": 2,
    "needs_input_grad": (True, True, False),
    "len(next_functions)": 2,
    "way.grad_fn is node": True,
}

# %% wrong predict-node: an edge for each argument
# says: 0.25 is no tensor and has no edge. next_functions has an entry for each tensor.
node_says = {
    "num_inputs": 3,
    "num_outputs": 2,
    "needs_input_grad": (True, False, False),
    "len(next_functions)": 3,
    "way.grad_fn is node": True,
}

# %% wrong predict-node: edges only where a gradient goes
# says: A tensor that needs no gradient keeps its place among the edges, as (None, 0). Otherwise the
# results of backward would lose their order.
node_says = {
    "num_inputs": 3,
    "num_outputs": 2,
    "needs_input_grad": (True, False, False),
    "len(next_functions)": 1,
    "way.grad_fn is node": True,
}

# %% wrong predict-node: a node for each output
# says: One call of apply makes one node, which both results have in common. An edge to it says by
# its number which of them is meant.
node_says = {
    "num_inputs": 3,
    "num_outputs": 2,
    "needs_input_grad": (True, False, False),
    "len(next_functions)": 2,
    "way.grad_fn is node": False,
}


# %% right rotate: inputs kept
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        found = [None, None, None]
        if ctx.needs_input_grad[0]:
            found[0] = gu * c + gv * s
        if ctx.needs_input_grad[1]:
            found[1] = -gu * s + gv * c
        if ctx.needs_input_grad[2]:
            found[2] = (gu * (-x * s - y * c) + gv * (x * c - y * s)).sum()
        return tuple(found)


# %% right rotate: with a rotation matrix
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        c, s = angle.cos(), angle.sin()
        matrix = tg.stack([tg.stack([c, -s]), tg.stack([s, c])])
        out = matrix @ tg.stack([x, y])
        ctx.save_for_backward(matrix, out)
        return out[0], out[1]

    @staticmethod
    def backward(ctx, gu, gv):
        matrix, out = ctx.saved_tensors
        g = tg.stack([gu, gv])
        back = matrix.t() @ g
        turn = (g[1] * out[0] - g[0] * out[1]).sum()
        grads = zip(ctx.needs_input_grad, (back[0], back[1], turn))
        return tuple(grad if needed else None for needed, grad in grads)


# %% wrong rotate: gradients rotated forward
# says: You rotate the gradients by the angle. They go back: x meets cos in u and sin in v, so its
# gradient is gu cos + gv sin.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        u, v = x * c - y * s, x * s + y * c
        need = ctx.needs_input_grad
        return (
            gu * c - gv * s if need[0] else None,
            gu * s + gv * c if need[1] else None,
            (gv * u - gu * v).sum() if need[2] else None,
        )


# %% wrong rotate: only u reaches x, only v reaches y
# says: Each output depends on both x and y. You use one gradient for each; the other term is
# missing.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        u, v = x * c - y * s, x * s + y * c
        need = ctx.needs_input_grad
        return (
            gu * c if need[0] else None,
            gv * c if need[1] else None,
            (gv * u - gu * v).sum() if need[2] else None,
        )


# %% wrong rotate: no gradient for the angle
# says: The angle gets no gradient. It is a tensor and requires one, so None is an answer that stops
# the training of the angle silently.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        (angle,) = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        need = ctx.needs_input_grad
        return (
            gu * c + gv * s if need[0] else None,
            gv * c - gu * s if need[1] else None,
            None,
        )


# %% wrong rotate: the sign of the angle
# says: The gradient of the angle has the wrong sign. The slope of u in the angle is -v, that of v
# is +u.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        u, v = x * c - y * s, x * s + y * c
        need = ctx.needs_input_grad
        return (
            gu * c + gv * s if need[0] else None,
            gv * c - gu * s if need[1] else None,
            (gu * v - gv * u).sum() if need[2] else None,
        )


# %% wrong rotate: x and y in the place of u and v
# says: For the angle you multiplied by x and y, the points before the rotation. The slopes are -v
# and u, the points after it.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        need = ctx.needs_input_grad
        return (
            gu * c + gv * s if need[0] else None,
            gv * c - gu * s if need[1] else None,
            (gv * x - gu * y).sum() if need[2] else None,
        )


# %% wrong rotate: the mean over the points
# says: The angle is used once for each point, and uses add up: sum over the points, don't take the
# mean.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        u, v = x * c - y * s, x * s + y * c
        need = ctx.needs_input_grad
        return (
            gu * c + gv * s if need[0] else None,
            gv * c - gu * s if need[1] else None,
            (gv * u - gu * v).mean() if need[2] else None,
        )


# %% wrong rotate: a list of results
# says: forward gives back a list. A list is one result that is no tensor, so nothing is recorded
# for what is in it. Return the two tensors as a tuple: return u, v.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return [x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()]

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        u, v = x * c - y * s, x * s + y * c
        found = gu * c + gv * s, gv * c - gu * s, (gv * u - gu * v).sum()
        return tuple(g if w else None for g, w in zip(found, ctx.needs_input_grad, strict=True))


# %% wrong rotate: everything computed
# says: All gradients are right, but you compute them even if nobody needs them. Ask
# ctx.needs_input_grad, and return None.
class Rotate(Function):
    @staticmethod
    def forward(ctx, x, y, angle):
        ctx.save_for_backward(x, y, angle)
        return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()

    @staticmethod
    def backward(ctx, gu, gv):
        x, y, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        u, v = x * c - y * s, x * s + y * c
        return gu * c + gv * s, gv * c - gu * s, (gv * u - gu * v).sum()


# %% right repair-swish: the sigmoid kept as well
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        s = (beta * x).sigmoid()
        ctx.save_for_backward(x, s)
        ctx.beta = beta
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * s * (1 + ctx.beta * x * (1 - s)), None


# %% right repair-swish: from the output
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        y = x * (beta * x).sigmoid()
        ctx.save_for_backward(x, y)
        ctx.beta = beta
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        s = 1 / (1 + (-ctx.beta * x).exp())
        return (s + ctx.beta * y * (1 - s)) * g, None


# %% wrong repair-swish: one gradient
# says: forward has two arguments. Return None for beta, which is a number.
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * (beta * x).sigmoid()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = (ctx.beta * x).sigmoid()
        return g * (s + ctx.beta * x * s * (1 - s))


# %% wrong repair-swish: g still missing
# says: g is still not used. The gradient is right only where a plain sum follows, as there g is 1.
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * (beta * x).sigmoid()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = (ctx.beta * x).sigmoid()
        return s + ctx.beta * x * s * (1 - s), None


# %% wrong repair-swish: beta still missing
# says: For beta = 1 all is right. The inner slope, that of beta * x, is beta: it belongs into the
# second term.
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * (beta * x).sigmoid()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = (ctx.beta * x).sigmoid()
        return g * (s + x * s * (1 - s)), None


# %% wrong repair-swish: beta in both terms
# says: beta belongs into the second term only. The first is the slope of the factor x, which is 1,
# times s.
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * (beta * x).sigmoid()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = (ctx.beta * x).sigmoid()
        return g * ctx.beta * (s + x * s * (1 - s)), None


# %% wrong repair-swish: g in the first term only
# says: g multiplies the whole slope. A bracket is missing around the two terms.
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * (beta * x).sigmoid()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = (ctx.beta * x).sigmoid()
        return g * s + ctx.beta * x * s * (1 - s), None


# %% wrong repair-swish: x still on the context
# says: The gradients are right, but x is still kept as an attribute. A change of it after forward
# gives a wrong gradient without an error.
class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.x, ctx.beta = x, beta
        return x * (beta * x).sigmoid()

    @staticmethod
    def backward(ctx, g):
        s = (ctx.beta * ctx.x).sigmoid()
        return g * (s + ctx.beta * ctx.x * s * (1 - s)), None


# %% right find-wrong: entry by entry
errors = {}
for name, f in suspects.items():
    tables = zip(numeric_jacobian(f, dock).flat, backward_jacobian(f, dock).flat)
    errors[name] = max(abs(a - b) for a, b in tables)

# %% right find-wrong: a comprehension
errors = {
    name: float(np.max(np.abs(backward_jacobian(f, dock) - numeric_jacobian(f, dock))))
    for name, f in suspects.items()
}

# %% wrong find-wrong: at a special point
# says: This is measured at x = [1, 1, 1]. There x and x² are equal, so the cube's fault doesn't
# show. Use the point of the exercise.
errors = {}
for name, f in suspects.items():
    one = tg.ones(3, dtype=tg.float64)
    table = numeric_jacobian(f, one) - backward_jacobian(f, one)
    errors[name] = float(np.abs(table).max())

# %% wrong find-wrong: no absolute value
# says: The largest of the signed differences misses those that are negative. Take the absolute
# value first.
errors = {}
for name, f in suspects.items():
    table = numeric_jacobian(f, dock) - backward_jacobian(f, dock)
    errors[name] = float(table.max())

# %% wrong find-wrong: the mean of the table
# says: The mean of the differences lets errors of both signs cancel, and hides a single bad entry
# among many good ones. Take the largest absolute value.
errors = {}
for name, f in suspects.items():
    table = numeric_jacobian(f, dock) - backward_jacobian(f, dock)
    errors[name] = float(np.abs(table.mean()))

# %% wrong find-wrong: one of the tables transposed
# says: One of your tables is transposed. With symmetric tables nobody notices, but that of the
# running sum isn't symmetric: exactly such a fault has been hidden from you.
errors = {}
for name, f in suspects.items():
    table = numeric_jacobian(f, dock).T - backward_jacobian(f, dock)
    errors[name] = float(np.abs(table).max())

# %% wrong find-wrong: only the gradient of the sum
# says: You compare sums over the outputs only, which is one backward pass with ones. Errors that
# cancel in the sum don't show: compare entry by entry.
errors = {}
for name, f in suspects.items():
    table = numeric_jacobian(f, dock) - backward_jacobian(f, dock)
    errors[name] = float(np.abs(table.sum(axis=0)).max())


# %% right log-sum-exp: softmax from the inputs, anew in backward
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top = x.max(-1)[0]
        ctx.save_for_backward(x)
        return top + (x - top.unsqueeze(-1)).exp().sum(-1).log()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        shifted = (x - x.detach().max(-1, keepdim=True)[0]).exp()
        return g.unsqueeze(-1) * (shifted / shifted.sum(-1, keepdim=True))


# %% right log-sum-exp: with the library's softmax
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top, _ = x.max(-1, keepdim=True)
        ctx.save_for_backward(x)
        return (tg.exp(x - top).sum(-1, keepdim=True).log() + top)[..., 0]

    @staticmethod
    def backward(ctx, g):
        return g[..., None] * ctx.saved_tensors[0].softmax(-1)


# %% wrong log-sum-exp: as it is read
# says: This is the formula as it is read: exp overflows for large scores and gives 0, whose
# logarithm is -inf, for very negative ones. Subtract the largest score first.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp().sum(-1).log()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1) * (x - y.unsqueeze(-1)).exp()


# %% wrong log-sum-exp: safe forward, naive backward
# says: The values are safe, the gradient isn't: exp(x) overflows in backward as it did in forward.
# Use exp(x - y).
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top = x.max(-1, keepdim=True)[0]
        y = ((x - top).exp().sum(-1, keepdim=True).log() + top).squeeze(-1)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g.unsqueeze(-1) * (x.exp() / x.exp().sum(-1, keepdim=True))


# %% wrong log-sum-exp: one maximum for all rows
# says: You subtract the largest score of the whole tensor. In a row whose scores are far below it,
# all exponentials become 0. Each row needs its own maximum.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top = x.max()
        y = (x - top).exp().sum(-1).log() + top
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1) * (x - y.unsqueeze(-1)).exp()


# %% wrong log-sum-exp: the maximum not added again
# says: What you subtract from the scores has to be added to the logarithm.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top = x.max(-1, keepdim=True)[0]
        y = (x - top).exp().sum(-1).log()
        ctx.save_for_backward(x - top, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1) * (x - y.unsqueeze(-1)).exp()


# %% wrong log-sum-exp: softmax kept from forward
# says: The first derivatives are right, the second ones aren't: the softmax that you kept was made
# in forward, has no history and counts as a constant. Save x and the result.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top = x.max(-1, keepdim=True)[0]
        y = ((x - top).exp().sum(-1, keepdim=True).log() + top).squeeze(-1)
        ctx.save_for_backward((x - y.unsqueeze(-1)).exp())
        return y

    @staticmethod
    def backward(ctx, g):
        (softmax,) = ctx.saved_tensors
        return g.unsqueeze(-1) * softmax


# %% wrong log-sum-exp: g forgotten
# says: Your gradient is the softmax alone. Multiply by g, what arrives from the rest of the graph.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top = x.max(-1, keepdim=True)[0]
        y = ((x - top).exp().sum(-1, keepdim=True).log() + top).squeeze(-1)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (x - y.unsqueeze(-1)).exp()


# %% wrong log-sum-exp: g not unsqueezed
# says: g has the shape of the result, without the last axis. Multiplied as it is, it meets the
# wrong entries or doesn't fit: g.unsqueeze(-1).
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        top = x.max(-1, keepdim=True)[0]
        y = ((x - top).exp().sum(-1, keepdim=True).log() + top).squeeze(-1)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * (x - y.unsqueeze(-1)).exp()
