"""Graphs must die by reference count: memory goes at once, without waiting for Python's
collector."""

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def death() -> Iterator[Callable[[Any], None]]:
    """`with death() as watch:` fails when something given to `watch` is still alive at the end.

    The collector is off meanwhile, so that a reference cycle shows.
    """
    refs: list[weakref.ref[Any]] = []
    gc.collect()
    gc.disable()
    try:
        yield lambda thing: refs.append(weakref.ref(thing))
        alive = [repr(ref()) for ref in refs if ref() is not None]
        assert refs and not alive, f"kept alive by a reference cycle: {alive}"
    finally:
        gc.enable()
