"""Hooks of an optimizer: functions called around its step, its state_dict and its loading.

`Hooks` keeps them, in order, and registers them; `with_hooks` makes of a step one that calls them.
Knows nothing of how parameters move. Lesson 14.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..autograd.hooks import HookDict, RemovableHandle, add_hook

MOMENTS = ("step_pre", "step_post", "state_pre", "state_post", "load_pre", "load_post")


class Hooks:
    """The base of `Optimizer` that knows who wants to be called when."""

    def __init__(self) -> None:
        self._hooks: dict[str, HookDict] = {moment: OrderedDict() for moment in MOMENTS}

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(optimizer, args, kwargs) before each step; args begin with the optimizer. The
        hook may return other (args, kwargs)."""
        return add_hook(self._hooks["step_pre"], hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(optimizer, args, kwargs) after each step."""
        return add_hook(self._hooks["step_post"], hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer) before state_dict; `prepend` puts it before the other hooks."""
        return add_hook(self._hooks["state_pre"], hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer, state_dict) on what state_dict returns; the hook may return
        another."""
        return add_hook(self._hooks["state_post"], hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer, state_dict) before a load, with a shallow copy; the hook may return
        another."""
        return add_hook(self._hooks["load_pre"], hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer) after a load."""
        return add_hook(self._hooks["load_post"], hook, prepend)

    def _tell(self, moment: str) -> None:
        for hook in list(self._hooks[moment].values()):
            hook(self)

    def _ask(self, moment: str, state_dict: dict[str, Any]) -> dict[str, Any]:
        """The state dict after each hook had its say."""
        for hook in list(self._hooks[moment].values()):
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        return state_dict


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` with the hooks before and after it, and a note that the optimizer has stepped."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        for hook in list(self._hooks["step_pre"].values()):
            changed = hook(self, (self, *args), kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{step.__qualname__}: a hook before it must return None or a tuple of "
                        f"(new_args, new_kwargs), but got {changed}"
                    )
                (self, *args), kwargs = changed
        result = step(self, *args, **kwargs)
        self._has_stepped = True
        for hook in list(self._hooks["step_post"].values()):
            hook(self, (self, *args), kwargs)
        return result

    return hooked
