"""Rows of samples: joining, repeating, flipping, triangles and diagonals."""

from tests.samples import call, given, mask, real, row

TWO = call([real(2, 3), real(2, 3)])

row(
    "concat concatenate",
    TWO,
    call([real(2, 3), real(2, 1)], 1),
    call((real(2), real(0))),
    call([given([1, 2]), real(1)]),
    call([mask(2), given([1], "uint8")]),
    bad=(call([]), call([real(2, 3), real(3, 2)]), call(real(2, 3)), call([real(2), 1.0])),
)
row(
    "hstack",
    TWO,
    call([real(2), real(3)]),
    call([real(), real(2)]),
    call([real(2, 1), real(2, 3)]),
    call([real(0), real(2)]),
    call([given([1]), real(2)]),
    bad=(call([]), call([real(2, 3), real(3)]), call([real(2, 3), real(3, 3)]), call(real(2, 3))),
)
row(
    "vstack row_stack",
    TWO,
    call([real(3), real(2, 3)]),
    call([real(), real()]),
    call([real(0, 2), real(1, 2)]),
    bad=(call([]), call([real(2), real(3)]), call([real(2), "a"])),
)
row(
    "dstack",
    TWO,
    call([real(3), real(3)]),
    call([real(), real()]),
    call([real(2, 3, 1), real(2, 3)]),
    bad=(call([]), call([real(2), real(3)])),
)
row(
    "column_stack",
    call([real(3), real(3)]),
    call([real(3), real(3, 2)]),
    call([real(), real(1, 2)]),
    call([real(2, 3, 1), real(2, 1, 1)]),
    bad=(call([]), call([real(2), real(3)]), call([real(2), 1])),
)
row(
    "block_diag",
    call(real(2, 3), real(1, 2)),
    call(real(2), real(), real(2, 2)),
    call(real(2), real(0)),
    call(real(2, 2), given([[1]])),
    bad=(call(real(2, 2, 2)), call([real(2)]), call(1.0)),
)
row(
    "tile",
    call(real(2), (2,)),
    call(real(2, 3), (2,)),
    call(real(2), (2, 2)),
    call(real(), (3,)),
    call(real(2, 3), ()),
    call(real(2), (0,)),
    bad=(call(real(2), (-1,)), call(real(2))),
)
row(
    "flip",
    call(real(2, 3), (0,)),
    call(real(2, 3), [0, -1]),
    call(real(2, 3), ()),
    call(real(2, 0), (0, 1)),
    call(real(2, 3, 2), (2, 0)),
    call(real(), (0,)),
    bad=(call(real(2, 3), (2,)), call(real(2, 3), (0, 0)), call(real(2, 3))),
)
row("fliplr", call(real(2, 3)), call(real(2, 3, 2)), bad=(call(real(3)), call(real())))
row("flipud", call(real(2, 3)), call(real(3)), bad=(call(real()),))
row(
    "roll",
    call(real(5), 2),
    call(real(2, 3), -1),
    call(real(2, 3), 1, 0),
    call(real(2, 3), (1, 2), (0, 1)),
    call(real(2, 3), (1, 1), (0, 0)),
    call(real(), 1),
    call(real(0), 1),
    call(real(2, 0), 3, 0),
    call(real(3), 7, -1),
    bad=(
        call(real(2, 3), (1, 2)),
        call(real(2, 3), (1, 2), 0),
        call(real(2, 3), 1, 2),
        call(real(2, 3), ()),
        call(real(), 1, 0),
    ),
)
row(
    "rot90",
    call(real(2, 3)),
    call(real(2, 3), 2),
    call(real(2, 3), -1),
    call(real(2, 3), 4),
    call(real(2, 3, 4), 1, (1, 2)),
    call(real(2, 3, 4), 3, [2, 0]),
    call(real(0, 3)),
    bad=(
        call(real(3)),
        call(real(2, 3), 1, (0, 0)),
        call(real(2, 3), 1, (0, 2)),
        call(real(2, 3), 1, (0,)),
    ),
)
row(
    "tril triu",
    call(real(3, 3)),
    call(real(2, 4), 1),
    call(real(4, 2), -1),
    call(real(2, 3, 3), diagonal=1),
    call(real(3, 3), 5),
    call(real(3, 3), -5),
    call(real(0, 3)),
    call(mask(3, 3)),
    bad=(call(real(3)), call(real()), call(real(2, 2), 0.5)),
)
row(
    "diag",
    call(real(3)),
    call(real(2), 1),
    call(real(2), -2),
    call(real(2, 3)),
    call(real(3, 3), -1),
    call(real(3, 3), 4),
    call(real(0)),
    bad=(call(real()), call(real(2, 2, 2)), call(real(2), 0.5)),
)
row(
    "diag_embed",
    call(real(3)),
    call(real(2, 3)),
    call(real(2), 1),
    call(real(2), -1),
    call(real(2, 3), 0, 0, 2),
    call(real(2, 3), 1, -1, 0),
    call(real(2, 0)),
    bad=(call(real()), call(real(3), 0, 1, 1), call(real(3), 0, 0, 2)),
)
row(
    "diagflat",
    call(real(2, 2)),
    call(real(3), 1),
    call(real(), -1),
    call(real(0)),
    bad=(call(real(2), 0.5),),
)
