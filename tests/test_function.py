"""Function: operations that users define, in the static style of today and the instance style of
2017."""

from __future__ import annotations

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.autograd import Function, once_differentiable

from .death import death
from .parity.both import attempt, both


def leaf(lib, *values):
    return lib.tensor(list(values), dtype=lib.float64, requires_grad=True)


# --- static style ---------------------------------------------------------------------------------


@both
def test_static(lib):
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, w, factor, name=None):
            ctx.save_for_backward(x, w)
            ctx.factor = factor
            return x * w * factor

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return g * w * ctx.factor, g * x * ctx.factor, None, None

    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    y = Scale.apply(x, w, 10)
    seen = [
        y,
        y.grad_fn.name(),
        y.is_leaf,
        [f.name().split("::")[-1] for f, _ in y.grad_fn.next_functions if f],
    ]
    y.sum().backward()
    again = attempt(lambda: y.sum().backward())
    (gx,) = lib.autograd.grad(Scale.apply(x, w, 2.0).sum(), x, create_graph=True)
    return [*seen, x.grad, w.grad, again, gx, lib.autograd.grad(gx.sum(), w)]


@both
def test_needs_input_grad(lib):
    log = []

    class Op(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, n, w):
            log.append(ctx.needs_input_grad)
            return x + w

        @staticmethod
        def backward(ctx, g):
            log.append(ctx.needs_input_grad)
            return g, None, g

    x, plain = leaf(lib, 1, 2), lib.ones(2, dtype=lib.float64)
    Op.apply(x, 3, plain).sum().backward()
    Op.apply(plain, 3, plain)
    with lib.no_grad():
        out = Op.apply(x, 3, x)
    return [log, x.grad, out.requires_grad]


@both
def test_nothing_is_recorded_inside(lib):
    log = []

    class Op(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            log.append((lib.is_grad_enabled(), x.requires_grad, (x * 2).requires_grad))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            log.append((lib.is_grad_enabled(), g.requires_grad))
            return g * 2

    x = leaf(lib, 1, 2)
    Op.apply(x).sum().backward()
    lib.autograd.grad(Op.apply(x).sum(), x, create_graph=True)
    return log


@both
def test_several_outputs(lib):
    log = []

    class Op(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3, 7

        @staticmethod
        def backward(ctx, a, b, c):
            log.append((a, b, c))
            return a * 2 + b * 3

    x = leaf(lib, 1, 2)
    a, b, c = Op.apply(x)
    seen = [a.output_nr, b.output_nr, a.grad_fn is b.grad_fn, c, isinstance(Op.apply(x), tuple)]
    b.sum().backward()
    return [*seen, log, x.grad]


@both
def test_materialized_gradients(lib):
    log = []

    def make(materialize):
        class Op(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materialize)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, a, b):
                log.append((a is None, b is None))
                return b * 3 if a is None else a * 2 + b * 3

        return Op

    x = leaf(lib, 1, 2)
    for materialize in (True, False):
        make(materialize).apply(x)[1].sum().backward()
    return [log, x.grad]


@both
def test_wrong_gradients(lib):
    results = [
        lambda g: g,
        lambda g: (g, g),
        lambda g: (g, None),
        lambda g: (g, None, None),
        lambda g: (g, None, g),
        lambda g: (),
        lambda g: (None, None),
        lambda g: (g[:1], None),
        lambda g: (g.sum(), None),
        lambda g: (g.view(2, 1), None),
        lambda g: (g.expand(3, 2), None),
        lambda g: (g.float(), None),
        lambda g: (2.0, None),
        lambda g: [g, None],
        lambda g: (g.detach().numpy() if not g.requires_grad else g, None),
    ]
    seen = []
    for result in results:

        class Op(lib.autograd.Function):
            answer = staticmethod(result)

            @staticmethod
            def forward(ctx, x, n):
                return x * n

            @staticmethod
            def backward(ctx, g):
                return Op.answer(g)

        x = leaf(lib, 1, 2)
        y = Op.apply(x, 3)
        seen += [attempt(lambda y=y: y.sum().backward()), x.grad]
    return seen


@both
def test_wrong_forwards(lib):
    def op(result):
        class Op(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return result(x)

            @staticmethod
            def backward(ctx, *g):
                return g[0]

        return Op

    x = leaf(lib, 1, 2)
    results = (lambda x: None, lambda x: 3, lambda x: [x * 2], lambda x: (x * 2, "a"), lambda x: {})
    seen = []
    for result in results:
        out = attempt(lambda result=result: op(result).apply(x))
        seen.append(out if isinstance(out, str | None | int) else type(out).__name__)
    return seen


@both
def test_missing_methods(lib):
    class NoForward(lib.autograd.Function):
        pass

    class NoBackward(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = leaf(lib, 1, 2)
    y = NoBackward.apply(x)
    return [attempt(lambda: y.sum().backward()), attempt(lambda: NoForward.apply(x))]


@both
def test_save_for_backward(lib):
    class Op(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            y = x.exp()
            between = y * w
            ctx.save_for_backward(x, None, y, between)
            return y, between * 2

        @staticmethod
        def backward(ctx, gy, gb):
            _, nothing, y, between = ctx.saved_tensors
            assert nothing is None
            return gy * y + gb * between * 2, gb * y * 2

    x, w = leaf(lib, 0.5, 1), leaf(lib, 2, 3)
    y, b = Op.apply(x, w)
    (y.sum() + b.sum()).backward()
    seen = [x.grad, w.grad]
    a = x * 1
    y, b = Op.apply(a, w)
    a.add_(1)
    seen.append(attempt(lambda: y.sum().backward()))
    y, b = Op.apply(x, w)
    y.mul_(2)
    seen.append(attempt(lambda: b.sum().backward()))
    return [*seen, attempt(lambda: _save_a_number(lib).apply(x))]


def _save_a_number(lib):
    class Op(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    return Op


@both
def test_second_order_through_saved_tensors(lib):
    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = leaf(lib, 0.5, 1.5)
    seen = []
    for op in (Cube, Exp):
        y = op.apply(x).sum()
        for _ in range(3):
            (y,) = lib.autograd.grad(y, x, lib.ones_like(y), create_graph=True)
            seen.append(y)
    return seen


@both
def test_dirty(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(lib, 1, 2)
    y = x * 1
    z = Double.apply(y)
    seen = [z is y, y, y.grad_fn.name(), y._version]
    y.sum().backward()
    seen.append(x.grad)
    base = x * 1
    view = base[1:]
    Double.apply(view)
    (base * base).sum().backward()
    return [*seen, base, x.grad, attempt(lambda: Double.apply(x))]


@both
def test_wrongly_dirty(lib):
    class NotReturned(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    class NotAnInput(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(lib, 1, 2) * 1
    seen = [attempt(lambda op=op: op.apply(x)) for op in (NotReturned, NotAnInput)]
    return [s if isinstance(s, str) else "done" for s in seen]


@both
def test_non_differentiable(lib):
    log = []

    class Sort(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            order = (x > 1).to(x.dtype)
            ctx.mark_non_differentiable(order)
            ctx.save_for_backward(order)
            return x * 2, order

        @staticmethod
        def backward(ctx, g, g_order):
            log.append(g_order)
            return g * 2

    x = leaf(lib, 1, 2)
    y, order = Sort.apply(x)
    y.sum().backward()
    return [y.requires_grad, order.requires_grad, order.is_leaf, log, x.grad]


@both
def test_integer_outputs(lib):
    class Op(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x.long()

        @staticmethod
        def backward(ctx, g, h):
            return g * 2

    y, n = Op.apply(leaf(lib, 1, 2))
    return [y.requires_grad, n.requires_grad]


@both
def test_an_input_returned_as_it_is(lib):
    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 10

    x = leaf(lib, 1, 2)
    y = Same.apply(x)
    seen = [y is x, y.is_leaf, y.data_ptr() == x.data_ptr(), x.grad_fn]
    y.sum().backward()
    return [*seen, x.grad]


@both
def test_a_view_returned(lib):
    class First(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            return lib.cat([g, g * 0])

    x = leaf(lib, 1, 2)
    y = First.apply(x * 1)
    seen = [y, attempt(lambda: First.apply(x * 1).mul_(2))]
    y.sum().backward()
    return [*seen, x.grad]


@both
def test_once_differentiable(lib):
    module = lib.autograd.function if hasattr(lib.autograd, "function") else lib.autograd

    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @module.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = leaf(lib, 1, 2)
    Square.apply(x).sum().backward()
    (g,) = lib.autograd.grad(Square.apply(x).exp().sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return [x.grad, g, h, attempt(lambda: g.sum().backward())]


@both
def test_setup_context(lib):
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.factor = inputs
            ctx.save_for_backward(x, output)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * ctx.factor + (y - x * ctx.factor), None

    x = leaf(lib, 1, 2)
    y = Scale.apply(x, 5)
    y.sum().backward()
    return [y, x.grad]


@both
def test_hooks_on_functions(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    log = []
    x = leaf(lib, 1, 2)
    y = Double.apply(x)
    y.grad_fn.register_hook(lambda gi, go: log.append((gi[0].tolist(), go[0].tolist())))
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    return [log, x.grad]


@both
def test_a_function_within_a_function(lib):
    class Inner(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    class Outer(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with lib.enable_grad():
                inner = x.detach().requires_grad_()
                y = Inner.apply(inner).exp()
            ctx.inner, ctx.y = inner, y
            return y.detach()

        @staticmethod
        def backward(ctx, g):
            (gx,) = lib.autograd.grad(ctx.y, ctx.inner, g)
            return gx

    x = leaf(lib, 0.5, 1)
    Outer.apply(x).sum().backward()
    return [x.grad]


@both
def test_apply_of_plain_values(lib):
    class Op(lib.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g, None

    x = lib.ones(2)
    return [Op.apply(x, 2).requires_grad, attempt(lambda: Op()(x, 2)), attempt(lambda: Op.apply())]


def test_an_exception_in_backward_comes_out():
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        Bad.apply(leaf(tg, 1)).sum().backward()


def test_errors_name_the_function():
    class Halved(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g[:1]

    with pytest.raises(RuntimeError, match=r"HalvedBackward.*\[1\].*\[2\]"):
        Halved.apply(leaf(tg, 1, 2)).sum().backward()


def test_functions_die_by_reference_count():
    class Op(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            ctx.note = "note"
            return y

        @staticmethod
        def backward(ctx, g):
            _, y = ctx.saved_tensors
            return g * y

    for run in (False, True):
        with death() as watch:
            x = leaf(tg, 1, 2)
            y = Op.apply(x)
            watch(y)
            watch(y.grad_fn)
            if run:
                y.sum().backward()
            del x, y


def test_a_function_around_numpy():
    class Sort(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.order = np.argsort(x.detach().numpy())
            return tg.tensor(x.detach().numpy()[ctx.order])

        @staticmethod
        def backward(ctx, g):
            back = np.empty_like(g.numpy())
            back[ctx.order] = g.numpy()
            return tg.tensor(back)

    x = leaf(tg, 3, 1, 2)
    (Sort.apply(x) * tg.tensor([1.0, 10, 100], dtype=tg.float64)).sum().backward()
    assert x.grad.tolist() == [100, 1, 10]


def test_once_differentiable_says_what_it_was():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = leaf(tg, 1, 2)
    (g,) = tg.autograd.grad(Square.apply(x).exp().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"SquareBackward.*once_differentiable"):
        g.sum().backward()


# --- instance style, as in the notes --------------------------------------------------------------


class Cube(Function):
    """x³, as one wrote it in 2017."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        self.save_for_backward(x)
        return x**3 * self.factor

    def backward(self, g):
        (x,) = self.saved_tensors
        return g * 3 * x**2 * self.factor


class Pair(Function):
    def forward(self, x, w):
        self.save_for_backward(x, w)
        return x * w, x + w

    def backward(self, gm, ga):
        x, w = self.saved_tensors
        return gm * w + ga, gm * x + ga


class Scaled(Function):
    """In place."""

    def forward(self, x):
        self.mark_dirty(x)
        x.mul_(5)
        return x

    def backward(self, g):
        return g * 5


def test_instance_style():
    x = leaf(tg, 1, 2)
    op = Cube(2.0)
    y = op(x)
    assert y.tolist() == [2, 16] and y.grad_fn is op and y.creator is op
    y.sum().backward()
    assert x.grad.tolist() == [6, 24]


def test_an_instance_records_one_call():
    op = Cube()
    x = leaf(tg, 1, 2)
    op(x)
    with pytest.raises(RuntimeError, match="used already"):
        op(x)


def test_instance_style_with_several_tensors():
    x, w = leaf(tg, 1, 2), leaf(tg, 3, 4)
    product, total = Pair()(x, w)
    tg.autograd.backward([product, total], [tg.ones_like(x), tg.full_like(x, 10.0)])
    assert x.grad.tolist() == [13, 14] and w.grad.tolist() == [11, 12]


def test_instance_style_runs_on_tensors_without_history():
    seen = []

    class Look(Function):
        def forward(self, x):
            seen.append((x.requires_grad, tg.is_grad_enabled()))
            return x * 1

        def backward(self, g):
            return g

    Look()(leaf(tg, 1))
    assert seen == [(False, False)]


def test_instance_style_in_place():
    x = leaf(tg, 1, 2)
    y = x * 1
    z = Scaled()(y)
    assert z is y and y.tolist() == [5, 10] and y._version > 0
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]


@pytest.mark.parametrize("mark", [False, True])
def test_sharing_that_only_the_function_knows_of(mark):
    class Transpose(Function):
        def forward(self, x):
            y = tg.from_numpy(x.numpy().T)
            if mark:
                self.mark_shared_storage((x, y))
            return y

        def backward(self, g):
            return g.t()

    x = leaf(tg, 1, 2).view(1, 2) * 1
    loss = (x * x).sum()
    y = Transpose()(x)
    y += 100
    assert x.tolist() == [[101, 102]] and (x._version, y._version) == (int(mark), 1)
    if mark:
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            loss.backward()
    else:
        loss.backward()


def test_instance_style_takes_tensors_only():
    with pytest.raises(TypeError, match="settings to __init__"):
        Cube()(3.0)


def test_instance_style_guards_what_it_saved():
    x = leaf(tg, 1, 2)
    a = x * 1
    y = Cube()(a)
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = Cube()(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_instance_style_has_no_second_derivative():
    x = leaf(tg, 1, 2)
    with pytest.raises(RuntimeError, match="static style"):
        tg.autograd.grad(Cube()(x).sum(), x, create_graph=True)


def test_the_styles_are_told_apart():
    with pytest.raises(RuntimeError, match="ordinary method"):
        Cube.apply(leaf(tg, 1))


def test_volatile_inputs():
    x = tg.autograd.Variable(tg.ones(2), volatile=True)
    y = Cube()(x)
    assert y.volatile and not y.requires_grad and y.grad_fn is None
