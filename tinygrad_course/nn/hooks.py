"""Hooks of a module: functions that see, and may replace, what goes in, what comes out, and the
gradients on their way back.

`Hooked` is the part of a Module that keeps them; `everywhere` keeps those of all modules at once. A
call asks for one attribute, `_module_hooks`, and without hooks goes straight to `forward`. How a
hook gets to see gradients, which flow long after the call, is in `backward_hooks`. Lesson 08.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..autograd.hooks import RemovableHandle, add_hook
from .backward_hooks import BackwardHook, hang_on_last_node

Args = tuple[Any, ...]


class Hook(NamedTuple):
    """A function that runs before or after forward, and what it wants."""

    function: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False

    def on_input(self, module: Any, args: Args, kwargs: dict[str, Any]) -> Any:
        """The arguments after this hook had its say."""
        if not self.with_kwargs:
            new = self.function(module, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
            return args, kwargs
        new = self.function(module, args, kwargs)
        if new is None:
            return args, kwargs
        if not isinstance(new, tuple) or len(new) != 2:
            raise RuntimeError(
                f"forward pre-hook of {type(module).__name__} must return None or a tuple of "
                f"(new_args, new_kwargs), but got {new!r}"
            )
        return new

    def on_output(self, module: Any, args: Args, kwargs: dict[str, Any], output: Any) -> Any:
        """The output after this hook had its say."""
        given = (args, kwargs) if self.with_kwargs else (args,)
        new = self.function(module, *given, output)
        return output if new is None else new


class ModuleHooks:
    """The hooks of one module, or of all: in each dict they stand in the order in which they run.

    `full` says of which kind those in `backward` are, None before the first.
    """

    def __init__(self) -> None:
        self.before: OrderedDict[int, Hook] = OrderedDict()
        self.after: OrderedDict[int, Hook] = OrderedDict()
        self.backward_before: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.backward: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.full: bool | None = None

    @property
    def empty(self) -> bool:
        """Whether all have been removed."""
        return not (self.before or self.after or self.backward_before or self.backward)

    def add_backward(
        self, hook: Callable[..., Any], full: bool, whose: str, prepend: bool = False
    ) -> RemovableHandle:
        """Registers a hook of the old kind or a full one; RuntimeError for a mixture."""
        if self.full is not None and self.full is not full:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on "
                f"{whose}. Please use only one of them: register_full_backward_hook"
            )
        handle = add_hook(self.backward, hook, prepend)
        self.full = full
        return handle


everywhere = ModuleHooks()
_no_hooks = ModuleHooks()


class Hooked:
    """What can be called, with hooks around its `forward`."""

    # None as long as there are no hooks, here or everywhere: then a call costs no more than this
    # look. A module's own stand in the instance, those of all modules in this class.
    _module_hooks: ModuleHooks | None = None

    forward: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._module_hooks is None:
            return self.forward(*args, **kwargs)
        return self._call_hooked(args, kwargs)

    def _own_hooks(self) -> ModuleHooks:
        hooks: ModuleHooks = self.__dict__.setdefault("_module_hooks", ModuleHooks())
        return hooks

    def _all_hooks(self, kind: str) -> list[Any]:
        """Those of all modules, then this one's own."""
        own = self.__dict__.get("_module_hooks", _no_hooks)
        return [hook for hooks in (everywhere, own) for hook in getattr(hooks, kind).values()]

    def _backward_hooks_of(self, full: bool) -> list[Callable[..., Any]]:
        own = self.__dict__.get("_module_hooks", _no_hooks)
        kept = [hooks for hooks in (everywhere, own) if hooks.full is full]
        return [hook for hooks in kept for hook in hooks.backward.values()]

    def _call_hooked(self, args: Args, kwargs: dict[str, Any]) -> Any:
        if everywhere.empty:  # those of all modules are gone: calls are cheap again
            Hooked._module_hooks = None
        output = None
        waiting: Iterator[Hook] | None = None
        try:
            for hook in self._all_hooks("before"):
                args, kwargs = hook.on_input(self, args, kwargs)
            pre, full = self._all_hooks("backward_before"), self._backward_hooks_of(full=True)
            border = BackwardHook(self, full, pre) if pre or full else None
            if border is not None:
                args = border.enter(args)
            output = self.forward(*args, **kwargs)
            waiting = iter(self._all_hooks("after"))
            for hook in waiting:
                output = hook.on_output(self, args, kwargs, output)
            if border is not None:
                output = border.leave(output)
            for function in self._backward_hooks_of(full=False):
                hang_on_last_node(self, function, args, output)
            return output
        except Exception:
            # The hooks that have not had their turn; the one that raised has had it.
            for hook in self._all_hooks("after") if waiting is None else waiting:
                if hook.always_call:
                    output = self._call_silenced(hook, args, kwargs, output)
            raise

    def _call_silenced(self, hook: Hook, args: Args, kwargs: dict[str, Any], output: Any) -> Any:
        try:
            return hook.on_output(self, args, kwargs, output)
        except Exception as error:
            warnings.warn(
                f"module forward hook of {type(self).__name__} with ``always_call=True`` raised an "
                "exception that was silenced as another error was raised in forward: "
                f"{error}",
                UserWarning,
                stacklevel=4,
            )
            return output

    # --- registering ------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """`hook(module, args)` runs before forward and may return other args; `with_kwargs`:
        `hook(module, args, kwargs)`, which may return (args, kwargs).

        `prepend` puts it before this module's other ones. The handle returned takes the hook off.

        >>> import tinygrad_course as tg
        >>> double = tg.nn.Identity()
        >>> with double.register_forward_pre_hook(lambda module, args: args[0] * 2):
        ...     double(tg.ones(1)), double.training
        (tensor([2.]), True)
        """
        return add_hook(self._own_hooks().before, hook, prepend, Hook(hook, with_kwargs))

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """`hook(module, args, output)` runs after forward and may return another output;
        `with_kwargs`: `hook(module, args, kwargs, output)`.

        `always_call` runs it also when forward or a hook before it raises, with the output so far.
        """
        entry = Hook(hook, with_kwargs, always_call)
        return add_hook(self._own_hooks().after, hook, prepend, entry)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """`hook(module, grad_input, grad_output)` runs when the gradients of the inputs are known
        and may return others; both are tuples, with None for what is no tensor.

        The positional inputs and the outputs become views of themselves that can't be changed in
        place. RuntimeError beside hooks of `register_backward_hook`.

        >>> import tinygrad_course as tg
        >>> layer, x = tg.nn.Tanh(), tg.zeros(2, requires_grad=True)
        >>> handle = layer.register_full_backward_hook(lambda module, gi, go: (gi[0] * 10,))
        >>> layer(x).sum().backward(); x.grad
        tensor([10., 10.])
        """
        whose = f"a single Module, here a {type(self).__name__}"
        return self._own_hooks().add_backward(hook, True, whose, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """`hook(module, grad_output)` runs before the gradients of the outputs go through the
        module and may return others."""
        return add_hook(self._own_hooks().backward_before, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, grad_input, grad_output)` on the last operation of forward only: with more
        than one, `grad_input` is that operation's, not the module's. Deprecated for this flaw."""
        whose = f"a single Module, here a {type(self).__name__}"
        return self._own_hooks().add_backward(hook, False, whose)


# --- hooks of all modules -------------------------------------------------------------------------


def _for_all() -> ModuleHooks:
    Hooked._module_hooks = everywhere
    return everywhere


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, args)` before every module's forward, ahead of the module's own."""
    return add_hook(_for_all().before, hook, False, Hook(hook))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`hook(module, args, output)` after every module's forward, ahead of the module's own.

    >>> from tinygrad_course import nn
    >>> seen = lambda module, args, output: print(module)
    >>> with register_module_forward_hook(seen):
    ...     _ = nn.Sequential(nn.Identity())(1)
    Identity()
    Sequential(
      (0): Identity()
    )
    """
    return add_hook(_for_all().after, hook, False, Hook(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, grad_output)` before gradients go through any module."""
    return add_hook(_for_all().backward_before, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, grad_input, grad_output)` when gradients have gone through any module;
    RuntimeError beside hooks of the old kind."""
    return _for_all().add_backward(hook, True, "all Modules")


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`register_backward_hook` for every module, with its flaw."""
    return _for_all().add_backward(hook, False, "all Modules")
