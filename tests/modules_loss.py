"""Losses, distances and the bilinear layer. Those of classes and squares are in modules_basic.

The derivative of CTCLoss is not that of its argument (see rows_nn_loss), so its first case, which
is held against finite differences, has none.
"""

import math

from .modules import call, case, given, layer, real

X, Y = real(2, 3), real(2, 3)
SIGNS = given([[1, -1, 1], [-1, -1, 1]])
CHANCES = real(2, 3, low=0.05, high=0.95)
MISFIT = case(call(), real(2, 3), real(2, 2))

layer(
    "L1Loss SmoothL1Loss",
    case(call(), X, Y),
    case(call(reduction="none"), X, Y),
    case(call(False), X, Y),
    case(call(reduce=False), X, real(3)),
    misfits=(MISFIT,),
)
layer(
    "HuberLoss",
    case(call(), X, Y),
    case(call("sum", 0.5), X, Y),
    refused=(call("sum", 1.0, 2),),
    misfits=(MISFIT, case(call(delta=-1.0), X, Y)),
)
layer(
    "BCELoss",
    case(call(), CHANCES, CHANCES),
    case(call(real(3, low=0.5), reduction="none"), CHANCES, CHANCES),
    case(call(size_average=False), CHANCES, CHANCES),
    misfits=(case(call(), X, CHANCES), case(call(), CHANCES, real(2))),
)
layer(
    "BCEWithLogitsLoss",
    case(call(), X, CHANCES),
    case(call(real(3, low=0.5), pos_weight=real(3, low=0.5)), X, CHANCES),
    case(call(reduce=False, pos_weight=real(2, 1, low=0.5)), X, CHANCES),
    misfits=(case(call(), X, real(2)), case(call(real(2)), X, CHANCES)),
)
layer(
    "KLDivLoss",
    case(call(reduction="batchmean"), X, CHANCES),
    case(call(), X, CHANCES),
    case(call(reduction="sum", log_target=True), X, Y),
    case(call(size_average=False), X, CHANCES),
    misfits=(case(call(reduction="sum"), real(2, 3), real(2, 2)),),
)
layer(
    "PoissonNLLLoss",
    case(call(), X, real(2, 3, low=1.5, high=4)),
    case(call(full=True, reduction="none"), X, real(2, 3, low=1.5, high=4)),
    case(call(False, size_average=False), CHANCES, real(2, 3, low=1.5, high=4)),
    misfits=(MISFIT,),
)
layer(
    "GaussianNLLLoss",
    case(call(), X, Y, real(2, 3, low=0.5)),
    case(call(full=True, eps=0.6, reduction="sum"), X, Y, real(2, low=0.5)),
    refused=(call(True),),
    misfits=(case(call(), X, Y, real(3)), case(call(), X, Y, given([[-1.0], [1.0]]))),
)
layer(
    "SoftMarginLoss",
    case(call(), X, SIGNS),
    case(call(size_average=False), X, SIGNS),
    misfits=(MISFIT,),
)
CLASSES = given([0, 2, 1])
layer(
    "MultiMarginLoss",
    case(call(), real(3, 4), CLASSES),
    case(call(2, 0.5, real(4, low=0.5)), real(3, 4), CLASSES),
    case(call(reduction="none"), real(4), given(2)),
    refused=(call(3), call(weight=real(4, 1))),
    misfits=(case(call(), real(3, 4), given([0, 1])), case(call(), real(3, 4), given([0, 4, 1]))),
)
SETS = given([[0, 2, -1, 1], [3, -1, 0, 0], [1, 0, 2, 3]])
layer(
    "MultiLabelMarginLoss",
    case(call(), real(3, 4), SETS),
    case(call(reduction="none"), real(4), given([1, 0, -1, 2])),
    misfits=(case(call(), real(3, 4), given([0, 1, -1, 2])),),
)
layer(
    "MultiLabelSoftMarginLoss",
    case(call(), X, CHANCES),
    case(call(real(3, low=0.5), reduction="none"), X, CHANCES),
    misfits=(MISFIT,),
)
layer(
    "MarginRankingLoss",
    case(call(), X, Y, SIGNS),
    case(call(0.5, reduction="sum"), X, Y, SIGNS),
    misfits=(case(call(), X, Y, real(3)),),
)
layer(
    "HingeEmbeddingLoss",
    case(call(), X, SIGNS),
    case(call(0.5, reduce=False), X, SIGNS),
    misfits=(MISFIT,),
)
layer(
    "CosineEmbeddingLoss",
    case(call(), real(3, 4), real(3, 4), given([1, -1, 1])),
    case(call(0.5, reduction="none"), real(3, 4), real(3, 4), given([1, -1, 1])),
    misfits=(case(call(), real(3, 4), real(3, 4), given(1)),),
)
TRIPLE = (real(3, 4), real(3, 4), real(3, 4))
layer(
    "TripletMarginLoss",
    case(call(), *TRIPLE),
    case(call(0.5, 1, swap=True, reduction="none"), *TRIPLE),
    refused=(call(-1.0), call(0)),
    misfits=(case(call(), real(3, 4), real(3, 4), real(4)),),
)
layer(
    "TripletMarginWithDistanceLoss",
    case(call(), *TRIPLE),
    case(call(margin=0.5, swap=True, reduction="none"), *TRIPLE),
    refused=(call(margin=0), call(1.0)),
    misfits=(case(call(), real(3, 4), real(3, 4), real(4)),),
)
STEPS = real(5, 2, 4, low=-3, high=-0.5)
FIXED = real(5, 2, 4, low=-3, high=-0.5, fixed=True)
LABELS = given([[1, 2], [3, 3]])
layer(
    "CTCLoss",
    case(call(), FIXED, LABELS, (5, 5), (2, 2)),
    case(call(), STEPS, LABELS, (5, 5), (2, 2)),
    case(call(2, "none", True), STEPS, given([[1, 0], [3, 3]]), (4, 2), (2, 2)),
    case(call(reduction="sum"), STEPS, given([1, 2, 3]), (5, 4), (2, 1)),
    case(call(reduction="none"), STEPS, given([1, 2, 3], "int32"), given([5, 3]), given([3, 0])),
    misfits=(case(call(), STEPS, LABELS, (6, 5), (2, 2)),),
    second=False,
)
layer(
    "CosineSimilarity",
    case(call(), X, Y),
    case(call(0, eps=0.1), X, real(3)),
    misfits=(case(call(), real(2, 3), real(2, 2)),),
)
layer(
    "PairwiseDistance",
    case(call(), X, Y),
    case(call(1, keepdim=True), X, Y),
    case(call(p=math.inf, eps=0.1), real(3), real(3)),
    misfits=(case(call(), real(2, 3), real(2, 2)),),
)
layer(
    "Bilinear",
    case(call(3, 4, 5), real(2, 3), real(2, 4)),
    case(call(3, 1, 2, bias=False), real(2, 2, 3), real(2, 2, 1)),
    refused=(call(0, 1, 1), call(2, -1, 1)),
    misfits=(case(call(3, 4, 5), real(2, 3), real(2, 3)),),
)
layer(
    "AdaptiveLogSoftmaxWithLoss",
    case(call(8, 10, [3, 6], 2.0), real(5, 8), given([0, 4, 9, 2, 7])),
    case(call(8, 10, (2,), 2.0, True), real(3, 8), given([0, 1, 0])),
    case(call(4, 6, [2, 4], 1.5), real(4), given(5)),
    refused=(
        call(8, 10, []),
        call(8, 10, [6, 3]),
        call(8, 10, [3, 3]),
        call(8, 10, [0, 3]),
        call(8, 10, [3, 10]),
        call(8, 10, [2.5]),
    ),
    misfits=(
        case(call(8, 10, [3], 2.0), real(2, 8), given([1, 2, 3])),
        case(call(8, 10, [3], 2.0), real(2, 8), given([1, 10])),
        case(call(8, 10, [3], 2.0), real(2, 8), given([-1, 1])),
        case(call(8, 10, [3], 2.0), real(2, 8), given([[1], [1]])),
        case(call(8, 10, [3], 2.0), real(2, 8), given(1)),
        case(call(8, 10, [3], 2.0), real(2, 7), given([1, 1])),
    ),
)
