"""Line search: how far to go along a direction so that the strong Wolfe conditions hold.

The loss must fall by a share `C1` of what the slope promised, and the slope must flatten to `C2` of
what it was. First grow the step until two points bracket such a one, then shrink the bracket, each
time by the minimum of the cubic through its ends (Nocedal and Wright, 2006, section 3.5). Knows
only a function of the step. Lesson 14.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..device import Array

C1, C2 = 1e-4, 0.9
MOST = 25  # steps tried after the first one, in growing and shrinking together


class Point(NamedTuple):
    """A step t, the loss there, its gradient, and the slope along the direction."""

    t: float
    loss: float
    grad: Array
    slope: float


def strong_wolfe(
    at: Callable[[float], Point], start: Point, t: float, reach: float, tolerance: float, most: int
) -> tuple[Point, int]:
    """The point found, and how many were tried. `at(t)` evaluates, `start` is t = 0, the first t
    and up to `most` others are tried; a bracket narrower than `tolerance`, times the largest step
    `reach` of an element, is not shrunk."""
    bracket, tried = _bracket(at, start, t, most)
    if len(bracket) == 1:
        return bracket[0], tried
    return _zoom(at, start, bracket, tried, reach, tolerance, most)


def _too_high(point: Point, start: Point) -> bool:
    return point.loss > start.loss + C1 * point.t * start.slope


def _flat(point: Point, start: Point) -> bool:
    return abs(point.slope) <= -C2 * start.slope


def _bracket(
    at: Callable[[float], Point], start: Point, t: float, most: int
) -> tuple[list[Point], int]:
    """The point wanted, alone, or two with one between them; and how many were tried."""
    previous, point = start, at(t)
    for tried in range(1, most + 1):
        if _too_high(point, start) or (tried > 2 and point.loss >= previous.loss):
            return [previous, point], tried
        if _flat(point, start):
            return [point], tried
        if point.slope >= 0:
            return [previous, point], tried
        nearest = point.t + 0.01 * (point.t - previous.t)
        t = _cubic_minimum(previous, point, nearest, 10 * point.t)
        previous, point = point, at(t)
    return [start, point], most + 1


def _zoom(
    at: Callable[[float], Point],
    start: Point,
    bracket: list[Point],
    tried: int,
    reach: float,
    tolerance: float,
    most: int,
) -> tuple[Point, int]:
    """Shrinks the bracket until its lower end is good enough."""
    low = 0 if bracket[0].loss <= bracket[1].loss else 1
    stuck = False
    while tried <= most and abs(bracket[1].t - bracket[0].t) * reach >= tolerance:
        left, right = sorted(point.t for point in bracket)
        t = _cubic_minimum(bracket[0], bracket[1], left, right)
        margin = 0.1 * (right - left)
        near_an_end = min(right - t, t - left) < margin
        if near_an_end and (stuck or t >= right or t <= left):
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            near_an_end = False
        stuck = near_an_end
        point = at(t)
        tried += 1
        if _too_high(point, start) or point.loss >= bracket[low].loss:
            bracket[1 - low] = point
            low = 0 if bracket[0].loss <= bracket[1].loss else 1
            continue
        done = _flat(point, start)
        if not done and point.slope * (bracket[1 - low].t - bracket[low].t) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = point
        if done:
            break
    return bracket[low], tried


def _cubic_minimum(a: Point, b: Point, left: float, right: float) -> float:
    """Where the cubic with the losses and slopes of `a` and `b` is least, within the bounds; their
    middle when it has no minimum."""
    if a.t > b.t:
        a, b = b, a
    if a.t == b.t:
        return (left + right) / 2
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (left + right) / 2
    d2 = math.sqrt(square)
    bend = b.slope - a.slope + 2 * d2
    if bend == 0:
        return (left + right) / 2
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / bend)
    return min(max(t, left), right)
