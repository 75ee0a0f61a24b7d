"""The state of a model as a flat dict of dotted names, and back.

Each module saves and loads its own part (`_save_to_state_dict`, `_load_from_state_dict`: the places
to override when names have changed); the two public methods walk over the tree. What the tensors
are for is not known here, nor how a dict becomes a file. Lesson 09.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..autograd.hooks import HookDict, RemovableHandle, add_hook
from ..autograd.mode import no_grad
from ..autograd.variable import Tensor
from .parameter import Parameter
from .tree import Tree


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self.missing_keys, self.unexpected_keys
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class StateHooks:
    """The hooks of one module around saving and loading its state."""

    def __init__(self) -> None:
        self.before_saving: HookDict = OrderedDict()
        self.after_saving: HookDict = OrderedDict()
        self.before_loading: HookDict = OrderedDict()
        self.after_loading: HookDict = OrderedDict()


_no_hooks = StateHooks()


class Stateful(Tree):
    """A tree whose parameters, persistent buffers and extra state can be saved and loaded."""

    # Of the layout of a module's own part: a subclass that changes it counts up, and finds the
    # number that was saved in `local_metadata["version"]` when it loads.
    _version: int = 1
    _state_hooks: StateHooks = _no_hooks

    def get_extra_state(self) -> Any:
        """What to save besides tensors, under 'prefix_extra_state'; a subclass defines it together
        with `set_extra_state`."""
        raise RuntimeError(f"{type(self).__name__} has no get_extra_state: define it in the class")

    def set_extra_state(self, state: Any) -> None:
        """Takes what `get_extra_state` returned when the state was saved."""
        raise RuntimeError(f"{type(self).__name__} has no set_extra_state: define it in the class")

    def _has_extra(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Stateful, method)

    # --- saving -----------------------------------------------------------------------------------

    def state_dict(
        self,
        *args: Any,
        destination: Any = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Dotted name → tensor, for every parameter and persistent buffer; the tensors share the
        module's memory.

        `keep_vars` returns them as they are instead of detached. `_metadata` of the dict has the
        version of each module.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead: "
                "state_dict(destination=…, prefix=…, keep_vars=…)",
                FutureWarning,
                stacklevel=2,
            )
            destination, prefix, keep_vars = (*args, destination, prefix, keep_vars)[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_hooks.before_saving.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook, may_replace in self._state_hooks.after_saving.values():
            result = hook(self, destination, prefix, metadata)
            if result is not None and not may_replace:
                raise RuntimeError(
                    f"state_dict post-hook of {type(self).__name__} must return None: change the "
                    "dict in place"
                )
            destination = destination if result is None else result
        saved: dict[str, Any] = destination
        return saved

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        """(name, tensor) of this module's own part of the state."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                yield name, parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                yield name, buffer

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Writes this module's own part, without its children's."""
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if self._has_extra("get_extra_state"):
            destination[prefix + "_extra_state"] = self.get_extra_state()

    # --- loading ----------------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies tensors into the parameters and buffers of the same names; returns the keys that
        found no partner.

        `assign` takes the tensors themselves over. RuntimeError lists all that does not fit:
        shapes, and unless `strict=False` keys that are missing or left over.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict).__name__}")
        keys, problems = IncompatibleKeys([], []), list[str]()
        metadata = getattr(state_dict, "_metadata", None) or {}
        state: Any = OrderedDict(state_dict)  # a copy, which hooks may change
        state._metadata = metadata

        def load(module: Stateful, state: Any, prefix: str) -> None:
            local = dict(metadata.get(prefix[:-1], {}))
            if assign:
                local["assign_to_params_buffers"] = True
            module._load_from_state_dict(state, prefix, local, True, *keys, problems)
            for name, child in module._modules.items():
                if child is not None:
                    below = f"{prefix}{name}."
                    part = OrderedDict((k, v) for k, v in state.items() if k.startswith(below))
                    load(child, part, below)
            for hook in module._state_hooks.after_loading.values():
                if hook(module, keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                        "expected to return new values: change the two lists in place, in that of "
                        f"{type(module).__name__}"
                    )

        load(self, state, "")
        if strict:
            problems = [
                f"{what} in state_dict: {', '.join(map(repr, names))}."
                for what, names in (
                    ("Missing key(s)", keys.missing_keys),
                    ("Unexpected key(s)", keys.unexpected_keys),
                )
                if names
            ] + problems
        if problems:
            lines = "".join(f"\n\t{problem}" for problem in problems)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:{lines}")
        return keys

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module's own part, without its children's, and adds to the three lists what
        did not go well. A subclass whose names have changed renames keys of `state_dict`, a copy,
        and calls this."""
        given = state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys
        for hook, with_module in self._state_hooks.before_loading.values():
            hook(*(self, *given) if with_module else given, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        expected = {prefix + name: (name, tensor) for name, tensor in self._own_state()}
        extra = prefix + "_extra_state"
        for key, (name, tensor) in expected.items():
            if key in state_dict:
                error_msgs += self._load_tensor(key, name, tensor, state_dict[key], assign)
            elif strict:
                missing_keys.append(key)
        if self._has_extra("set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
            expected[extra] = ()  # type: ignore[assignment]
        if strict:
            for key in state_dict:
                child, dot, _ = key[len(prefix) :].partition(".")
                known = child in self._modules if dot else key in expected
                if key.startswith(prefix) and not known:
                    unexpected_keys.append(key)

    def _load_tensor(self, key: str, name: str, old: Tensor, new: Any, assign: bool) -> list[str]:
        """Gives the parameter or buffer `name` a new value; what is wrong with it otherwise."""
        if not isinstance(new, Tensor):
            kind = type(new).__name__
            return [f"expected a Tensor for {key!r} in the state_dict but received {kind}."]
        if old.shape == () and new.shape == (1,):  # scalars were saved so before PyTorch 0.4
            new = new[0]
        if new.shape != old.shape:
            return [
                f"size mismatch for {key}: copying a param with shape {new.shape} from "
                f"checkpoint, the shape in current model is {old.shape}."
            ]
        try:
            if not assign:
                with no_grad():
                    old.copy_(new)
            elif not isinstance(old, Parameter):
                setattr(self, name, new)
            elif isinstance(new, Parameter):
                setattr(self, name, new.requires_grad_(old.requires_grad))
            else:
                setattr(self, name, Parameter(new, old.requires_grad))
        except Exception as error:
            return [f"While copying {key!r} of shape {old.shape}, an exception occurred: {error}."]
        return []

    # --- hooks ------------------------------------------------------------------------------------

    def _own_state_hooks(self) -> StateHooks:
        hooks: StateHooks = self.__dict__.setdefault("_state_hooks", StateHooks())
        return hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, prefix, keep_vars)` runs before this module's part is saved."""
        return add_hook(self._own_state_hooks().before_saving, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata)` runs after this module's part and its
        children's are saved; it changes `state_dict` in place and returns None."""
        return add_hook(self._own_state_hooks().after_saving, hook, entry=(hook, False))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same from before there was a public one: it may return another dict."""
        return add_hook(self._own_state_hooks().after_saving, hook, entry=(hook, True))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)` runs before this module's part is loaded; it may change the dict, a copy."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """The same from before there was a public one: without the module."""
        hooks = self._own_state_hooks().before_loading
        return add_hook(hooks, hook, entry=(hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, incompatible_keys)` runs after this module's part and its children's are
        loaded; it may change the two lists and returns None."""
        return add_hook(self._own_state_hooks().after_loading, hook)
