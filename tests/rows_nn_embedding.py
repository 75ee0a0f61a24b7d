"""Rows of the functions that look up vectors."""

from .samples import call, given, places, real, row, special

TABLE = real(4, 3)
FLAT, OFFSETS = given([0, 1, 1, 3, 2]), given([0, 2, 2])

row(
    "nn.functional.embedding",
    call(places(2, 3, below=4), TABLE),
    call(given(1), TABLE),
    call(places(0, 2, below=4), TABLE),
    call(given([0, 3], "int32"), TABLE),
    special(given([0, 1, 1, 3]), TABLE, padding_idx=1),
    special(given([0, 1, 1, 3]), TABLE, -1, scale_grad_by_freq=True),
    bad=(
        call(given([4]), TABLE),
        call(given([-1]), TABLE),
        call(real(2), TABLE),
        call([1], TABLE),
        call(given([1], "int16"), TABLE),
        call(given([1]), real(3)),
        call(given([1]), TABLE, padding_idx=4),
        call(given([1]), TABLE, padding_idx=-5),
    ),
    dtypes=False,
)
row(
    "nn.functional.embedding_bag",
    *(call(FLAT, TABLE, OFFSETS, mode=mode) for mode in ("sum", "mean", "max")),
    *(call(FLAT, TABLE, OFFSETS, mode=mode, padding_idx=1) for mode in ("sum", "mean", "max")),
    call(places(2, 3, below=4), TABLE),
    call(places(0, 2, below=4), TABLE),
    call(places(0, below=4), TABLE, given([0, 0])),
    call(FLAT, TABLE, OFFSETS, mode="sum", per_sample_weights=real(5, fixed=True)),
    call(FLAT, TABLE, OFFSETS, mode="sum", per_sample_weights=real(5, fixed=True), padding_idx=-3),
    call(places(2, 3, below=4), TABLE, mode="sum", per_sample_weights=real(2, 3, fixed=True)),
    special(given([0, 1, 3, 3]), TABLE, OFFSETS, scale_grad_by_freq=True),
    call(FLAT, TABLE, given([0, 2, 2, 5]), include_last_offset=True),
    bad=(
        call(FLAT, TABLE),
        call(FLAT, TABLE, given([1, 2])),
        call(FLAT, TABLE, given([0, 6])),
        call(FLAT, TABLE, given([[0, 2]])),
        call(places(2, 3, below=4), TABLE, given([0])),
        call(given(1), TABLE),
        call(given([0, 4]), TABLE, given([0])),
        call(given([0, -1]), TABLE, given([0])),
        call(FLAT, TABLE, OFFSETS, mode="min"),
        call(FLAT, TABLE, OFFSETS, mode="max", sparse=True),
        call(FLAT, TABLE, OFFSETS, mode="max", scale_grad_by_freq=True),
        call(FLAT, TABLE, OFFSETS, per_sample_weights=real(5, fixed=True)),
        call(FLAT, TABLE, OFFSETS, mode="sum", per_sample_weights=real(4)),
        call(FLAT, TABLE, OFFSETS, padding_idx=4),
        call(FLAT, real(3), OFFSETS),
        call(real(2), TABLE, given([0])),
    ),
    dtypes=False,
    syncs=True,
)
