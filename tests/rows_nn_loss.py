"""Samples of losses, distances and the bilinear map.

The losses that are in the table of all operations (`samples`) already are mse, nll and cross
entropy. The derivative of ctc_loss is that for what log_softmax was taken of, so its rows are
special; `test_losses` has it, and targets one after the other, where PyTorch reads beyond the end
of tensors with gaps.
"""

from __future__ import annotations

import math

from .samples import call, given, mask, places, real, row, special

X, Y = real(2, 3), real(2, 3)
ODD = call(X, Y, reduction="no")
MISFIT = call(real(2, 3), real(2, 2))
SIGNS = given([[1, -1, 1], [-1, -1, 1]])
CHANCES = real(2, 3, low=0.05, high=0.95)

# --- numbers --------------------------------------------------------------------------------------

EACH_WAY = (
    call(X, Y),
    call(X, Y, reduction="sum"),
    call(X, Y, reduction="none"),
    call(real(), real()),
    call(real(2, 1), real(3)),
    call(real(0, 2), real(0, 2)),
)
OLD_FLAGS = (
    call(X, Y, size_average=False),
    call(X, Y, reduce=False),
    call(X, Y, False, False),
)
row(
    "nn.functional.l1_loss",
    *EACH_WAY,
    *OLD_FLAGS,
    call(X, Y, weight=real(2, 3, low=0.5)),
    call(X, Y, weight=real(2, 3, low=0.5), reduction="none"),
    bad=(ODD, MISFIT, call(given([1, 2]), given([1, 2])), call(X, Y, weight=real(3))),
)
row(
    "nn.functional.smooth_l1_loss",
    *EACH_WAY,
    *OLD_FLAGS,
    call(X, Y, beta=0.5),
    call(X, Y, beta=0.0),
    special(given([1.0, 2.0, 3.5]), given([0.0, 2.0, 0.0])),
    bad=(ODD, MISFIT, call(X, Y, beta=-1.0), call(given([1, 2]), given([1, 2]))),
)
row(
    "nn.functional.huber_loss",
    *EACH_WAY,
    call(X, Y, "sum", 0.5),
    call(X, Y, delta=3.0, weight=real(2, 3, low=0.5)),
    special(given([1.0, 2.0, 3.5]), given([0.0, 2.0, 0.0])),
    bad=(ODD, MISFIT, call(X, Y, delta=0.0), call(X, Y, weight=real(2))),
)

# --- probabilities --------------------------------------------------------------------------------

row(
    "nn.functional.binary_cross_entropy",
    call(CHANCES, CHANCES),
    call(CHANCES, CHANCES, reduction="sum"),
    call(CHANCES, CHANCES, real(3, low=0.5, fixed=True), reduction="none"),
    call(CHANCES, CHANCES, size_average=False),
    call(real(0, 2), real(0, 2)),
    bad=(
        call(CHANCES, CHANCES, reduction="no"),
        call(CHANCES, real(2, 1, low=0, high=1)),
        call(real(2, low=2, high=3), real(2, low=0, high=1)),
        call(real(2, low=0, high=1), real(2, low=2, high=3)),
        call(CHANCES, CHANCES, real(2)),
        call(CHANCES, CHANCES, real(2, 2, 3)),
        call(CHANCES, mask(2, 3)),
        call(given([1, 0]), given([1, 0])),
    ),
)
row(
    "nn.functional.binary_cross_entropy_with_logits",
    call(X, CHANCES),
    call(X, CHANCES, reduction="none"),
    call(X, CHANCES, real(3, low=0.5, fixed=True), reduction="sum"),
    call(X, CHANCES, pos_weight=real(3, low=0.5, fixed=True)),
    call(
        X,
        CHANCES,
        real(2, 1, low=0.5, fixed=True),
        pos_weight=real(3, low=0.5, fixed=True),
        reduce=False,
    ),
    call(real(0), real(0)),
    special(given([1e4, -1e4, 1e4, -1e4, 0.0]), given([0.0, 1.0, 1.0, 0.0, 1.0])),
    bad=(
        ODD,
        call(X, real(2, 1)),
        call(X, CHANCES, real(2)),
        call(X, CHANCES, pos_weight=real(2, 2, 3)),
        call(X, mask(2, 3)),
        call(given([1, 0]), given([1, 0])),
    ),
)
row(
    "binary_cross_entropy_with_logits",
    call(X, CHANCES),
    call(X, CHANCES, None, real(3, low=0.5, fixed=True), 2),
    call(X, CHANCES, reduction=0),
    call(X, CHANCES, reduction=7),
    bad=(call(X, CHANCES, reduction="sum"), call(X, CHANCES, real(2))),
)
row(
    "nn.functional.kl_div",
    call(X, CHANCES),
    call(X, CHANCES, reduction="batchmean"),
    call(X, CHANCES, reduction="sum"),
    call(X, Y, log_target=True, reduction="none"),
    call(real(2, 1), real(3, low=0.1, high=1), reduction="sum"),
    call(real(), real(low=0.1, high=1), reduction="batchmean"),
    call(X, CHANCES, size_average=False),
    special(real(3), given([0.0, 1.0, -1.0]), reduction="none"),
    bad=(ODD, MISFIT, call(X, mask(2, 3)), call(X, given([[1, 0, 0], [0, 1, 0]]))),
)
row(
    "kl_div",
    call(X, CHANCES),
    call(X, CHANCES, 2),
    call(X, Y, 0, log_target=True),
    bad=(call(X, CHANCES, "sum"), MISFIT),
)
COUNTS = given([[0.0, 1.0, 4.0], [2.0, 3.0, 1.0]])
row(
    "nn.functional.poisson_nll_loss",
    call(X, COUNTS),
    call(X, real(2, 3, low=1.5, high=4), full=True),
    call(CHANCES, COUNTS, log_input=False, reduction="sum"),
    call(X, real(3, low=0, high=3), reduction="none"),
    call(X, COUNTS, True, False, False),
    special(X, COUNTS, full=True),
    call(X, given([2, 0, 1])),
    bad=(ODD, MISFIT),
)
row(
    "poisson_nll_loss",
    call(X, COUNTS, True, False, 1e-8, 1),
    call(CHANCES, COUNTS, False, False, 1e-8, 2),
    bad=(call(X, COUNTS), call(X, COUNTS, True, False, 1e-8, "sum")),
)
row(
    "nn.functional.gaussian_nll_loss",
    call(X, Y, real(2, 3, low=0.5)),
    call(X, Y, real(2, low=0.5), full=True),
    call(X, Y, real(2, 1, low=0.5), reduction="sum"),
    call(X, Y, real(1, 3, low=0.5), reduction="none"),
    call(X, real(2, 1), 2.0),
    call(real(), real(), real(low=0.5)),
    special(given([0.0, 0.0]), given([1.0, 1.0]), given([1e-9, 1.0])),
    bad=(
        call(X, Y, real(2, 3, low=0.5), reduction="no"),
        call(X, Y, real(3, low=0.5)),
        call(X, Y, real(1, low=0.5)),
        call(X, Y, real(low=0.5)),
        call(X, Y, given([[-1.0], [1.0]])),
        call(X, Y, -1.0),
        call(X, real(2, 2), real(2, 3, low=0.5)),
    ),
)

# --- scores with a margin -------------------------------------------------------------------------

row(
    "nn.functional.soft_margin_loss",
    call(X, SIGNS),
    call(X, SIGNS, reduction="sum"),
    call(X, real(3, fixed=True), reduction="none"),
    call(X, SIGNS, size_average=False),
    bad=(
        ODD,
        MISFIT,
        call(real(3), real(2, 3, fixed=True)),
        call(given([1, 2]), given([1, -1])),
    ),
)
CLASSES = given([0, 2, 1])
ROWS = real(3, 4)
row(
    "nn.functional.multi_margin_loss",
    call(ROWS, CLASSES),
    call(ROWS, CLASSES, p=2, margin=0.7, reduction="none"),
    call(ROWS, CLASSES, weight=real(4, low=0.5, fixed=True), reduction="sum"),
    call(ROWS, CLASSES, 2, 1.5, real(4, low=0.5, fixed=True)),
    call(real(4), given(3)),
    call(real(4), given([3]), reduction="none"),
    call(real(2, 1), given([0, 0])),
    call(ROWS, CLASSES, reduce=False),
    bad=(
        call(ROWS, CLASSES, reduction="no"),
        call(ROWS, CLASSES, p=3),
        call(ROWS, CLASSES, weight=real(3)),
        call(ROWS, CLASSES, weight=real(4, 1)),
        call(ROWS, given([0, 1])),
        call(ROWS, given([[0], [1], [2]])),
        call(ROWS, given([0, 4, 1])),
        call(ROWS, given([0, -1, 1])),
        call(ROWS, given([0, 1, 1], "int32")),
        call(real(2, 3, 4), CLASSES),
        call(real(3, 0), CLASSES),
        call(given([[1, 2]]), given([0])),
    ),
)
SETS = given([[0, 2, -1, 1], [3, -1, 0, 0], [1, 0, 2, 3]])
row(
    "nn.functional.multilabel_margin_loss",
    call(ROWS, SETS),
    call(ROWS, SETS, reduction="none"),
    call(ROWS, SETS, reduction="sum"),
    call(real(4), given([1, 1, 3, -1]), reduction="none"),
    call(real(4), given([-1, 0, 0, 0])),
    call(ROWS, SETS, size_average=False),
    bad=(
        call(ROWS, SETS, reduction="no"),
        call(ROWS, given([[0, 1], [0, 1], [0, 1]])),
        call(real(1, 4), given([0, 1, -1, 0])),
        call(real(4), given([0, 4, -1, 0])),
        call(real(4), given([0, -2, -1, 0])),
        call(real(4), given([0, 1, -1, 0], "int32")),
        call(real(2, 3, 4), places(2, 3, 4, below=4)),
        call(real(3, 0), places(3, 0, below=4)),
        call(given([1, 2]), given([0, -1])),
    ),
)
row(
    "nn.functional.multilabel_soft_margin_loss",
    call(X, CHANCES),
    call(X, CHANCES, reduction="none"),
    call(X, CHANCES, real(3, low=0.5), reduction="sum"),
    call(real(2, 2, 3), real(3, low=0, high=1), reduction="none"),
    call(X, given([[1, 0, 1], [0, 0, 1]]), size_average=False),
    special(given([[1e4, -1e4]]), given([[0.0, 1.0]])),
    bad=(
        ODD,
        MISFIT,
        call(real(), real()),
        call(X, CHANCES, real(2)),
        call(given([[1, 2]]), given([[1, 0]])),
    ),
)

# --- pairs and triples ----------------------------------------------------------------------------

row(
    "nn.functional.margin_ranking_loss",
    call(X, Y, SIGNS),
    call(X, Y, SIGNS, 0.5, reduction="none"),
    call(X, real(2, 1), real(2, 3), margin=1.0, reduction="sum"),
    call(real(), real(), given(1)),
    call(X, Y, SIGNS, size_average=False),
    bad=(call(X, Y, real(3)), call(X, Y, SIGNS, reduction="no"), call(X, real(2, 2), SIGNS)),
)
row(
    "margin_ranking_loss",
    call(X, Y, SIGNS, 0.5, 0),
    call(X, Y, SIGNS),
    bad=(call(X, Y, SIGNS, 0.5, "none"),),
)
row(
    "nn.functional.hinge_embedding_loss",
    call(X, SIGNS),
    call(X, SIGNS, 0.5, reduction="none"),
    call(X, given([1, -1, 0]), margin=2.0, reduction="sum"),
    call(X, SIGNS, size_average=False),
    bad=(call(X, SIGNS, reduction="no"), call(X, given([1, -1]))),
)
row(
    "hinge_embedding_loss",
    call(X, SIGNS, 2.0, 2),
    call(X, SIGNS),
    bad=(call(X, SIGNS, reduction="none"),),
)
row(
    "nn.functional.cosine_embedding_loss",
    call(ROWS, real(3, 4), given([1, -1, 1])),
    call(ROWS, real(3, 4), given([-1, 0, -1]), 0.2, reduction="none"),
    call(real(4), real(4), given(1)),
    call(ROWS, real(1, 4), given([1, -1, 1]), reduction="sum"),
    special(ROWS, real(3, 4), given([1.0, -1.0, 1.0])),
    call(ROWS, real(3, 4), given([1, -1, 1]), size_average=False),
    bad=(
        call(ROWS, ROWS, given([1, -1, 1]), reduction="no"),
        call(ROWS, ROWS, given([[1], [1], [1]])),
        call(ROWS, ROWS, given(1)),
        call(real(4), real(4), given([1])),
        call(ROWS, real(2, 4), given([1, 1, 1])),
        call(ROWS, ROWS, given([1, 1])),
    ),
)
row(
    "cosine_embedding_loss",
    call(ROWS, real(3, 4), given([1, -1, 1]), 0.1, 0),
    call(ROWS, real(3, 4), given([1, -1, 1])),
    bad=(call(ROWS, ROWS, given([1, -1, 1]), 0.0, "sum"),),
)
TRIPLE = (ROWS, real(3, 4), real(3, 4))
row(
    "nn.functional.triplet_margin_loss",
    call(*TRIPLE),
    call(*TRIPLE, 0.5, 1, reduction="none"),
    call(*TRIPLE, margin=3.0, swap=True, reduction="sum"),
    call(real(4), real(4), real(4), p=3.0),
    call(real(2, 2, 3), real(2, 1, 3), real(2, 2, 3), p=math.inf, reduction="none"),
    call(*TRIPLE, size_average=False),
    bad=(
        call(*TRIPLE, margin=0.0),
        call(*TRIPLE, reduction="no"),
        call(ROWS, ROWS, real(4)),
        call(ROWS, ROWS, real(3, 5)),
    ),
)
row(
    "triplet_margin_loss",
    call(*TRIPLE, 0.5, 2.0, 1e-6, True, 0),
    call(*TRIPLE),
    bad=(call(*TRIPLE, reduction="none"),),
)
row(
    "nn.functional.triplet_margin_with_distance_loss",
    call(*TRIPLE),
    call(*TRIPLE, margin=3.0, swap=True, reduction="none"),
    call(real(4), real(4), real(4), reduction="sum"),
    bad=(
        call(*TRIPLE, margin=-1.0),
        call(*TRIPLE, reduction="no"),
        call(ROWS, ROWS, real(4)),
    ),
)

# --- sequences ------------------------------------------------------------------------------------

STEPS = real(5, 2, 4, low=-3, high=-0.5)
LABELS = given([[1, 2], [3, 3]])
row(
    "nn.functional.ctc_loss",
    special(STEPS, LABELS, (5, 5), (2, 2)),
    special(STEPS, LABELS, (5, 4), (2, 1), reduction="none"),
    special(STEPS, LABELS, given([5, 3]), given([1, 2]), reduction="none"),
    special(STEPS, LABELS, [4, 5], [0, 2], reduction="none"),
    special(STEPS, LABELS, (2, 2), (2, 2), reduction="none"),
    special(STEPS, LABELS, (2, 2), (2, 2), reduction="none", zero_infinity=True),
    special(STEPS, given([[1, 2, 3], [3, 0, 0]]), (5, 5), (2, 1)),
    special(STEPS, given([[0, 2], [1, 0]]), (5, 5), (2, 2), blank=3),
    special(real(5, 4, low=-3, high=-0.5), given([1, 2]), (5,), (2,), reduction="none"),
    special(real(5, 4, low=-3, high=-0.5), given([1, 2]), given(5), given(2)),
    bad=(
        call(STEPS, LABELS, (5, 5), (2, 2), reduction="no"),
        call(STEPS, LABELS, (5, 5), (2, 2), blank=4),
        call(STEPS, LABELS, (6, 5), (2, 2)),
        call(STEPS, LABELS, (5, -1), (2, 2)),
        call(STEPS, LABELS, (5, 5), (3, 2)),
        call(STEPS, LABELS, (5,), (2, 2)),
        call(STEPS, LABELS, (5, 5), (2,)),
        call(STEPS, LABELS, 5, 2),
        call(STEPS, LABELS, (5.0, 5.0), (2, 2)),
        call(STEPS, LABELS, given([5, 5]), (2, 2)),
        call(STEPS, LABELS, given([5.0, 5.0]), given([2, 2])),
        call(STEPS, given([1, 2, 3]), (5, 5), (2, 2)),
        call(STEPS, given([[1, 2]]), (5, 5), (2, 2)),
        call(STEPS, given([[[1, 2]]]), (5, 5), (2, 2)),
        call(real(4), LABELS, (5, 5), (2, 2)),
        call(real(0, 2, 4), LABELS, (0, 0), (2, 2)),
    ),
    syncs=True,
)
row(
    "ctc_loss",
    special(STEPS, LABELS, (5, 5), (2, 2), 0, 2, True),
    special(STEPS, LABELS, (5, 5), (2, 2)),
    bad=(call(STEPS, LABELS, (5, 5), (2, 2), 0, "sum"),),
    syncs=True,
)

# --- distances ------------------------------------------------------------------------------------

row(
    "cosine_similarity nn.functional.cosine_similarity",
    call(X, Y),
    call(X, Y, 0),
    call(X, real(1, 3), dim=-1),
    call(real(3, 1, 4), real(1, 2, 4), dim=2, eps=0.1),
    call(real(3), real(3), dim=0),
    call(real(), real(), dim=0),
    call(real(2, 0), real(2, 0)),
    call(X, given([1, 2, 3])),
    special(given([[0.0, 0.0], [0.1, 0.1]]), given([[1.0, 2.0], [2.0, 1.0]]), eps=0.5),
    bad=(
        MISFIT,
        call(X, Y, 2),
        call(real(3), real(3)),
        call(X, 1.0),
        call(given([[1, 2]]), given([[1, 2]])),
    ),
)
row(
    "pairwise_distance nn.functional.pairwise_distance",
    call(X, Y),
    call(X, Y, 1, keepdim=True),
    call(X, real(3), p=3.0),
    call(X, Y, math.inf, 0.1),
    call(X, Y, 0),
    call(real(3), real(3)),
    call(real(2, 2, 3), X, -1.0),
    call(given([[1, 2]]), given([[3, 5]])),
    bad=(MISFIT, call(X, 1.0)),
)
row(
    "pdist nn.functional.pdist",
    call(real(4, 3)),
    call(real(4, 3), 1),
    call(real(4, 3), 0),
    call(real(4, 3), 1.5),
    call(real(4, 3), 3.0),
    special(real(4, 3), math.inf),
    # Without gradients: with no pairs PyTorch's backward crashes.
    call(real(1, 3, fixed=True)),
    call(real(0, 3, fixed=True)),
    call(real(3, 0, fixed=True)),
    special(given([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])),
    bad=(
        call(real(3)),
        call(real(2, 3, 4)),
        call(real(2, 3), -1),
        call(real(2, 3), "2"),
        call(given([[1, 2], [3, 4]])),
    ),
)
row(
    "bilinear nn.functional.bilinear",
    call(real(2, 3), real(2, 4), real(5, 3, 4)),
    call(real(2, 3), real(2, 4), real(5, 3, 4), real(5)),
    call(real(3), real(4), real(2, 3, 4), real(2)),
    call(real(2, 2, 3), real(2, 2, 1), real(2, 3, 1)),
    call(real(0, 3), real(0, 4), real(2, 3, 4)),
    call(given([[1, 2]]), given([[3, 4]]), given([[[1, 0], [0, 1]]])),
    bad=(
        call(real(2, 3), real(4), real(5, 3, 4)),
        call(real(2, 3), real(3, 4), real(5, 3, 4)),
        call(real(2, 3), real(2, 4), real(5, 4, 3)),
        call(real(2, 3), real(2, 4), real(3, 4)),
        call(real(2, 3), real(2, 4), real(5, 3, 4), real(4)),
        call(real(2, 3), real(2, 4), given([[[1, 2], [3, 4]]])),
        call(real(), real(), real(5, 3, 4)),
        call(real(2, 3), 1, real(5, 3, 4)),
    ),
)
