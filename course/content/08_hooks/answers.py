"""Right and wrong answers of lesson 08. The wrong ones must be caught and named."""

# %% right predict-hooks: computed
once = ((2 + 2) * 2 * 10 + 1) * 2
grads = {"one": once, "two": (8 + 1) * 2, "three": (8 + 1) * 2 + 0 * 18}

# %% right predict-hooks: the engine asked
x = tg.tensor(2.0, requires_grad=True)
y, seen = x + x, []
first = y.register_hook(lambda grad: grad * 10)
y.register_hook(lambda grad: grad + 1)
for prepare in (lambda: None, first.remove, lambda: x.register_hook(lambda grad: grad * 0)):
    prepare()
    if len(seen) < 2:
        x.grad = None
    (y * y).backward()
    seen.append(x.grad.item())
grads = dict(zip(("one", "two", "three"), seen))

# %% wrong predict-hooks: the later hook first
# says: You let the second hook run before the first. They run in the order in which they were
# registered: 8 becomes 80, and then 81.
grads = {"one": 180.0, "two": 18.0, "three": 18.0}

# %% wrong predict-hooks: hooks that only watch
# says: You took both hooks for mere watchers. What a hook returns takes the place of the gradient,
# and x gets what follows from that.
grads = {"one": 16.0, "two": 16.0, "three": 16.0}

# %% wrong predict-hooks: each hook on the first gradient
# says: The second hook doesn't see the 8 that arrived, but the 80 that the first one returned.
grads = {"one": 18.0, "two": 18.0, "three": 18.0}

# %% wrong predict-hooks: the leaf's hook on the sum
# says: In the third pass you multiplied the whole of x.grad by 0. The hook of a leaf gets what the
# pass brings, and its result is added to what is there.
grads = {"one": 162.0, "two": 18.0, "three": 0.0}

# %% wrong predict-hooks: the leaf's hook too late
# says: In the third pass you added 18 to x.grad, as if its hook ran afterwards. It runs before:
# what is added is 0.
grads = {"one": 162.0, "two": 18.0, "three": 36.0}

# %% wrong predict-hooks: removal only for new graphs
# says: remove() acts at once, for graphs that are there as well: in the second pass the factor 10
# is gone.
grads = {"one": 162.0, "two": 162.0, "three": 162.0}

# %% wrong predict-hooks: the gradient of y
# says: These are the gradients of y. On the way from y to x there is the slope of x + x, which is
# 2.
grads = {"one": 81.0, "two": 9.0, "three": 9.0}


# %% right my-hooks: a list of handles that know themselves
class Hooks:
    def __init__(self):
        self.entries = []

    def register(self, hook):
        hooks = self

        class Entry:
            def remove(self):
                hooks.entries = [pair for pair in hooks.entries if pair[0] is not self]

        entry = Entry()
        self.entries = [*self.entries, (entry, hook)]
        return entry

    def run(self, grad):
        for _, hook in self.entries:
            new = hook(grad)
            if new is not None:
                grad = new
        return grad


# %% right my-hooks: with the engine's handle
from collections import OrderedDict

from tinygrad_course.autograd.hooks import RemovableHandle


class Hooks:
    def __init__(self):
        self.kept = OrderedDict()

    def register(self, hook):
        return RemovableHandle(self.kept, hook)

    def run(self, grad):
        for hook in tuple(self.kept.values()):
            new = hook(grad)
            grad = new if new is not None else grad
        return grad


# %% wrong my-hooks: each hook gets the first gradient
# says: Each of your hooks gets the gradient that came in. It should get what the hook before it
# left.
class Hooks:
    def __init__(self):
        self.hooks, self.count = {}, 0

    def register(self, hook):
        self.count += 1
        self.hooks[self.count] = hook
        return Handle(self.hooks, self.count)

    def run(self, grad):
        out = grad
        for hook in list(self.hooks.values()):
            result = hook(grad)
            out = out if result is None else result
        return out


# %% wrong my-hooks: None replaces the gradient
# says: A hook without a return gives None, which should leave the gradient as it is. Yours hands
# the None on.
class Hooks:
    def __init__(self):
        self.hooks, self.count = {}, 0

    def register(self, hook):
        self.count += 1
        self.hooks[self.count] = hook
        return Handle(self.hooks, self.count)

    def run(self, grad):
        for hook in list(self.hooks.values()):
            grad = hook(grad)
        return grad


# %% wrong my-hooks: the truth of a tensor
# says: `hook(grad) or grad` asks whether a tensor is true. For several entries that is an error,
# and a gradient of zero counts as nothing. Ask whether the result `is None`.
class Hooks:
    def __init__(self):
        self.hooks, self.count = {}, 0

    def register(self, hook):
        self.count += 1
        self.hooks[self.count] = hook
        return Handle(self.hooks, self.count)

    def run(self, grad):
        for hook in list(self.hooks.values()):
            grad = hook(grad) or grad
        return grad


# %% wrong my-hooks: numbered by the length
# says: The length of the dict falls when a hook is removed, so a new hook gets the number of one
# that is still there, and takes its place. Count up and never down.
class Hooks:
    def __init__(self):
        self.hooks = {}

    def register(self, hook):
        number = len(self.hooks)
        self.hooks[number] = hook
        return Handle(self.hooks, number)

    def run(self, grad):
        for hook in list(self.hooks.values()):
            result = hook(grad)
            grad = grad if result is None else result
        return grad


# %% wrong my-hooks: the function as the key
# says: The function itself is the key of your dict, so the same one registered twice is there once.
class Hooks:
    def __init__(self):
        self.hooks = {}

    def register(self, hook):
        self.hooks[hook] = hook
        return Handle(self.hooks, hook)

    def run(self, grad):
        for hook in list(self.hooks.values()):
            result = hook(grad)
            grad = grad if result is None else result
        return grad


# %% wrong my-hooks: list.remove
# says: `list.remove` takes the first equal function out, which may be another registration, and
# complains the second time. Let the handle know its own entry.
class Hooks:
    def __init__(self):
        self.hooks = []

    def register(self, hook):
        hooks = self.hooks

        class Remover:
            def remove(self):
                hooks.remove(hook)

        hooks.append(hook)
        return Remover()

    def run(self, grad):
        for hook in list(self.hooks):
            result = hook(grad)
            grad = grad if result is None else result
        return grad


# %% wrong my-hooks: walking over the dict itself
# says: A hook that removes itself, or adds another one, changes the dict while you walk over it.
# Walk over a copy.
class Hooks:
    def __init__(self):
        self.hooks, self.count = {}, 0

    def register(self, hook):
        self.count += 1
        self.hooks[self.count] = hook
        return Handle(self.hooks, self.count)

    def run(self, grad):
        for hook in self.hooks.values():
            result = hook(grad)
            grad = grad if result is None else result
        return grad


# %% wrong my-hooks: one dict for all
# says: Your dict belongs to the class, so all objects share their hooks. Make it in __init__.
class Hooks:
    hooks, count = {}, 0

    def register(self, hook):
        Hooks.count += 1
        self.hooks[Hooks.count] = hook
        return Handle(self.hooks, Hooks.count)

    def run(self, grad):
        for hook in list(self.hooks.values()):
            result = hook(grad)
            grad = grad if result is None else result
        return grad


# %% wrong my-hooks: the last one first
# says: Yours run in the opposite order: the hook that was registered first has to run first.
class Hooks:
    def __init__(self):
        self.hooks, self.count = {}, 0

    def register(self, hook):
        self.count += 1
        self.hooks[self.count] = hook
        return Handle(self.hooks, self.count)

    def run(self, grad):
        for hook in reversed(list(self.hooks.values())):
            result = hook(grad)
            grad = grad if result is None else result
        return grad


# %% right feature-maps: a function that makes the hook
def feature_maps(net, names, x):
    maps = {}

    def keeper(name):
        def keep(module, args, output):
            maps[name] = tg.tensor(output.detach().numpy())

        return keep

    handles = [net.get_submodule(name).register_forward_hook(keeper(name)) for name in names]
    try:
        with tg.no_grad():
            net(x)
    finally:
        for handle in handles:
            handle.remove()
    return maps


# %% right feature-maps: one hook that finds the name of its module
from contextlib import ExitStack


def feature_maps(net, names, x):
    maps, modules = {}, dict(net.named_modules())
    name_of = {modules[name]: name for name in names}

    def keep(module, args, output):
        maps[name_of[module]] = output.clone().detach()

    with ExitStack() as stack:
        for module in name_of:
            stack.enter_context(module.register_forward_hook(keep))
        net(x)
    return maps


# %% wrong feature-maps: the name looked up too late
# says: There is one map only. Each of your hooks looks `name` up when it runs, and then the loop is
# at its last name. Keep it with name=name.
def feature_maps(net, names, x):
    maps, modules, handles = {}, dict(net.named_modules()), []
    for name in names:

        def keep(module, args, output):
            maps[name] = output.detach().clone()  # noqa: B023

        handles.append(modules[name].register_forward_hook(keep))
    net(x)
    for handle in handles:
        handle.remove()
    return maps


# %% wrong feature-maps: hooks left
# says: The maps are right, but the hooks are still there and run in each later call. Remove them.
def feature_maps(net, names, x):
    maps, modules = {}, dict(net.named_modules())
    for name in names:

        def keep(module, args, output, name=name):
            maps[name] = output.detach().clone()

        modules[name].register_forward_hook(keep)
    net(x)
    return maps


# %% wrong feature-maps: only the last handle removed
# says: You keep one handle only, so just the last hook is removed. Collect all handles in a list.
def feature_maps(net, names, x):
    maps, modules = {}, dict(net.named_modules())
    for name in names:

        def keep(module, args, output, name=name):
            maps[name] = output.detach().clone()

        handle = modules[name].register_forward_hook(keep)
    net(x)
    handle.remove()
    return maps


# %% wrong feature-maps: not detached
# says: The numbers are right, but each map still requires a gradient, and holds the graph behind
# it. detach() lets go of it.
def feature_maps(net, names, x):
    maps, modules, handles = {}, dict(net.named_modules()), []
    for name in names:

        def keep(module, args, output, name=name):
            maps[name] = output.clone()

        handles.append(modules[name].register_forward_hook(keep))
    net(x)
    for handle in handles:
        handle.remove()
    return maps


# %% wrong feature-maps: not copied
# says: detach() gives the same memory. The ReLU that works in place writes over your map. Copy it
# with clone().
def feature_maps(net, names, x):
    maps, modules, handles = {}, dict(net.named_modules()), []
    for name in names:

        def keep(module, args, output, name=name):
            maps[name] = output.detach()

        handles.append(modules[name].register_forward_hook(keep))
    net(x)
    for handle in handles:
        handle.remove()
    return maps


# %% wrong feature-maps: the input instead of the output
# says: You keep what goes into the module. The third argument of the hook is what comes out.
def feature_maps(net, names, x):
    maps, modules, handles = {}, dict(net.named_modules()), []
    for name in names:

        def keep(module, args, output, name=name):
            maps[name] = args[0].detach().clone()

        handles.append(modules[name].register_forward_hook(keep))
    net(x)
    for handle in handles:
        handle.remove()
    return maps


# %% wrong feature-maps: removed before the call
# says: Your dict is empty: the hooks are removed before net(x) is called.
def feature_maps(net, names, x):
    maps, modules = {}, dict(net.named_modules())
    for name in names:

        def keep(module, args, output, name=name):
            maps[name] = output.detach().clone()

        modules[name].register_forward_hook(keep).remove()
    net(x)
    return maps


# %% right predict-firing: nested
def around(name, *inside):
    return [f"{name} before", *inside, f"{name} after"]


fired = around("outer", *around("inner")) + [f"{name} backward" for name in ("inner", "outer")]

# %% right predict-firing: as one text
fired = tuple(
    "outer before,inner before,inner after,outer after,inner backward,outer backward".split(",")
)

# %% wrong predict-firing: the outer's backward hook first
# says: The gradient enters the outer module first, but a full hook waits for the gradient of the
# module's input, and at the outer's input it arrives last.
fired = ["outer before", "inner before", "inner after", "outer after"]
fired += ["outer backward", "inner backward"]

# %% wrong predict-firing: the outer module finished first
# says: The outer module's forward calls the inner one. It has not ended when the inner's hooks run.
fired = ["outer before", "outer after", "inner before", "inner after"]
fired += ["inner backward", "outer backward"]

# %% wrong predict-firing: the inner module first
# says: The outer module is called first, so its pre-hook runs first: that is before its forward
# calls the inner one.
fired = ["inner before", "inner after", "outer before", "outer after"]
fired += ["inner backward", "outer backward"]

# %% wrong predict-firing: ends in the order of the beginnings
# says: A call that is made inside another one ends before it. So "inner after" comes before "outer
# after".
fired = ["outer before", "inner before", "outer after", "inner after"]
fired += ["inner backward", "outer backward"]

# %% wrong predict-firing: backward hooks with the call
# says: Backward hooks can't run while the module is called: the gradients come later, when backward
# runs.
fired = ["outer before", "inner before", "inner after", "inner backward"]
fired += ["outer after", "outer backward"]

# %% right count-hooks: lists that grow
lists = {kind: [] for kind in ("forward", "full backward", "weight", "forward, no_grad")}
net, x = Thrice(), tg.ones(1, 2, requires_grad=True)
net.fc.register_forward_hook(lambda *given: lists["forward"].append(1))
net.fc.register_full_backward_hook(lambda *given: lists["full backward"].append(1))
net.fc.weight.register_hook(lambda grad: lists["weight"].append(1))
net(x).sum().backward()
net = Thrice()
net.fc.register_forward_hook(lambda *given: lists["forward, no_grad"].append(1))
with tg.no_grad():
    net(x)
called = {kind: len(found) for kind, found in lists.items()}

# %% right count-hooks: numbers, and a Counter
from collections import Counter

counts = Counter()
net = Thrice()
net.fc.register_forward_hook(lambda *given: counts.update(["forward"]))
net.fc.register_full_backward_hook(lambda *given: counts.update(["full backward"]))
net.fc.weight.register_hook(lambda grad: counts.update(["weight"]))
net(tg.zeros(1, 2, requires_grad=True)).sum().backward()
called = dict(counts)
with tg.no_grad():
    net(tg.zeros(1, 2))
called["forward, no_grad"] = counts["forward"] - called["forward"]

# %% wrong count-hooks: a hook of the weight for each use
# says: The weight is used three times, but its three terms are added up first, and the hook gets
# the sum. Count it: it is called once.
called = {"forward": 3, "full backward": 3, "weight": 3, "forward, no_grad": 3}

# %% wrong count-hooks: one call for the module
# says: net.fc is one module, but it is called three times, and its hooks run in each of these
# calls.
called = {"forward": 1, "full backward": 1, "weight": 1, "forward, no_grad": 1}

# %% wrong count-hooks: no forward hooks under no_grad
# says: no_grad turns off recording and not hooks: forward hooks run whenever the module is called.
called = {"forward": 3, "full backward": 3, "weight": 1, "forward, no_grad": 0}

# %% wrong count-hooks: counted on
# says: Your last number holds the calls of the training step as well. Count anew for the call under
# no_grad.
called = {"forward": 3, "full backward": 3, "weight": 1, "forward, no_grad": 6}

# %% wrong count-hooks: the full hook once
# says: A full backward hook belongs to a call: each of the three calls has borders of its own, and
# the gradient passes all of them.
called = {"forward": 3, "full backward": 1, "weight": 1, "forward, no_grad": 3}

# %% wrong count-hooks: hooks on the whole network
# says: You hung the module's hooks on net, which is called once. The question is how often those of
# net.fc run.
called = {"forward": 1, "full backward": 1, "weight": 1, "forward, no_grad": 3}


# %% right score-gradient: with exponentials that can't overflow
def score_gradient(logits, action, reward):
    powers = (logits.detach() - logits.detach().max()).exp()
    gradient = powers / powers.sum() * reward
    gradient[action] -= reward
    return gradient


# %% right score-gradient: one number at a time
def score_gradient(logits, action, reward):
    p = logits.detach().softmax(0).tolist()
    return tg.tensor([reward * (share - (place == action)) for place, share in enumerate(p)])


# %% wrong score-gradient: uphill
# says: The sign is turned: this is the gradient of +reward * log p. The loss has a minus.
def score_gradient(logits, action, reward):
    gradient = -reward * logits.detach().softmax(0)
    gradient[action] += reward
    return gradient


# %% wrong score-gradient: only the place drawn
# says: You have the slope of the first term only. The logarithm of the sum depends on all logits:
# its slope is p.
def score_gradient(logits, action, reward):
    gradient = tg.zeros(len(logits))
    gradient[action] = -reward
    return gradient


# %% wrong score-gradient: the slope in the probabilities
# says: -reward / p at the place drawn is the slope in the probability. The question is for the
# logits, so the slope of the softmax has to follow.
def score_gradient(logits, action, reward):
    p = logits.detach().softmax(0)
    gradient = tg.zeros(len(logits))
    gradient[action] = -reward / p[action]
    return gradient


# %% wrong score-gradient: the reward on one term only
# says: The reward multiplies both terms, p as well as the 1 at the place drawn.
def score_gradient(logits, action, reward):
    gradient = logits.detach().softmax(0)
    gradient[action] -= reward
    return gradient


# %% wrong score-gradient: without the logarithm
# says: This is the slope of p(a) itself. The score function is the slope of log p(a), which is 1/p
# times as large.
def score_gradient(logits, action, reward):
    p = logits.detach().softmax(0)
    one = tg.zeros(len(logits))
    one[action] = 1.0
    return reward * p[action] * (p - one)


# %% wrong score-gradient: exponentials that overflow
# says: exp(200) is infinite in float32, and infinite over infinite is nan. Use softmax, or subtract
# the largest logit first.
def score_gradient(logits, action, reward):
    powers = logits.detach().exp()
    gradient = reward * powers / powers.sum()
    gradient[action] -= reward
    return gradient


# %% wrong score-gradient: a graph in the result
# says: The numbers are right, but the result requires a gradient: it was computed from logits that
# do. Detach them first.
def score_gradient(logits, action, reward):
    one = tg.zeros(len(logits))
    one[action] = 1.0
    return reward * (logits.softmax(0) - one)


# %% wrong score-gradient: the reward left out
# says: The reward is missing: this is the gradient for a reward of 1.
def score_gradient(logits, action, reward):
    gradient = logits.detach().softmax(0)
    gradient[action] -= 1.0
    return gradient
