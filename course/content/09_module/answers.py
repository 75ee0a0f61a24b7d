"""Right and wrong answers of lesson 09. The wrong ones must be caught and named."""


# %% right repair-net: the old spelling of super, and modules with names
class Units(nn.Module):
    def __init__(self, a, b, more):
        super(Units, self).__init__()  # noqa: UP008
        self.first = nn.Linear(a, b)
        self.rest = nn.Sequential()
        for _ in range(more):
            self.rest.append(nn.Linear(b, b))
        self.last = nn.Linear(b, 1)
        self.register_parameter("scale", nn.Parameter(tg.ones(1)))

    def forward(self, x):
        x = self.first(x).relu()
        for layer in self.rest:
            x = layer(x).relu()
        return self.scale * self.last(x)


# %% right repair-net: the list filled step by step
class Units(nn.Module):
    def __init__(self, a, b, more):
        nn.Module.__init__(self)
        self.first, self.last = nn.Linear(a, b), nn.Linear(b, 1)
        self.rest = nn.ModuleList()
        self.rest.extend(nn.Linear(b, b) for _ in range(more))
        self.scale = nn.Parameter(tg.tensor([1.0]))

    def forward(self, inputs):
        hidden = self.first(inputs)
        for layer in self.rest:
            hidden = layer(F.relu(hidden))
        return self.last(F.relu(hidden)) * self.scale


# %% wrong repair-net: no super at all
# says: Without super().__init__() the dicts in which parts are filed don't exist, so the first
# assignment of a layer fails.
class Units(nn.Module):
    def __init__(self, a, b, more):
        self.first = nn.Linear(a, b)
        self.rest = nn.ModuleList([nn.Linear(b, b) for _ in range(more)])
        self.last = nn.Linear(b, 1)
        self.scale = nn.Parameter(tg.ones(1))

    def forward(self, x):
        x = F.relu(self.first(x))
        for layer in self.rest:
            x = F.relu(layer(x))
        return self.last(x) * self.scale


# %% wrong repair-net: forward without its input
# says: Your forward takes no input but self. What the network is called with comes as the next
# argument.
class Units(nn.Module):
    def __init__(self, a, b, more):
        super().__init__()
        self.first = nn.Linear(a, b)
        self.rest = nn.ModuleList([nn.Linear(b, b) for _ in range(more)])
        self.last = nn.Linear(b, 1)
        self.scale = nn.Parameter(tg.ones(1))

    def forward(self):
        x = F.relu(self.first(x))
        for layer in self.rest:
            x = F.relu(layer(x))
        return self.last(x) * self.scale


# %% wrong repair-net: the plain list
# says: The layers in `rest` still lie in an ordinary list, so they are not among the parameters.
# Put them into a ModuleList.
class Units(nn.Module):
    def __init__(self, a, b, more):
        super().__init__()
        self.first = nn.Linear(a, b)
        self.rest = [nn.Linear(b, b) for _ in range(more)]
        self.last = nn.Linear(b, 1)
        self.scale = nn.Parameter(tg.ones(1))

    def forward(self, x):
        x = F.relu(self.first(x))
        for layer in self.rest:
            x = F.relu(layer(x))
        return self.last(x) * self.scale


# %% wrong repair-net: the scale a plain tensor
# says: `scale` is still a plain tensor: nobody will learn it. Make it an nn.Parameter.
class Units(nn.Module):
    def __init__(self, a, b, more):
        super().__init__()
        self.first = nn.Linear(a, b)
        self.rest = nn.ModuleList([nn.Linear(b, b) for _ in range(more)])
        self.last = nn.Linear(b, 1)
        self.scale = tg.ones(1)

    def forward(self, x):
        x = F.relu(self.first(x))
        for layer in self.rest:
            x = F.relu(layer(x))
        return self.last(x) * self.scale


# %% wrong repair-net: the first two faults only
# says: It runs now, but two things are still not filed, and nobody will learn them: the layers in
# the plain list and the plain tensor `scale`.
class Units(nn.Module):
    def __init__(self, a, b, more):
        super().__init__()
        self.first = nn.Linear(a, b)
        self.rest = [nn.Linear(b, b) for _ in range(more)]
        self.last = nn.Linear(b, 1)
        self.scale = tg.ones(1)

    def forward(self, x):
        x = F.relu(self.first(x))
        for layer in self.rest:
            x = F.relu(layer(x))
        return self.last(x) * self.scale


# %% wrong repair-net: a Sequential without the ReLUs
# says: A Sequential of linear layers calls them one after the other, without the ReLU between them:
# from two layers in `rest` on, it computes something else.
class Units(nn.Module):
    def __init__(self, a, b, more):
        super().__init__()
        self.first = nn.Linear(a, b)
        self.rest = nn.Sequential(*[nn.Linear(b, b) for _ in range(more)])
        self.last = nn.Linear(b, 1)
        self.scale = nn.Parameter(tg.ones(1))

    def forward(self, x):
        x = F.relu(self.first(x))
        x = F.relu(self.rest(x))
        return self.last(x) * self.scale


# %% wrong repair-net: one layer again and again
# says: `[layer] * more` holds one and the same layer several times. Make a new one for each place.
class Units(nn.Module):
    def __init__(self, a, b, more):
        super().__init__()
        self.first = nn.Linear(a, b)
        self.rest = nn.ModuleList([nn.Linear(b, b)] * more)
        self.last = nn.Linear(b, 1)
        self.scale = nn.Parameter(tg.ones(1))

    def forward(self, x):
        x = F.relu(self.first(x))
        for layer in self.rest:
            x = F.relu(layer(x))
        return self.last(x) * self.scale


# %% right predict-filed: the engine asked
class Traps(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(tg.ones(2))
        self.b = tg.ones(2, requires_grad=True)
        self.c = nn.Parameter(tg.ones(2)) * 2
        self.register_buffer("d", tg.ones(2))
        self.e = nn.Linear(2, 1, bias=False)
        self.f = [nn.Linear(2, 1)]
        self.register_buffer("g", tg.ones(2), persistent=False)


traps = Traps()
filed = {"parameters": dict(traps.named_parameters()).keys(), "saved": traps.state_dict().keys()}

# %% right predict-filed: buffers last
filed = {"parameters": ("a", "e.weight"), "saved": ("a", "e.weight", "d")}

# %% wrong predict-filed: whatever requires a gradient
# says: b and c require gradients, but their class is Tensor, and c is computed besides. Only a
# Parameter is filed.
filed = {"parameters": ["a", "b", "c", "e.weight"], "saved": ["a", "b", "c", "d", "e.weight"]}

# %% wrong predict-filed: what is computed from a parameter
# says: c is the product of a parameter with a number: a plain tensor with a history, no parameter.
filed = {"parameters": ["a", "c", "e.weight"], "saved": ["a", "c", "d", "e.weight"]}

# %% wrong predict-filed: a bias that isn't there
# says: e was made with bias=False: its bias is None and is not listed.
filed = {"parameters": ["a", "e.weight", "e.bias"], "saved": ["a", "d", "e.weight", "e.bias"]}

# %% wrong predict-filed: the list looked into
# says: f is an ordinary list. Its layer is invisible to the module.
filed = {
    "parameters": ["a", "e.weight", "f.0.weight", "f.0.bias"],
    "saved": ["a", "d", "e.weight", "f.0.weight", "f.0.bias"],
}

# %% wrong predict-filed: all buffers saved
# says: g is a buffer, but persistent=False keeps it out of what is saved.
filed = {"parameters": ["a", "e.weight"], "saved": ["a", "d", "e.weight", "g"]}

# %% wrong predict-filed: buffers among the parameters
# says: A buffer belongs to the state and is not learned: d is saved, but it is no parameter.
filed = {"parameters": ["a", "d", "e.weight"], "saved": ["a", "d", "e.weight"]}

# %% wrong predict-filed: no buffers saved
# says: A registered buffer such as d is part of the state and is saved with it.
filed = {"parameters": ["a", "e.weight"], "saved": ["a", "e.weight"]}

# %% wrong predict-filed: modules without their parameters
# says: The names are paths: the module e has no tensor of its own name, its weight is "e.weight".
filed = {"parameters": ["a", "e"], "saved": ["a", "d", "e"]}

# %% right count-trained: with sums of the values
counts = {}
for name, keep in (("list", list), ("ModuleList", nn.ModuleList)):
    net = Stack(keep)
    eight = [*nn.ModuleList(net.all).parameters(), *net.last.parameters()]
    old = [tensor.tolist() for tensor in eight]
    net(tg.ones(3, 2)).mean().backward()
    tg.optim.SGD(net.parameters(), lr=1.0).step()
    changed = [tensor.tolist() != values for tensor, values in zip(eight, old)]
    counts[name] = (len([tensor for tensor in eight if tensor.grad is not None]), sum(changed))

# %% right count-trained: who holds what
counts = {"ModuleList": [8, 8], "list": [8, len(list(Stack(list).parameters()))]}

# %% wrong count-trained: no gradients in the list
# says: You say that the layers of the plain list get no gradients. They do: the graph is recorded
# from what is computed, and knows nothing of lists. They are only never changed.
counts = {"list": [2, 2], "ModuleList": [8, 8]}

# %% wrong count-trained: the list is trained
# says: The optimizer gets net.parameters(), and the layers of a plain list are not among them.
# Compare the values before and after.
counts = {"list": [8, 8], "ModuleList": [8, 8]}

# %% wrong count-trained: layers counted
# says: You counted layers. Each has two tensors, a weight and a bias.
counts = {"list": [4, 1], "ModuleList": [4, 4]}

# %% wrong count-trained: compared with the same tensor
# says: Nothing has changed, says your count, because what you compare with lies on the same memory.
# Take a copy before the step: detach().clone().
counts = {}
for name, keep in (("list", list), ("ModuleList", nn.ModuleList)):
    net = Stack(keep)
    eight = [*nn.ModuleList(net.all).parameters(), *net.last.parameters()]
    before = [tensor.detach() for tensor in eight]
    net(tg.ones(3, 2)).sum().backward()
    tg.optim.SGD(net.parameters(), lr=0.1).step()
    with_gradient = sum(tensor.grad is not None for tensor in eight)
    counts[name] = [with_gradient, sum(not tg.equal(a, b) for a, b in zip(before, eight))]

# %% wrong count-trained: only those that the module knows
# says: You counted among net.parameters(), and there are only two in the first network. The
# question is about all eight tensors of its layers.
counts = {"list": [2, 2], "ModuleList": [2, 2]}


# %% right my-module: object's own way for ordinary attributes
class Module:
    def __init__(self):
        object.__setattr__(self, "_parameters", {})
        object.__setattr__(self, "_modules", {})

    def __setattr__(self, name, value):
        self._parameters.pop(name, None)
        self._modules.pop(name, None)
        vars(self).pop(name, None)
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for file in ("_parameters", "_modules"):
            if name in vars(self).get(file, {}):
                return vars(self)[file][name]
        raise AttributeError(name)


# %% right my-module: reading by a merged dict
class Module:
    def __init__(self):
        self.__dict__["_parameters"] = {}
        self.__dict__["_modules"] = {}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return {**self._parameters, **self._modules}[name]
        except KeyError:
            raise AttributeError(f"no {name} here") from None

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            if name in file:
                del file[name]
        if isinstance(value, nn.Parameter):
            file = self._parameters
        else:
            file = self._modules if isinstance(value, Module) else self.__dict__
        file[name] = value


# %% right my-module: the dicts looked up by name, KeyError turned round
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        own = self.__dict__
        for place in (own["_parameters"], own["_modules"], own):
            if name in place:
                del place[name]
        if isinstance(value, nn.Parameter):
            own["_parameters"][name] = value
        elif isinstance(value, Module):
            own["_modules"][name] = value
        else:
            own[name] = value

    def __getattr__(self, name):
        if name in ("_parameters", "_modules"):
            raise AttributeError(name)
        try:
            return (self._parameters | self._modules)[name]
        except KeyError:
            raise AttributeError(name) from None


# %% wrong my-module: only ordinary attributes
# says: Nothing is filed: your class stores everything as ordinary attributes. Write a __setattr__
# that looks at the class of the value.
class Module:
    def __init__(self):
        self._parameters, self._modules = {}, {}


# %% wrong my-module: filed and stored as well
# says: What you file is stored as an ordinary attribute, too. A name should be in one place only,
# or the two may part.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        self._parameters.pop(name, None)
        self._modules.pop(name, None)
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        object.__setattr__(self, name, value)


# %% wrong my-module: nothing found again
# says: Parts are filed, but reading doesn't find them: without a __getattr__ Python looks only
# among the ordinary attributes.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            file.pop(name, None)
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            self.__dict__[name] = value


# %% wrong my-module: None for unknown names
# says: For a name that doesn't exist your __getattr__ gives None, so a misspelt name is no error,
# and hasattr says True. Raise AttributeError.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            file.pop(name, None)
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for file in (self.__dict__["_parameters"], self.__dict__["_modules"]):
            if name in file:
                return file[name]


# %% wrong my-module: KeyError for unknown names
# says: An unknown name gives a KeyError from your dict. Python's rule, on which hasattr relies, is
# AttributeError.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            file.pop(name, None)
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        files = {**self.__dict__["_parameters"], **self.__dict__["_modules"]}
        return files[name]


# %% wrong my-module: files of the class
# says: The two dicts belong to your class, so all objects share them. Make them in __init__.
class Module:
    _parameters, _modules = {}, {}

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            file.pop(name, None)
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for file in (Module._parameters, Module._modules):
            if name in file:
                return file[name]
        raise AttributeError(name)


# %% wrong my-module: any tensor filed
# says: You file every tensor. A plain one may be something to remember and not to learn: only
# nn.Parameter is filed.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            file.pop(name, None)
        if isinstance(value, tg.Tensor):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for file in ("_parameters", "_modules"):
            if name in self.__dict__.get(file, {}):
                return self.__dict__[file][name]
        raise AttributeError(name)


# %% wrong my-module: subclasses not recognised
# says: `type(value) is Module` is false for subclasses, and every network is one. Use isinstance.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            file.pop(name, None)
        if type(value) is nn.Parameter:
            self._parameters[name] = value
        elif type(value) is Module:
            self._modules[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for file in ("_parameters", "_modules"):
            if name in self.__dict__.get(file, {}):
                return self.__dict__[file][name]
        raise AttributeError(name)


# %% wrong my-module: the old place not cleared
# says: When a name gets a value of another kind, the old one stays where it was, and would still be
# trained or saved. Take the name out of all places first.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for file in ("_parameters", "_modules"):
            if name in self.__dict__.get(file, {}):
                return self.__dict__[file][name]
        raise AttributeError(name)


# %% wrong my-module: __getattr__ that calls itself
# says: If __init__ has not run, `self._parameters` inside __getattr__ is an unknown name itself and
# calls __getattr__ again, without end. Use self.__dict__.get.
class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={})

    def __setattr__(self, name, value):
        for file in (self._parameters, self._modules, self.__dict__):
            file.pop(name, None)
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for file in (self._parameters, self._modules):
            if name in file:
                return file[name]
        raise AttributeError(name)


# %% right my-walk: first all modules, then their parameters
def named_parameters(module):
    paths, found = [("", module)], {}
    while paths:
        prefix, module = paths.pop(0)
        for name, parameter in module._parameters.items():
            if parameter is not None and all(parameter is not p for p in found.values()):
                found[prefix + name] = parameter
        paths = [(f"{prefix}{n}.", child) for n, child in module._modules.items()] + paths
    return list(found.items())


# %% right my-walk: a generator that hands the set down
def named_parameters(module, seen=None):
    seen = set() if seen is None else seen
    for name, parameter in module._parameters.items():
        if parameter is None or id(parameter) in seen:
            continue
        seen.add(id(parameter))
        yield name, parameter
    for name, child in module._modules.items():
        for inner, parameter in named_parameters(child, seen):
            yield f"{name}.{inner}", parameter


# %% wrong my-walk: asked of the module
# says: You ask the module for its own named_parameters(). The engine's have that method, yours from
# the exercise before have only the two dicts: walk over those.
def named_parameters(module):
    return module.named_parameters()


# %% wrong my-walk: one level only
# says: You look at the children and not below them. A child has children as well: let the walk call
# itself.
def named_parameters(module):
    seen = set()
    for prefix, part in [("", module), *((n + ".", m) for n, m in module._modules.items())]:
        for name, parameter in part._parameters.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield prefix + name, parameter


# %% wrong my-walk: only the module's own
# says: These are the module's own parameters. Those of its children belong to it as well.
def named_parameters(module):
    seen = set()
    for name, parameter in module._parameters.items():
        if parameter is not None and id(parameter) not in seen:
            seen.add(id(parameter))
            yield name, parameter


# %% wrong my-walk: the same one several times
# says: A parameter that is reached twice comes twice. An optimizer would move it twice in each
# step.
def named_parameters(module):
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield name, parameter
    for name, child in module._modules.items():
        for inner, parameter in named_parameters(child):
            yield f"{name}.{inner}", parameter


# %% wrong my-walk: a new set at each level
# says: Your set of seen parameters begins anew in each call, so two branches that share a parameter
# don't know of each other. One set for the whole walk.
def named_parameters(module):
    seen = set()
    for name, parameter in module._parameters.items():
        if parameter is not None and id(parameter) not in seen:
            seen.add(id(parameter))
            yield name, parameter
    for name, child in module._modules.items():
        for inner, parameter in named_parameters(child):
            yield f"{name}.{inner}", parameter


# %% wrong my-walk: names without their path
# says: The names lack their paths, so the weights of two layers have the same name. Put the child's
# name and a dot in front.
def named_parameters(module):
    seen = set()

    def walk(module):
        for name, parameter in module._parameters.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield name, parameter
        for child in module._modules.values():
            yield from walk(child)

    return walk(module)


# %% wrong my-walk: only the last part of the path
# says: Below the first level the path is cut: you put the name of the last module in front, and not
# the whole way from the root.
def named_parameters(module):
    seen = set()

    def walk(module, prefix):
        for name, parameter in module._parameters.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield prefix + name, parameter
        for name, child in module._modules.items():
            yield from walk(child, f"{name}.")

    return walk(module, "")


# %% wrong my-walk: children first
# says: The order is that of a module's own parameters first, and then its children. Yours begins
# below.
def named_parameters(module):
    seen = set()

    def walk(module, prefix):
        for name, child in module._modules.items():
            yield from walk(child, f"{prefix}{name}.")
        for name, parameter in module._parameters.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield prefix + name, parameter

    return walk(module, "")


# %% wrong my-walk: None among them
# says: A layer without a bias has an entry None, and you hand it on. Skip it.
def named_parameters(module):
    seen = set()

    def walk(module, prefix):
        for name, parameter in module._parameters.items():
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield prefix + name, parameter
        for name, child in module._modules.items():
            yield from walk(child, f"{prefix}{name}.")

    return walk(module, "")


# %% wrong my-walk: parameters compared by their values
# says: You compare values: two parameters that happen to be equal are taken for one. Ask whether it
# is the same object, by its id.
def named_parameters(module):
    seen = []

    def walk(module, prefix):
        for name, parameter in module._parameters.items():
            if parameter is not None and parameter.tolist() not in seen:
                seen.append(parameter.tolist())
                yield prefix + name, parameter
        for name, child in module._modules.items():
            yield from walk(child, f"{prefix}{name}.")

    return walk(module, "")
