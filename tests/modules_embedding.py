"""Tables of vectors."""

from .modules import call, case, given, layer, places, real

layer(
    "Embedding",
    case(call(5, 3), places(2, 3, below=5)),
    case(call(5, 3, padding_idx=-2), given([0, 3, 3])),
    case(call(5, 3, 1, 1.5, 1.0, True), given([0, 1, 2, 2])),
    case(call(5, 3, _freeze=True), given(2)),
    case(call(2, 3, _weight=real(2, 3)), given([1, 0])),
    case(call(0, 3), places(0, below=1)),
    refused=(
        call(3, 2, padding_idx=3),
        call(3, 2, padding_idx=-4),
        call(-3, 2),
        call(3, 2, _weight=real(2, 2)),
    ),
    misfits=(case(call(5, 3), given([5])), case(call(5, 3), real(2))),
)
layer(
    "EmbeddingBag",
    case(call(5, 3), given([0, 1, 1, 4]), given([0, 3])),
    case(call(5, 3, mode="max"), places(2, 3, below=5)),
    case(call(5, 3, 1.0, 2.0, True, "sum", padding_idx=1), given([0, 1, 3]), given([0, 2])),
    case(
        call(5, 3, mode="sum", include_last_offset=True),
        given([0, 1, 3]),
        given([0, 2, 3]),
        per_sample_weights=real(3),
    ),
    refused=(call(3, 2, padding_idx=3), call(3, 2, _weight=real(2, 2))),
    misfits=(case(call(5, 3), given([1])),),
)
