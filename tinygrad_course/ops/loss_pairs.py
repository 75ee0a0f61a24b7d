"""Losses of pairs and triples: what belongs together is to lie close, the rest apart by a margin.

They compare two scores, or the distance of two or three points, and so learn an embedding or a
ranking. All are made of other operations. Lesson 13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arguments import require_tensors
from .distance import pairwise_distance
from .elementwise import where
from .loss import check_reduction, numbered, reduced
from .registry import function


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """max(0, margin − target · (input1 − input2)): a target of 1 wants input1 larger, −1 smaller.

    The three are broadcast; RuntimeError when they have not the same number of dims.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.margin_ranking_loss(tg.tensor([1.]), tg.tensor([3.]), tg.tensor([1.]))
    tensor(2.)
    """
    require_tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape}"
        )
    return reduced((-target * (input1 - input2) + float(margin)).clamp_min(0), reduction)


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """The distance `input` itself where the target is 1, max(0, margin − input) where it is −1.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.hinge_embedding_loss(tg.tensor([0.5, 0.2]), tg.tensor([1, -1]))
    tensor(0.6500)
    """
    require_tensors("hinge_embedding_loss", input=input, target=target)
    zero = input.new_zeros(())
    apart = where(target != 1, (input.new_full((), margin) - input).clamp_min(0), zero)
    return reduced(apart + where(target != -1, input, zero), reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """1 − cos where the target is 1, max(0, cos − margin) where it is −1, for two rows' angle.

    `input1` and `input2` are (N, D) with `target` (N), or (D) with (). RuntimeError otherwise.

    >>> import tinygrad_course as tg
    >>> cosine_embedding_loss(tg.tensor([1., 0.]), tg.tensor([3., 4.]), tg.tensor(1))
    tensor(0.4000)
    """
    require_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    if target.ndim > 1:
        raise RuntimeError(
            "cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported, "
            f"got {list(target.shape)}"
        )
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"cosine_embedding_loss: {target.ndim}D target tensor expects {target.ndim + 1}D input "
            f"tensors, but found inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    squares = [(x * x).sum(-1) + 1e-12 for x in (input1, input2)]
    cosine = (input1 * input2).sum(-1) / (squares[0] * squares[1]).sqrt()
    zero = cosine.new_zeros(())
    close = where(target == 1, 1 - cosine, zero)
    return reduced(close + where(target == -1, (cosine - margin).clamp_min(0), zero), reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(0, |anchor − positive| − |anchor − negative| + margin), in the p-norm over the last dim.

    `swap` takes the positive's distance from the negative where that is smaller than the anchor's.
    RuntimeError for other numbers of dims.

    >>> import tinygrad_course as tg
    >>> x, y, z = tg.tensor([[0., 0.]]), tg.tensor([[0., 2.]]), tg.tensor([[1., 0.]])
    >>> tg.nn.functional.triplet_margin_loss(x, y, z)
    tensor(2.)
    """

    def distance(x: Any, y: Any) -> Any:
        return pairwise_distance(x, y, p, eps)

    return _triplets(distance, anchor, positive, negative, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with a distance of one's own, by default `pairwise_distance`.

    ValueError for a margin that is not positive.

    >>> import tinygrad_course as tg
    >>> x, y, z = tg.tensor([0., 0.]), tg.tensor([0., 2.]), tg.tensor([1., 0.])
    >>> triplet_margin_with_distance_loss(x, y, z, distance_function=tg.dist)
    tensor(2.)
    """
    check_reduction(reduction)
    require_margin("triplet_margin_with_distance_loss", margin)
    distance = distance_function or pairwise_distance
    return _triplets(distance, anchor, positive, negative, margin, swap, reduction)


def _triplets(
    distance: Callable[[Any, Any], Any],
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float,
    swap: bool,
    reduction: str,
) -> Any:
    require_tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((near - far + margin).clamp_min(0), reduction)


def require_margin(name: str, margin: float) -> None:
    """ValueError when `margin` is not positive."""
    if margin <= 0:
        raise ValueError(f"{name}: margin must be greater than 0, got {margin}")


for _loss in (
    margin_ranking_loss,
    hinge_embedding_loss,
    cosine_embedding_loss,
    triplet_margin_loss,
):
    function(**{_loss.__name__: numbered(_loss)})
