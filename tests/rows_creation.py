"""Sample inputs of factories, copies and questions, beside those in `samples.py`."""

from .samples import SHAPES, Own, call, given, mask, real, row

NEGATIVE = (call(-1, 3), call(2, -1))

row(
    "logspace",
    call(0, 2, 5),
    call(-1.5, 1.5, 4, 2.0),
    call(0, 5, 6, base=0.5),
    call(2, 9, 1),
    call(0, 1, 0),
    call(1, 3, 3, base=-2),
    call(0, 3, 4, dtype=Own("int64")),
    call(0, 1, 7, dtype=Own("float64")),
    call(0, 1, 5, requires_grad=True),
    bad=(
        call(0, 1, -1),
        call(0, 1),
        call(0, 1, 2.0),
        call("a", 1, 2),
        call(0, 1, 2, dtype=Own("bool")),
    ),
)
row(
    "empty_strided",
    call((2, 3), (1, 2)),
    call((2, 3), (0, 1)),
    call((2, 3), (10, 2)),
    call((), ()),
    call((2,), (3,), dtype=Own("int64")),
    bad=(call((2,), (-1,)), call((2,), (1, 1)), call((-2,), (1,)), call(2, 1)),
    values=False,
)
row(
    "tril_indices triu_indices",
    *(
        call(*a)
        for a in ((3, 3), (4, 3, -1), (3, 4, 1), (3, 3, -5), (2, 2, 5), (0, 3), (3, 0), (1, 5, 2))
    ),
    call(2, 2, offset=1, dtype=Own("int32")),
    bad=(*NEGATIVE, call(2.0, 2), call(2, 2, dtype=Own("float32"))),
)
row(
    "new_empty_strided",
    call(real(2), (2, 3), (1, 2)),
    call(real(2), (2, 3), (1, 2), dtype=Own("int64")),
    bad=(call(real(2), (2,), (1, 1)),),
    values=False,
)
row(
    "meshgrid",
    call(real(2), real(3)),
    call([real(2), real(3), real(1)]),
    call(real(2), real()),
    call(real(2)),
    call(real(0), real(3)),
    call(real(2), real(3), indexing="xy"),
    call(real(2), real(3), real(4), indexing="xy"),
    bad=(
        call(),
        call([]),
        call(real(2), real(2, 2)),
        call(real(2), given([1])),
        call(real(2), indexing="ab"),
        call(real(2), 3),
    ),
)
row(
    "cartesian_prod",
    call(real(2), real(3)),
    call(real(2), real(1), real(2)),
    call(real(2)),
    call(real(2), real(0)),
    bad=(call(), call(real(2), given([1])), call(real(2), real(2, 2)), call([real(2), real(3)])),
)
row(
    "combinations",
    call(real(4)),
    call(real(4), 3),
    call(real(3), r=2, with_replacement=True),
    call(real(3), 0),
    call(real(3), 1),
    call(real(2), 3),
    call(real(2), 3, True),
    call(real(0)),
    bad=(call(real(2, 2)), call(real(2), -1), call(real())),
)
row(
    "fill",
    call(real(2, 3), 2.5),
    call(real(2), real()),
    call(given([1, 2]), 3),
    bad=(call(real(2), real(2)),),
)
row(
    "set_",
    call(real(2, 3, fixed=True), real(4, fixed=True)),
    call(real(2, fixed=True), real(2, 3, fixed=True)),
    call(real(2, fixed=True)),
    bad=(call(real(2), 3), call(real(2), [1.0]), call(real(2), given([1, 2]))),
    dtypes=False,
)
row(
    "numel is_floating_point is_complex is_signed detach",
    *(call(real(*s)) for s in SHAPES),
    call(given([1, 2])),
    call(mask(2)),
)
row(
    "is_nonzero",
    call(given([0.0])),
    call(given([[2.0]])),
    call(given(3)),
    bad=(call(real(2)), call(real(0))),
    syncs=True,
)
