"""Rows of samples: views, and writing into a copy through a view."""

from tests.samples import call, given, real, row

row(
    "ravel",
    call(real(2, 3)),
    call(real()),
    call(real(2, 0)),
    call(real(2, 1, 3)),
)
row(
    "unflatten",
    call(real(2, 6), 1, (2, 3)),
    call(real(2, 6), -1, (3, -1)),
    call(real(4), 0, [2, 2]),
    call(real(2, 0), 1, (0, 3)),
    call(real(2, 3), 0, (2, 1)),
    bad=(
        call(real(2, 6), 1, (2, 2)),
        call(real(2, 6), 1, ()),
        call(real(2, 6), 2, (3,)),
        call(real(2, 6), 1, (-1, -1)),
        call(real(2, 6), 1, 6),
        call(real(), 0, (1,)),
    ),
)
row(
    "movedim moveaxis",
    call(real(2, 3, 4), 0, 2),
    call(real(2, 3, 4), (0, 1), (2, 0)),
    call(real(2, 3, 4), [-1], [0]),
    call(real(), 0, 0),
    call(real(2, 0, 3), 1, 0),
    bad=(
        call(real(2, 3), 0, 2),
        call(real(2, 3), (0, 1), (0,)),
        call(real(2, 3), (0, 0), (0, 1)),
        call(real(2, 3), (0, 1), (1, 1)),
    ),
)
row("swapdims", call(real(2, 3), 0, 1), call(real(), 0, 0), bad=(call(real(2, 3), 0, 2),))
row(
    "adjoint",
    call(real(2, 3)),
    call(real(2, 3, 4)),
    call(real()),
    bad=(call(real(3)),),
)
row("H", call(real(2, 3)), bad=(call(real(3)), call(real(2, 3, 4))))
row("mH", call(real(2, 3)), call(real(2, 3, 4)), bad=(call(real(3)),))
row(
    "diagonal",
    call(real(3, 3)),
    call(real(2, 4), 1),
    call(real(4, 2), -1),
    call(real(2, 3, 4), 0, 0, 2),
    call(real(2, 3, 4), 1, -1, 0),
    call(real(2, 3, 4), offset=1, dim1=1, dim2=2),
    call(real(2, 3), 5),
    call(real(2, 3), -5),
    call(real(0, 3)),
    bad=(
        call(real(2, 3), 0, 1, 1),
        call(real(2, 3), 0, 0, 2),
        call(real(3)),
        call(real()),
        call(real(2, 3), 0.5),
    ),
)
row(
    "tensor_split",
    call(real(5), 2),
    call(real(2, 5), 3, 1),
    call(real(5), (1, 3)),
    call(real(5), [-2, 7]),
    call(real(5), (3, 1)),
    call(real(2), 4),
    call(real(0), 2),
    call(real(5), given([2, 3])),
    call(real(5), given(2)),
    bad=(call(real(5), 0), call(real(), 1), call(real(5), 2, 1)),
)
row(
    "hsplit",
    call(real(4), 2),
    call(real(2, 4), 2),
    call(real(2, 4), (1, 3)),
    bad=(call(real(), 1), call(real(3), 2), call(real(3), 0)),
)
row(
    "vsplit",
    call(real(4, 2), 2),
    call(real(4, 2), [1]),
    bad=(call(real(4), 2), call(real(3, 2), 2)),
)
row(
    "dsplit",
    call(real(2, 3, 4), 2),
    call(real(2, 3, 4), (1, 2)),
    bad=(call(real(4, 2), 2), call(real(2, 3, 4), 3)),
)
row(
    "split_with_sizes",
    call(real(5), [1, 4]),
    call(real(2, 5), (2, 0, 3), 1),
    bad=(call(real(5), [1, 2]), call(real(5), [-1, 6]), call(real(5), [5], 1)),
)
row(
    "atleast_1d atleast_2d atleast_3d",
    call(real()),
    call(real(3)),
    call(real(2, 3)),
    call(real(2, 3, 4)),
    call(real(), real(2)),
    call([real(), real(2, 3)]),
    call(real(0)),
)
row(
    "broadcast_shapes",
    call((2, 1), (3,)),
    call((), (2, 3)),
    call(2, (3, 1)),
    call(),
    bad=(call((2,), (3,)),),
)
row(
    "Tensor.view",
    call(real(2, 3), size=(3, 2)),
    call(real(4), (2, -1)),
    bad=(call(real(2, 3)), call(real(2, 3), "a"), call(real(2, 3), 1.5)),
)
row(
    "Tensor.select",
    call(real(2, 3), 1, given(1)),
    call(real(2, 3), dim=0, index=-2),
    bad=(call(real(2, 3), 0, 0.5), call(real(2, 3), 0)),
)
row(
    "Tensor.expand",
    call(real(1, 3), 2, -1, 3),
    call(real(3), size=(1, 3)),
    call(real(2, 1), 3, 2, 4),
    call(real(3), 1, 1, 3),
    call(real(3), 2, 1, 3),
    call(real(2, 3), 1, 2, 3),
)
row(
    "squeeze_",
    call(real(1, 2, 1)),
    call(real(1, 2, 1), 0),
    call(real(1, 2, 1), (0, -1)),
    call(real()),
    bad=(call(real(2), 1),),
)
row("unsqueeze_", call(real(3), 0), call(real(2, 3), -1), bad=(call(real(3), 2),))
row(
    "transpose_ swapaxes_ swapdims_",
    call(real(2, 3), 0, 1),
    call(real(2, 3, 4), -1, 0),
    bad=(call(real(2), 0, 1),),
)
row("t_", call(real(2, 3)), call(real(3)), call(real()), bad=(call(real(2, 3, 4)),))
row(
    "as_strided_",
    call(real(6), (2, 2), (1, 2)),
    call(real(2, 3), (3,), (2,), 1),
    bad=(call(real(6), (7,), (1,)), call(real(6), (2,), (-1,))),
)
row(
    "select_scatter",
    call(real(2, 3), real(3), 0, 1),
    call(real(2, 3), real(2), 1, -1),
    call(real(2, 3), given([1, 2]), 1, 0),
    call(real(2, 3, 2), real(2, 2), 1, 0),
    bad=(
        call(real(2, 3), real(2), 0, 1),
        call(real(2, 3), real(1, 3), 0, 1),
        call(real(2, 3), real(3), 0, 2),
        call(real(2, 3), real(3), 2, 0),
    ),
)
row(
    "slice_scatter",
    call(real(4), real(2), 0, 1, 3),
    call(real(2, 5), real(2, 3), 1, 0, 5, 2),
    call(real(2, 3), real(2, 3)),
    call(real(2, 3), real(2, 2), 1, -2),
    call(real(2, 3), real(2, 0), 1, 2, 1),
    call(real(2, 3), real(2, 2), dim=1, start=1),
    bad=(
        call(real(4), real(1), 0, 1, 3),
        call(real(4), real(4), 0, 0, 4, 0),
        call(real(4), real(4), 1),
    ),
)
row(
    "diagonal_scatter",
    call(real(3, 3), real(3)),
    call(real(2, 4), real(2), 1),
    call(real(2, 3, 3), real(2, 2), -1, 1, 2),
    call(real(2, 3), real(0), 9),
    bad=(call(real(3, 3), real(2)), call(real(3), real(3)), call(real(3, 3), real(3), 0, 0, 0)),
)
