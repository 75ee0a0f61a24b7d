"""Embedding layers beyond their rows: sparse gradients, rows kept short, given tables."""

import copy

import pytest

import tinygrad_course as tg

from . import fake_cuda
from .parity.both import attempt, both, refused


def table(lib, rows=4):
    return (lib.arange(3.0 * rows) / 3).reshape(rows, 3).requires_grad_()


def look_up(lib, weight, *rows, **options):
    return lib.nn.functional.embedding(lib.tensor(rows), weight, sparse=True, **options)


def parts(grad):
    """A sparse gradient as plain data: as it is, and with each row once."""
    once = grad.coalesce()
    return [
        grad.is_sparse,
        repr(grad),
        grad.is_coalesced(),
        grad._nnz(),
        grad._indices()[0].tolist(),
        grad._values().clone(),
        once.indices()[0].tolist(),
        once.values(),
        grad.to_dense(),
        tuple(grad.shape),
    ]


@both
def test_a_sparse_gradient(lib):
    weight = table(lib)
    look_up(lib, weight, 1).sum().backward()
    other, weight.grad = weight.grad, None
    (look_up(lib, weight, 2, 0, 2) * lib.arange(3.0)).sum().backward()
    grad = weight.grad
    return [
        parts(grad),
        grad.type(),
        str(grad.dtype),
        str(grad.layout),
        grad.size(0),
        grad.dim(),
        grad.ndim,
        grad.numel(),
        len(grad),
        grad.sparse_dim(),
        grad.dense_dim(),
        grad.requires_grad,
        grad.norm(),
        grad.norm(1),
        weight.is_sparse,
        parts(grad * 2),
        parts(0.5 * grad),
        parts(grad / 4),
        parts(-grad),
        parts(grad.clone()),
        parts(grad.detach()),
        parts(grad.data),
        (grad + other).to_dense(),
        parts(grad.to(lib.float64)),
        parts(grad.coalesce() * 3),
        weight.detach() + grad,
        weight.detach().clone().add_(grad, alpha=-0.5),
        parts(grad.mul_(2)),
        parts(grad.div_(4)),
        parts(grad.zero_()),
        [attempt(lambda: grad.indices()), attempt(lambda: grad.values())],
    ]


@both
def test_an_uncoalesced_gradient_gives_no_indices(lib):
    weight = table(lib)
    look_up(lib, weight, 1).sum().backward()
    return [attempt(lambda: weight.grad.indices()), attempt(lambda: weight.grad.values())]


@both
def test_sparse_gradients_add_up(lib):
    weight = table(lib)
    look_up(lib, weight, 0, 1).sum().backward()
    first = weight.grad
    look_up(lib, weight, 1, 3).sum().backward()
    seen = [weight.grad is first, parts(weight.grad)]
    (weight * 2).sum().backward()  # a dense one makes the sum dense
    seen += [weight.grad.is_sparse, weight.grad.clone()]
    dense = weight.grad
    look_up(lib, weight, 0).sum().backward()
    return [*seen, weight.grad is dense, weight.grad]


@both
def test_gradients_that_meet_at_the_table(lib):
    def gradient(*losses):
        weight = table(lib)
        sum(loss(weight) for loss in losses).backward()
        return weight.grad.coalesce().to_dense() if weight.grad.is_sparse else weight.grad

    sparse = [lambda w, row=row: look_up(lib, w, row, 3).sum() for row in (0, 1)]
    dense = [lambda w, k=k: (w * k).sum() for k in (1, 2)]
    return [gradient(*sparse), gradient(*sparse, *dense), gradient(*dense, *sparse)]


@both
def test_through_a_product_with_a_number(lib):
    weight = table(lib)
    look_up(lib, weight * 2, 0, 1).sum().backward()
    return parts(weight.grad)


@both
def test_padding_and_bags(lib):
    weight = table(lib)
    look_up(lib, weight, 1, 0, 1, padding_idx=1).sum().backward()
    seen = parts(weight.grad)
    for mode in ("sum", "mean"):
        weight.grad = None
        flat, offsets = lib.tensor([0, 1, 1, 3]), lib.tensor([0, 3])
        bag = lib.nn.functional.embedding_bag
        bag(flat, weight, offsets, mode=mode, sparse=True).sum().backward()
        seen.append(parts(weight.grad))
    return seen


@both
def test_weights_of_a_bag_learn(lib):
    seen = []
    for padding in (None, 1):
        weight, scale = table(lib), lib.tensor([1.0, 2.0, -3.0, 4.0], requires_grad=True)
        bag = lib.nn.functional.embedding_bag(
            lib.tensor([0, 1, 1, 3]),
            weight,
            lib.tensor([0, 2]),
            mode="sum",
            per_sample_weights=scale,
            padding_idx=padding,
        )
        (bag**2).sum().backward()
        seen += [bag, weight.grad, scale.grad]
    return seen


@both
def test_hooks_see_the_sparse_gradient(lib):
    weight, seen = table(lib), []
    weight.register_hook(lambda grad: seen.append(grad.to_dense()))
    weight.register_hook(lambda grad: grad * 2)
    look_up(lib, weight, 0, 1).sum().backward()
    return [seen, parts(weight.grad)]


@both
def test_second_derivatives(lib):
    weight = table(lib)
    (grad,) = lib.autograd.grad((look_up(lib, weight, 1, 1) ** 3).sum(), weight, create_graph=True)
    (second,) = lib.autograd.grad((grad.to_dense() ** 2).sum(), weight)
    return [grad.requires_grad, second.to_dense()]


@both
def test_zero_grad_and_assignment(lib):
    layer = lib.nn.Embedding(4, 3, sparse=True)
    layer(lib.tensor([1, 1])).sum().backward()
    grad = layer.weight.grad
    layer.zero_grad(set_to_none=False)
    seen = [layer.weight.grad.is_sparse, layer.weight.grad.to_dense()]
    layer.weight.grad = None
    layer.weight.grad = grad
    return [*seen, layer.weight.grad is grad]


@both
def test_what_has_no_sparse_kernel(lib):
    weight = table(lib)
    look_up(lib, weight, 0).sum().backward()
    refused = [
        attempt(lambda: weight.grad == weight.grad),
        attempt(lambda: weight.grad.max()),
        attempt(lambda: lib.nn.utils.clip_grad_norm_([weight], 1.0)),
    ]
    return refused


def test_what_has_no_sparse_kernel_says_what_to_do():
    weight = table(tg)
    look_up(tg, weight, 0).sum().backward()
    with pytest.raises(NotImplementedError, match=r"size \[4, 3\] has 1 sparse rows.*to_dense"):
        weight.grad.exp()


@refused("scale_grad_by_freq not supported with sparse gradients")
def test_frequencies_of_a_sparse_gradient(lib):
    look_up(lib, table(lib), 0, scale_grad_by_freq=True).sum().backward()


@refused(r"index 1 of input takes value 4 .* range \[0, 4\)")
def test_a_row_that_is_not_there(lib):
    look_up(lib, table(lib), 0, 4)


@both
def test_rows_are_kept_short_in_place(lib):
    seen = []
    for p in (1.0, 2.0, 3.5):
        weight = table(lib)
        out = lib.nn.functional.embedding(lib.tensor([1, 1, 0]), weight, max_norm=2.0, norm_type=p)
        seen += [out, weight, weight._version]
    weight = table(lib)
    out = lib.nn.functional.embedding_bag(lib.tensor([[0, 3]]), weight, max_norm=1.0)
    return [*seen, out, weight]


@both
def test_weights_changed_since_are_noticed(lib):
    weight = table(lib) * 1
    out = (weight * weight).sum() + lib.nn.functional.embedding(
        lib.tensor([3]), weight, max_norm=1.0
    ).sum()
    return attempt(out.backward)


@both
def test_given_tables(lib):
    given = lib.arange(6.0).reshape(2, 3)
    layer = lib.nn.Embedding.from_pretrained(given, padding_idx=1, max_norm=9, sparse=True)
    bag = lib.nn.EmbeddingBag.from_pretrained(given, freeze=False, mode="sum", padding_idx=0)
    return [
        repr(layer),
        layer.weight.requires_grad,
        layer.weight.data_ptr() == given.data_ptr(),
        repr(bag),
        bag.weight.requires_grad,
        attempt(lambda: lib.nn.Embedding.from_pretrained(given[0])),
    ]


def test_a_copy_of_a_layer_is_its_own():
    layer = tg.nn.Embedding(3, 2)
    copied = copy.deepcopy(layer)
    with tg.no_grad():
        copied.weight.zero_()
    assert layer.weight.abs().sum() > 0


def test_sparse_gradients_on_a_device():
    """On a stand-in for a GPU, as on the CPU."""

    def run(device):
        weight = table(tg).detach().to(device).requires_grad_()
        places = tg.tensor([0, 3, 3], device=device)
        for _ in range(2):
            tg.nn.functional.embedding(places, weight, sparse=True, max_norm=2.0).sum().backward()
        assert weight.grad.device.type == device
        once = weight.grad.coalesce()
        return [once.indices().tolist(), once.values().tolist(), once.to_dense().tolist()]

    with fake_cuda.pretended():
        there = run("cuda")
    assert there == run("cpu")


@both
def test_rows_of_ints_are_shortened(lib):
    table = lib.full((4, 2), 3.0)
    rows = lib.tensor([[2, 0, 2]], dtype=lib.int32)
    F = lib.nn.functional
    return [F.embedding(rows, table, max_norm=1.0), F.embedding_bag(rows, table, max_norm=0.5)]


@both
def test_no_bags_at_all(lib):
    none, table = lib.zeros(0, dtype=lib.int64), lib.ones(4, 2)
    bag = lib.nn.functional.embedding_bag
    return [
        attempt(lambda e=e: bag(none, table, none, include_last_offset=e)) for e in (False, True)
    ]
