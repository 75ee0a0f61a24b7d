"""The tree of a model's parts: which parameters, buffers and children a module has, and the walks
over them.

Assigning a Parameter, a module or a registered buffer to an attribute files it by its type;
everything a Module can do for all its parts (`parameters`, `state_dict`, `to`, `train`) is a walk
over these files. Knows nothing of what a module computes, nor of what its parts are used for: that
is in `state` and `module`. Lesson 09.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ..autograd.hooks import HookDict, RemovableHandle, add_hook
from ..autograd.variable import Tensor
from .parameter import Buffer, Parameter

Self = TypeVar("Self", bound="Tree")


class Tree:
    """A node with named parameters, buffers and child modules; every `nn.Module` is one."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    # For a class that inherits from others beside Module: whether to hand its arguments on to them.
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Past our own __setattr__, which needs these four to be there.
        self.__dict__.update(
            _parameters={}, _buffers={}, _modules={}, _non_persistent_buffers_set=set()
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # --- filing by type -------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        files = self.__dict__
        if isinstance(value, Parameter):
            self._require_init("parameters")
            if name not in self._parameters:
                self._forget(name)
            self.register_parameter(name, value)
        elif name in files.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign {kind(value)} as parameter '{name}' of {type(self).__name__} "
                    "(nn.Parameter or None expected): wrap it in nn.Parameter(...), or change the "
                    "values in place under no_grad()"
                )
            self._parameters[name] = None
        elif isinstance(value, Tree):
            self._require_init("module")
            if name not in self._modules:
                self._forget(name)
            self._modules[name] = _announced("module", self, name, value)
        elif name in files.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign {kind(value)} as child module '{name}' of "
                    f"{type(self).__name__} (nn.Module or None expected)"
                )
            self._modules[name] = None
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        elif name in files.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign {kind(value)} as buffer '{name}' of {type(self).__name__} "
                    "(Tensor or None expected)"
                )
            self._buffers[name] = _announced("buffer", self, name, value)
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        # Reached only for names that are no ordinary attributes.
        files = self.__dict__
        for file in ("_parameters", "_buffers", "_modules"):
            if name in files.get(file, ()):
                return files[file][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        if not self._forget(name):
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    def _forget(self, name: str) -> bool:
        """Takes `name` out of every file; whether it was in one of them."""
        self._non_persistent_buffers_set.discard(name)
        found = False
        for file in (self.__dict__, self._parameters, self._buffers, self._modules):
            if name in file:
                del file[name]
                found = True
        return found

    def _require_init(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"cannot assign {what} before Module.__init__() call: "
                f"{type(self).__name__}.__init__ must begin with super().__init__()"
            )

    def _check_name(self, name: str, what: str, file: Mapping[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(
                f"{what} name should be a string. Got {type(name).__name__} for a "
                f"{type(self).__name__}"
            )
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in file:
            raise KeyError(f"attribute '{name}' already exists in {type(self).__name__}")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Files a parameter, or reserves its name with None; KeyError for a name that is taken or
        not usable."""
        self._require_init("parameter")
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign {kind(param)} object to parameter '{name}' of "
                f"{type(self).__name__} (nn.Parameter or None required)"
            )
        if param is not None:
            param = _announced("parameter", self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Files a tensor that belongs to the state but is not learned; `persistent=False` keeps it
        out of `state_dict`."""
        self._require_init("buffer")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign {kind(tensor)} object to buffer '{name}' of "
                f"{type(self).__name__} (Tensor or None required)"
            )
        self._buffers[name] = _announced("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Tree | None) -> None:
        """Files a child under `name`, as assigning it does."""
        self._require_init("module")
        if module is not None and not isinstance(module, Tree):
            raise TypeError(
                f"{type(module).__name__} is not a Module subclass: child '{name}' of "
                f"{type(self).__name__} must be an nn.Module or None"
            )
        self._check_name(name, "module", self._modules)
        self._modules[name] = _announced("module", self, name, module)

    register_module = add_module

    # --- walking --------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Tree] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(dotted name, module) of this module and all below it, each once."""
        memo = set() if memo is None else memo
        if remove_duplicate:
            if self in memo:
                return
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, join(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it, each once."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """(name, module) of the modules right below this one, each once."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Any]:
        """The modules right below this one, each once."""
        for _, child in self.named_children():
            yield child

    def _named_members(
        self, file: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in getattr(module, file).items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield join(path, name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter) of this module and, with `recurse`, all below it; a shared one
        comes once."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with `recurse`, of all below it: what an optimizer is
        given."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(dotted name, buffer) of this module and, with `recurse`, all below it; a shared one
        comes once."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, with `recurse`, of all below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Any:
        """The module at a dotted path; AttributeError says which part of it does not exist."""
        module, path = self, ""
        for name in target.split(".") if target else ():
            where = type(module).__name__ + (f" at '{path}'" if path else "")
            if not hasattr(module, name):
                raise AttributeError(f"{where} has no attribute `{name}`")
            found = getattr(module, name)
            if not isinstance(found, Tree):
                raise AttributeError(f"`{name}` of {where} is not an nn.Module but {kind(found)}")
            module, path = found, join(path, name)
        return module

    def set_submodule(self, target: str, module: Tree, strict: bool = False) -> None:
        """Puts a module at a dotted path, in place of the one there; with `strict` there must be
        one.

        ValueError without a path or for what is no module, AttributeError for a path that does not
        exist or leads to something else.
        """
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueError(f"Cannot set the submodule of {type(self).__name__} without a name")
        if not isinstance(module, Tree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module).__name__}")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)
        setattr(parent, name, module)

    def _get_member(self, target: str, file: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, file):
            raise AttributeError(f"`{name}` of {type(module).__name__} is not {what}")
        return getattr(module, name)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path; AttributeError when there is none."""
        parameter: Parameter = self._get_member(target, "_parameters", "an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; AttributeError when there is none."""
        buffer: Tensor = self._get_member(target, "_buffers", "a buffer")
        return buffer

    def apply(self: Self, fn: Callable[[Any], None]) -> Self:
        """Calls `fn(module)` for every module below, then for this one; returns self. Typically
        initializes weights."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self


def join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def kind(value: Any) -> str:
    return f"'{value.type()}'" if isinstance(value, Tensor) else f"'{type(value).__name__}'"


# --- hooks on filing ------------------------------------------------------------------------------

_registration_hooks: dict[str, HookDict] = {
    what: OrderedDict() for what in ("parameter", "buffer", "module")
}


def _announced(what: str, owner: Tree, name: str, value: Any) -> Any:
    """`value`, or what a hook on filings of its kind puts in its place."""
    for hook in _registration_hooks[what].values():
        new = hook(owner, name, value)
        value = value if new is None else new
    return value


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, name, parameter)` when any module files a parameter; may return another."""
    return add_hook(_registration_hooks["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, name, buffer)` when any module files a buffer; may return another."""
    return add_hook(_registration_hooks["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, name, child)` when any module files a child; may return another."""
    return add_hook(_registration_hooks["module"], hook)
