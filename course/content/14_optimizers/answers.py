"""Right and wrong answers of lesson 14. The wrong ones must be caught and named."""


# %% right descent: through data
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = closure() if closure else None
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.sub_(group["lr"] * p.grad.data)
        return loss


# %% right descent: all pairs first, add_ with alpha
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with tg.enable_grad():
                loss = closure()
        pairs = [(p, group["lr"]) for group in self.param_groups for p in group["params"]]
        with tg.no_grad():
            for p, lr in pairs:
                if p.grad is not None:
                    p.add_(p.grad, alpha=-lr)
        return loss


# %% wrong descent: uphill
# says: Your step goes uphill: the gradient is added. Subtract it.
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with tg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p += group["lr"] * p.grad
        return loss


# %% wrong descent: one learning rate for all
# says: You use the default learning rate for all groups. Each group has its own: group["lr"].
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with tg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p -= self.defaults["lr"] * p.grad
        return loss


# %% wrong descent: only the first group
# says: Only the first group moves: param_groups is a list, and all of its groups want a step.
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        group = self.param_groups[0]
        with tg.no_grad():
            for p in group["params"]:
                if p.grad is not None:
                    p -= group["lr"] * p.grad
        return loss


# %% wrong descent: None is not expected
# says: A parameter that no backward pass has reached has the gradient None, and None can't be
# multiplied. Leave such a parameter out.
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with tg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * p.grad
        return loss


# %% wrong descent: recorded
# says: Changing a leaf in place while operations are recorded is refused. Do it under tg.no_grad().
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= group["lr"] * p.grad
        return loss


# %% wrong descent: a new tensor in a local name
# says: Nothing moves: `p = p - ...` makes a new tensor and calls it p. The network holds the old
# one. Change it in place, p -= ...
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with tg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p = p - group["lr"] * p.grad
        return loss


# %% wrong descent: nothing returned
# says: The parameters are right, but step returns nothing. It has to return what the closure
# returned.
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        if closure is not None:
            closure()
        with tg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p -= group["lr"] * p.grad


# %% wrong descent: the closure under no_grad
# says: The closure runs a backward pass, and under no_grad its loss has no graph. Call it outside
# of the no_grad block.
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @tg.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= group["lr"] * p.grad
        return loss


# %% wrong descent: the gradient is dropped
# says: step drops the gradients after use. That is zero_grad's work: others may still want to read
# or add to them.
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with tg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p -= group["lr"] * p.grad
                        p.grad = None
        return loss


# %% wrong descent: the closure is ignored
# says: The closure is never called: with it, the gradients are those that it computes.
class Descent(tg.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        with tg.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p -= group["lr"] * p.grad


# %% right edge: the recurrence in plain numbers
def _needed(lr, beta=0.0):
    x, v = 1.0, 0.0
    for n in range(151):
        if abs(x) < 0.001:
            return n
        v = beta * v + 10 * x
        x -= lr * v
    return None


measured = {
    "steps": {lr: _needed(lr) for lr in (0.02, 0.1, 0.19, 0.2)},
    "largest": {
        beta: max(n / 100 for n in range(15, 42, 2) if _needed(n / 100, beta) is not None)
        for beta in (0.0, 0.9)
    },
}


# %% right edge: with the optimizer, step by step
def _needed(lr, beta=0.0):
    x, n = tg.tensor(1.0, requires_grad=True), 0
    optimizer = tg.optim.SGD([x], lr=lr, momentum=beta)
    while not abs(x.item()) < 0.001:
        if n == 150:
            return None
        n += 1
        optimizer.zero_grad()
        (5 * x * x).backward()
        optimizer.step()
    return n


measured = {"steps": {lr: _needed(lr) for lr in (0.02, 0.1, 0.19, 0.2)}, "largest": {}}
for _beta in (0.0, 0.9):
    _lr = 0.41
    while _needed(_lr, _beta) is None:
        _lr = round(_lr - 0.02, 2)
    measured["largest"][_beta] = _lr


# %% right edge: arrays
def _first(lr, beta=0.0):
    places = np.array(path(lr, beta, steps=151))
    hits = np.flatnonzero(np.abs(places) < 1e-3)
    return hits[0] if len(hits) else None


_rates = np.arange(15, 42, 2) / 100
measured = {
    "steps": {lr: _first(lr) for lr in (0.02, 0.1, 0.19, 0.2)},
    "largest": {b: max(r for r in _rates if _first(r, b) is not None) for b in (0.0, 0.9)},
}


# %% wrong edge: counted from 1
# says: Your counts are one too large: x = 1 is the place after 0 steps.
measured = {
    "steps": {0.02: 32, 0.1: 2, 0.19: 67, 0.2: None},
    "largest": {0.0: 0.19, 0.9: 0.37},
}

# %% wrong edge: 150 for never
# says: At 0.2 x jumps between 1 and -1 for ever. Where |x| doesn't get below 0.001, None was asked
# for, not the number of steps that were tried.
measured = {
    "steps": {0.02: 31, 0.1: 1, 0.19: 66, 0.2: 150},
    "largest": {0.0: 0.19, 0.9: 0.37},
}

# %% wrong edge: the loss below 0.001
# says: You compare the loss, 5x², with 0.001. The count was to stop at |x|.
measured = {
    "steps": {0.02: 20, 0.1: 1, 0.19: 41, 0.2: None},
    "largest": {0.0: 0.19, 0.9: 0.37},
}

# %% wrong edge: x instead of |x|
# says: At 0.19 the second place is negative, and so less than 0.001: compare abs(x).
measured = {
    "steps": {0.02: 31, 0.1: 1, 0.19: 1, 0.2: 1},
    "largest": {0.0: 0.41, 0.9: 0.41},
}

# %% wrong edge: the edge itself
# says: 0.2 and 0.38 are the edges themselves. There x swings for ever; one hundredth below it comes
# to rest.
measured = {
    "steps": {0.02: 31, 0.1: 1, 0.19: 66, 0.2: None},
    "largest": {0.0: 0.2, 0.9: 0.38},
}

# %% wrong edge: the same edge with momentum
# says: With momentum the largest rate is another one: hand momentum on to the optimizer.
measured = {
    "steps": {0.02: 31, 0.1: 1, 0.19: 66, 0.2: None},
    "largest": {0.0: 0.19, 0.9: 0.19},
}


# %% wrong edge: nan ends the loop
# says: Beyond the edge x becomes infinite and then nan, and no comparison with nan is true: your
# loop ends there, as if x were small. Ask whether |x| is below 0.001, and not for the contrary.
def _needed(lr, beta=0.0):
    x, n = tg.tensor(1.0, requires_grad=True), 0
    optimizer = tg.optim.SGD([x], lr=lr, momentum=beta)
    while abs(x.item()) >= 0.001:
        if n == 150:
            return None
        n += 1
        optimizer.zero_grad()
        (5 * x * x).backward()
        optimizer.step()
    return n


measured = {"steps": {lr: _needed(lr) for lr in (0.02, 0.1, 0.19, 0.2)}, "largest": {}}
for _beta in (0.0, 0.9):
    _rates = [round(0.01 * n, 2) for n in range(15, 42, 2)]
    measured["largest"][_beta] = max(lr for lr in _rates if _needed(lr, _beta) is not None)


# %% wrong edge: gradients never reset
# says: Your gradients add up from step to step: zero_grad is missing in your loop. That turns the
# descent into an endless swing.
def _needed(lr, momentum=0.0):
    x = tg.tensor(1.0, requires_grad=True)
    optimizer = tg.optim.SGD([x], lr=lr, momentum=momentum)
    for n in range(151):
        if abs(x.item()) < 0.001:
            return n
        (5 * x * x).backward()
        optimizer.step()
    return None


measured = {"steps": {lr: _needed(lr) for lr in (0.02, 0.1, 0.19, 0.2)}, "largest": {}}
for _beta in (0.0, 0.9):
    _rates = [round(0.01 * n, 2) for n in range(15, 42, 2)]
    measured["largest"][_beta] = max(lr for lr in _rates if _needed(lr, _beta) is not None)


# %% right predict-steps: computed by the library
def _after(second, first=2.0, **settings):
    w = tg.tensor([1.0], requires_grad=True)
    optimizer = tg.optim.SGD([w], lr=0.1, **settings)
    for g in (first, second):
        w.grad = None if g is None else tg.tensor([g])
        optimizer.step()
    return w.item()


after = {
    "SGD": _after(2.0),
    "momentum=0.5": _after(2.0, momentum=0.5),
    "momentum=0.5, dampening=0.5": _after(2.0, momentum=0.5, dampening=0.5),
    "momentum=0.5, second gradient 0": _after(0.0, momentum=0.5),
    "momentum=0.5, second gradient None": _after(None, momentum=0.5),
    "weight_decay=1, both gradients 0": _after(0.0, 0.0, weight_decay=1),
}

# %% right predict-steps: by hand
after = {
    "SGD": 1 - 0.1 * 2 - 0.1 * 2,
    "momentum=0.5": 1 - 0.1 * 2 - 0.1 * (0.5 * 2 + 2),
    "momentum=0.5, dampening=0.5": 1 - 0.1 * 2 - 0.1 * (0.5 * 2 + 0.5 * 2),
    "momentum=0.5, second gradient 0": 1 - 0.1 * 2 - 0.1 * (0.5 * 2 + 0),
    "momentum=0.5, second gradient None": 1 - 0.1 * 2,
    "weight_decay=1, both gradients 0": (1 - 0.1) * (1 - 0.1),
}


# %% right predict-steps: parameters that were moved
def _after(*grads, **settings):
    w = tg.tensor([1.0], requires_grad=True)
    optimizer = tg.optim.SGD([w], lr=0.1, **settings)
    for grad in grads:
        w.grad = None if grad is None else tg.tensor([float(grad)])
        optimizer.step()
    return w


after = {
    "SGD": _after(2, 2),
    "momentum=0.5": _after(2, 2, momentum=0.5).detach(),
    "momentum=0.5, dampening=0.5": _after(2, 2, momentum=0.5, dampening=0.5)[0],
    "momentum=0.5, second gradient 0": _after(2, 0, momentum=0.5).detach().numpy(),
    "momentum=0.5, second gradient None": _after(2, None, momentum=0.5),
    "weight_decay=1, both gradients 0": _after(0, 0, weight_decay=1),
}


# %% wrong predict-steps: the first step dampened
# says: The first step is not dampened: v is the gradient itself, 2. Only later gradients are
# multiplied by 1 − dampening.
after = {
    "SGD": 0.6,
    "momentum=0.5": 0.5,
    "momentum=0.5, dampening=0.5": 0.75,
    "momentum=0.5, second gradient 0": 0.7,
    "momentum=0.5, second gradient None": 0.8,
    "weight_decay=1, both gradients 0": 0.81,
}

# %% wrong predict-steps: momentum as a running mean
# says: The new gradient goes into v as a whole, not with the factor 1 − momentum, unless dampening
# says so.
after = {
    "SGD": 0.6,
    "momentum=0.5": 0.75,
    "momentum=0.5, dampening=0.5": 0.6,
    "momentum=0.5, second gradient 0": 0.85,
    "momentum=0.5, second gradient None": 0.9,
    "weight_decay=1, both gradients 0": 0.81,
}

# %% wrong predict-steps: None taken for 0
# says: None is not 0. A parameter without a gradient is left out, its velocity with it: it stays
# where the first step took it.
after = {
    "SGD": 0.6,
    "momentum=0.5": 0.5,
    "momentum=0.5, dampening=0.5": 0.6,
    "momentum=0.5, second gradient 0": 0.7,
    "momentum=0.5, second gradient None": 0.7,
    "weight_decay=1, both gradients 0": 0.81,
}

# %% wrong predict-steps: no gradient, no step
# says: With a gradient of 0 the velocity fades to half and still moves the parameter.
after = {
    "SGD": 0.6,
    "momentum=0.5": 0.5,
    "momentum=0.5, dampening=0.5": 0.6,
    "momentum=0.5, second gradient 0": 0.8,
    "momentum=0.5, second gradient None": 0.8,
    "weight_decay=1, both gradients 0": 0.81,
}

# %% wrong predict-steps: decay of a gradient that is 0
# says: weight_decay · w is added to the gradient, so a gradient of 0 becomes 1 in the first step:
# the weight shrinks.
after = {
    "SGD": 0.6,
    "momentum=0.5": 0.5,
    "momentum=0.5, dampening=0.5": 0.6,
    "momentum=0.5, second gradient 0": 0.7,
    "momentum=0.5, second gradient None": 0.8,
    "weight_decay=1, both gradients 0": 1.0,
}

# %% wrong predict-steps: the weight decays by a fixed amount
# says: In the second step the decay is a tenth of what is left, 0.9, not of 1.
after = {
    "SGD": 0.6,
    "momentum=0.5": 0.5,
    "momentum=0.5, dampening=0.5": 0.6,
    "momentum=0.5, second gradient 0": 0.7,
    "momentum=0.5, second gradient None": 0.8,
    "weight_decay=1, both gradients 0": 0.8,
}

# %% wrong predict-steps: one step only
# says: These are the places after the first step, two were asked for.
after = {
    "SGD": 0.8,
    "momentum=0.5": 0.8,
    "momentum=0.5, dampening=0.5": 0.8,
    "momentum=0.5, second gradient 0": 0.8,
    "momentum=0.5, second gradient None": 0.8,
    "weight_decay=1, both gradients 0": 0.9,
}


# %% right momentum: a new velocity each time
class Momentum(Rule):
    def move(self, p, g, group, state):
        old = state.get("v")
        if old is None:
            v = g * 1.0
        else:
            v = group["momentum"] * old + (1 - group["dampening"]) * g
        state["v"] = v
        p.sub_(v, alpha=group["lr"])


# %% right momentum: through data
class Momentum(Rule):
    def move(self, p, g, group, state):
        fresh = len(state) == 0
        share = 1.0 if fresh else 1.0 - group["dampening"]
        before = tg.zeros_like(p.data) if fresh else state["v"]
        state["v"] = before * group["momentum"] + share * g.data
        p.data = p.data - group["lr"] * state["v"]


# %% wrong momentum: from a velocity of 0
# says: With dampening your first step is too short: v starts as the gradient itself, not as 0 that
# takes in a part of it.
class Momentum(Rule):
    def move(self, p, g, group, state):
        v = state.get("v", tg.zeros_like(p))
        state["v"] = group["momentum"] * v + (1 - group["dampening"]) * g
        p -= group["lr"] * state["v"]


# %% wrong momentum: a running mean
# says: You give the gradient the factor 1 − momentum. In this formula it is 1 − dampening, two
# settings that have nothing to do with each other.
class Momentum(Rule):
    def move(self, p, g, group, state):
        if "v" not in state:
            state["v"] = g.clone()
        else:
            state["v"] = group["momentum"] * state["v"] + (1 - group["momentum"]) * g
        p -= group["lr"] * state["v"]


# %% wrong momentum: dampening left out
# says: dampening has no effect in your class.
class Momentum(Rule):
    def move(self, p, g, group, state):
        if "v" not in state:
            state["v"] = g.clone()
        else:
            state["v"] = group["momentum"] * state["v"] + g
        p -= group["lr"] * state["v"]


# %% wrong momentum: the velocity is the gradient's memory
# says: Your velocity is the gradient's own tensor. When the next gradient is written into the same
# memory, v is overwritten, and when v changes, so does p.grad. Keep g.clone().
class Momentum(Rule):
    def move(self, p, g, group, state):
        if "v" not in state:
            state["v"] = g
        else:
            state["v"].mul_(group["momentum"]).add_(g, alpha=1 - group["dampening"])
        p -= group["lr"] * state["v"]


# %% wrong momentum: the first velocity is the gradient's memory
# says: In the first step you keep the gradient's own tensor as v. When the next gradient is written
# into the same memory, the old velocity is lost. Keep g.clone().
class Momentum(Rule):
    def move(self, p, g, group, state):
        if "v" not in state:
            state["v"] = g
        else:
            state["v"] = group["momentum"] * state["v"] + (1 - group["dampening"]) * g
        p -= group["lr"] * state["v"]


# %% wrong momentum: a new tensor called p
# says: Nothing moves: p has to be changed in place, `p -= ...`. `p = p - ...` makes a new tensor,
# of which the network knows nothing.
class Momentum(Rule):
    def move(self, p, g, group, state):
        v = g.clone()
        if "v" in state:
            v = group["momentum"] * state["v"] + (1 - group["dampening"]) * g
        state["v"] = v
        p = p - group["lr"] * v


# %% wrong momentum: lr inside the velocity
# says: Your velocity contains the learning rate. As long as it is constant, the steps are the same;
# when it changes, old gradients keep the old one. Multiply outside.
class Momentum(Rule):
    def move(self, p, g, group, state):
        if "v" not in state:
            state["v"] = group["lr"] * g
        else:
            v = group["momentum"] * state["v"]
            state["v"] = v + group["lr"] * (1 - group["dampening"]) * g
        p -= state["v"]


# %% wrong momentum: one velocity for all parameters
# says: All parameters share your velocity, which you keep on self. Each has its own `state`.
class Momentum(Rule):
    def move(self, p, g, group, state):
        if not hasattr(self, "v"):
            self.v = g.clone()
        else:
            self.v = group["momentum"] * self.v + (1 - group["dampening"]) * g
        p -= group["lr"] * self.v


# %% wrong momentum: the velocity is never kept
# says: The velocity is computed and forgotten: it has to be stored in state["v"] for the next step.
class Momentum(Rule):
    def move(self, p, g, group, state):
        if "v" in state:
            v = group["momentum"] * state["v"] + (1 - group["dampening"]) * g
        else:
            v = g.clone()
        p -= group["lr"] * v


# %% wrong momentum: kept on the side by id
# says: Your velocities are kept on self, so a state_dict doesn't hold them, and a training that is
# resumed begins with none. Keep them in `state`.
class Momentum(Rule):
    def move(self, p, g, group, state):
        memory = self.__dict__.setdefault("memory", {})
        if id(p) not in memory:
            memory[id(p)] = g.clone()
        else:
            memory[id(p)] = group["momentum"] * memory[id(p)] + (1 - group["dampening"]) * g
        p -= group["lr"] * memory[id(p)]


# %% right adam: in place
class Adam(Rule):
    def move(self, p, g, group, state):
        b1, b2 = group["betas"]
        if not state:
            state.update(t=0, m=tg.zeros_like(p), v=tg.zeros_like(p))
        state["t"] += 1
        state["m"].mul_(b1).add_(g, alpha=1 - b1)
        state["v"].mul_(b2).addcmul_(g, g, value=1 - b2)
        root = (state["v"] / (1 - b2 ** state["t"])).sqrt().add_(group["eps"])
        p.addcdiv_(state["m"], root, value=-group["lr"] / (1 - b1 ** state["t"]))


# %% right adam: powers of beta kept instead of a count
class Adam(Rule):
    def move(self, p, g, group, state):
        b1, b2 = group["betas"]
        if len(state) == 0:
            state["p1"], state["p2"] = 1.0, 1.0
            state["m"] = state["v"] = tg.zeros_like(p)
        state["p1"], state["p2"] = state["p1"] * b1, state["p2"] * b2
        state["m"] = state["m"] + (1 - b1) * (g - state["m"])
        state["v"] = state["v"] + (1 - b2) * (g**2 - state["v"])
        m, v = state["m"] / (1 - state["p1"]), state["v"] / (1 - state["p2"])
        p.copy_(p - group["lr"] * m / (v**0.5 + group["eps"]))


# %% wrong adam: without bias correction
# says: Your means are not corrected: the first step should have the length lr, and yours is about
# three times as long.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        p -= group["lr"] * m / (v.sqrt() + group["eps"])


# %% wrong adam: counted after the step
# says: Your count is 0 in the first step, and 1 − β⁰ is 0. Count before you correct.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = state.get("step", 0)
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat = m / (tg.ones(()) * (1 - beta1**t))
        v_hat = v / (tg.ones(()) * (1 - beta2**t))
        p -= group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])
        state["step"] = t + 1


# %% wrong adam: eps under the root
# says: eps belongs outside the root. Under it, an eps of 1e-3 acts like 0.03, which shows where
# gradients are tiny.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = state["step"] = state.get("step", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        p -= group["lr"] * m_hat / (v_hat + group["eps"]).sqrt()


# %% wrong adam: one count for all parameters
# says: You count the steps of all parameters together. Each has a count of its own, in its `state`:
# one that has had no gradient so far takes its first step with t = 1.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        if p is group["params"][0]:
            group["t"] = group.get("t", 0) + 1
        t = group["t"]
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        p -= group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])


# %% wrong adam: counted once per parameter
# says: Your count goes up with each parameter, not with each step: with two parameters it is 2
# within the first step. Keep it in `state`.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = group["t"] = group.get("t", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        p -= group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])


# %% wrong adam: counted on self
# says: Your count is on self: it goes up with each parameter, and a state_dict doesn't hold it.
# Each parameter has its own count, in `state`.
class Adam(Rule):
    t = 0

    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        self.t += 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**self.t), v / (1 - beta2**self.t)
        p -= group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])


# %% wrong adam: a new tensor called p
# says: Nothing moves: p has to be changed in place, `p -= ...`. `p = p - ...` makes a new tensor,
# of which the network knows nothing.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = state["step"] = state.get("step", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        p = p - group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])


# %% wrong adam: no root
# says: You divide by v̂ itself. Its root has the size of a gradient, so that the quotient has no
# size at all.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = state["step"] = state.get("step", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        p -= group["lr"] * m_hat / (v_hat + group["eps"])


# %% wrong adam: corrected means are kept
# says: The first step is right. Then the corrected means are put back into the state, and corrected
# again in the next step. Keep m and v as they are.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = state["step"] = state.get("step", 0) + 1
        m = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m, v = m / (1 - beta1**t), v / (1 - beta2**t)
        state["m"], state["v"] = m, v
        p -= group["lr"] * m / (v.sqrt() + group["eps"])


# %% wrong adam: betas exchanged
# says: β₁ belongs to the mean of the gradients, β₂ to that of their squares. Yours are exchanged.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta2, beta1 = group["betas"]
        t = state["step"] = state.get("step", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        p -= group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])


# %% wrong adam: the square of the mean
# says: Your v takes in the square of the mean m. It is the mean of the squares of the gradients.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = state["step"] = state.get("step", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * m * m
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        p -= group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])


# %% wrong adam: the mean is the gradient's memory
# says: In the first step your mean is made in the gradient's own memory: it changes p.grad, and the
# next gradient overwrites it. Make a new tensor.
class Adam(Rule):
    def move(self, p, g, group, state):
        beta1, beta2 = group["betas"]
        t = state["step"] = state.get("step", 0) + 1
        if t == 1:
            state["v"] = (1 - beta2) * g * g
            state["m"] = g.mul_(1 - beta1)
        else:
            state["v"] = beta2 * state["v"] + (1 - beta2) * g * g
            state["m"].mul_(beta1).add_(g, alpha=1 - beta1)
        m_hat, v_hat = state["m"] / (1 - beta1**t), state["v"] / (1 - beta2**t)
        p -= group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])


# %% right repair-decay: by sub_
class AdamW(Adam):
    def move(self, p, g, group, state):
        p.sub_(p * (group["lr"] * group["weight_decay"]))
        super().move(p, g, group, state)


# %% right repair-decay: the loss of weight taken off after the step
class AdamW(Adam):
    def move(self, p, g, group, state):
        lost = group["lr"] * group["weight_decay"] * p
        Adam.move(self, p, g, group, state)
        p -= lost


# %% wrong repair-decay: as it was
# says: The decay still goes through the gradient, so Adam divides it by √v̂. Shrink p itself
# instead.
class AdamW(Adam):
    def move(self, p, g, group, state):
        g = g + group["weight_decay"] * p
        super().move(p, g, group, state)


# %% wrong repair-decay: without lr
# says: You shrink by weight_decay in each step. It is lr · weight_decay, so that a schedule of the
# learning rate acts on both.
class AdamW(Adam):
    def move(self, p, g, group, state):
        p *= 1 - group["weight_decay"]
        super().move(p, g, group, state)


# %% wrong repair-decay: after the step
# says: You shrink after Adam's step, and with it the step itself. The shrinking comes first.
class AdamW(Adam):
    def move(self, p, g, group, state):
        super().move(p, g, group, state)
        p *= 1 - group["lr"] * group["weight_decay"]


# %% wrong repair-decay: both
# says: The weight decays twice: it shrinks, and the gradient still gets weight_decay · p.
class AdamW(Adam):
    def move(self, p, g, group, state):
        p *= 1 - group["lr"] * group["weight_decay"]
        g = g + group["weight_decay"] * p
        super().move(p, g, group, state)


# %% wrong repair-decay: the gradient changed in place
# says: You add to the gradient in place: what others read in p.grad is no longer the gradient, and
# the decay is still divided by √v̂.
class AdamW(Adam):
    def move(self, p, g, group, state):
        g += group["weight_decay"] * p
        super().move(p, g, group, state)


# %% wrong repair-decay: a new tensor called p
# says: `p = p * ...` makes a new tensor, and Adam moves that one. The weight itself stays as it is:
# shrink it in place, `p *= ...`.
class AdamW(Adam):
    def move(self, p, g, group, state):
        p = p * (1 - group["lr"] * group["weight_decay"])
        super().move(p, g, group, state)


# %% wrong repair-decay: it grows
# says: Your weights grow: the factor has to be below 1.
class AdamW(Adam):
    def move(self, p, g, group, state):
        p *= 1 + group["lr"] * group["weight_decay"]
        super().move(p, g, group, state)


# %% wrong repair-decay: no decay at all
# says: This is Adam without any decay.
class AdamW(Adam):
    def move(self, p, g, group, state):
        super().move(p, g, group, state)
