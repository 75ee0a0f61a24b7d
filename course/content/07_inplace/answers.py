"""Right and wrong answers of lesson 07. The wrong ones must be caught and named."""

# %% right predict-versions: asked
_a = tg.zeros(4)
_b = _a.view(2, 2)
_b += 1
_b[0] = 3
_c = _a.detach()
_c.mul_(2)
_d = _a.data
_d.zero_()
_d.add_(1)
_e = _a.clone()
_a.sqrt_()
versions = {"a": _a._version, "b": _b._version, "c": _c._version, "d": _d._version, "e": 0}

# %% wrong predict-versions: a counter for each tensor
# says: You count for each tensor what was done through it. But b and c lie on the memory of a and
# share its counter: all three say the same.
versions = {"a": 1, "b": 2, "c": 1, "d": 2, "e": 0}

# %% wrong predict-versions: detach has its own
# says: detach() cuts off the history, not the memory. It shares the counter, so its change counts
# for a and b too, and theirs for it.
versions = {"a": 3, "b": 3, "c": 1, "d": 2, "e": 0}

# %% wrong predict-versions: data shares
# says: .data lies on the same memory but has a counter of its own. Its two changes are not counted
# for a.
versions = {"a": 6, "b": 6, "c": 6, "d": 6, "e": 0}

# %% wrong predict-versions: an assignment doesn't count
# says: `b[0] = 3` writes into the memory as well, so it counts.
versions = {"a": 3, "b": 3, "c": 3, "d": 2, "e": 0}

# %% wrong predict-versions: the clone takes the count along
# says: clone() is a new tensor on new memory, which nobody has changed yet: version 0.
versions = {"a": 4, "b": 4, "c": 4, "d": 2, "e": 3}

# %% wrong predict-versions: data starts where the tensor is
# says: The counter of .data is a new one. It starts at 0, not at the version of the tensor.
versions = {"a": 4, "b": 4, "c": 4, "d": 5, "e": 0}


# %% right saved-tensor: a pair
class SavedTensor:
    def __init__(self, tensor):
        self.pair = (tensor, tensor._version)

    def get(self):
        if not self.pair:
            raise RuntimeError("freed")
        tensor, then = self.pair
        if then < tensor._version:
            raise RuntimeError("changed in place")
        return tensor

    def release(self):
        self.pair = ()


# %% right saved-tensor: the released state is an attribute that isn't there
class SavedTensor:
    def __init__(self, tensor):
        self.tensor = tensor
        self.expected = tensor._version

    def get(self):
        kept = getattr(self, "tensor", None)
        if kept is None or kept._version != self.expected:
            raise RuntimeError("this tensor is no longer what was saved")
        return kept

    def release(self):
        del self.tensor


# %% wrong saved-tensor: no comparison
# says: You keep the tensor and give it back whatever has happened to it. Compare its version with
# the one at the time of saving.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor = tensor

    def get(self):
        if self.tensor is None:
            raise RuntimeError("released")
        return self.tensor

    def release(self):
        self.tensor = None


# %% wrong saved-tensor: any version but 0
# says: You refuse every version other than 0. A tensor that was changed before it was saved is all
# right: note the version at saving.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor = tensor

    def get(self):
        if self.tensor is None:
            raise RuntimeError("released")
        if self.tensor._version > 0:
            raise RuntimeError("changed")
        return self.tensor

    def release(self):
        self.tensor = None


# %% wrong saved-tensor: values compared with a copy
# says: You keep a copy and compare all numbers. That costs the memory which was to be saved, works
# for tensors only, and sees changes through .data, but none that was taken back.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor, self.copy = tensor, tensor.clone()

    def get(self):
        if self.tensor is None:
            raise RuntimeError("released")
        if not bool((self.tensor == self.copy).all()):
            raise RuntimeError("changed")
        return self.tensor

    def release(self):
        self.tensor = self.copy = None


# %% wrong saved-tensor: a copy kept
# says: You keep a copy, so get() gives another tensor, and nobody ever changes it: its version
# stays as it is. Keep the tensor itself.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor = tensor.clone() if isinstance(tensor, tg.Tensor) else tensor
        self.version = tensor._version

    def get(self):
        if self.tensor is None or self.tensor._version != self.version:
            raise RuntimeError("changed or released")
        return self.tensor

    def release(self):
        self.tensor = None


# %% wrong saved-tensor: another error
# says: You notice it, but raise another class of error. The engine's users expect a RuntimeError.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor, self.version = tensor, tensor._version

    def get(self):
        if self.tensor is None or self.tensor._version != self.version:
            raise ValueError("changed or released")
        return self.tensor

    def release(self):
        self.tensor = None


# %% wrong saved-tensor: it complains once only
# says: The second get() gives the changed tensor. You renew the note when you find a change; a
# tensor that was spoilt stays spoilt.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor, self.version = tensor, tensor._version

    def get(self):
        if self.tensor is None:
            raise RuntimeError("released")
        before, self.version = self.version, self.tensor._version
        if before != self.version:
            raise RuntimeError("changed")
        return self.tensor

    def release(self):
        self.tensor = None


# %% wrong saved-tensor: release only marks
# says: After release() your box still holds the tensor, so its memory isn't freed. Set the
# attribute to None.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor, self.version, self.released = tensor, tensor._version, False

    def get(self):
        if self.released or self.tensor._version != self.version:
            raise RuntimeError("changed or released")
        return self.tensor

    def release(self):
        self.released = True


# %% wrong saved-tensor: the version asked of nothing
# says: After release() there is no tensor whose version could be compared: `None` has no
# `_version`. Look for None first, and raise the RuntimeError.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor, self.version = tensor, tensor._version

    def get(self):
        if self.tensor._version != self.version:
            raise RuntimeError("changed")
        return self.tensor

    def release(self):
        self.tensor = None


# %% wrong saved-tensor: None after release
# says: After release() your get() gives None. A formula would then fail at some later place with a
# strange message: raise the RuntimeError here.
class SavedTensor:
    def __init__(self, tensor):
        self.tensor, self.version = tensor, tensor._version

    def get(self):
        if self.tensor is not None and self.tensor._version != self.version:
            raise RuntimeError("changed")
        return self.tensor

    def release(self):
        self.tensor = None


# %% right predict-raises: tried out
def _a():
    h = x * 2
    y = h + 1
    h += 5
    return y


def _b():
    y = x.exp()
    y += 1
    return y


def _c():
    h = x * 2
    y = h.exp()
    h += 1
    return y


def _d():
    y = x * 2
    x.add_(1)
    return y


def _e():
    h = x * 1
    y = h[0] * h[1]
    h[2] = 7.0
    return y


def _f():
    h = x * 1
    h += 5
    return h * h


def _g():
    a, b, _ = (x * 1).unbind()
    a *= 2
    return a + b


def _h():
    y = x.exp()
    y.detach().zero_()
    return y


raises = {}
for _name, _program in zip("ABCDEFGH", (_a, _b, _c, _d, _e, _f, _g, _h)):
    x = tg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    try:
        _y = _program()
    except RuntimeError:
        raises[_name] = "change"
        continue
    try:
        _y.sum().backward()
        raises[_name] = "runs"
    except RuntimeError:
        raises[_name] = "backward"

# %% wrong predict-raises: every change after use is refused
# says: You take every tensor that was used for saved. A holds: the slope of h + 1 needs nothing.
# And in C it is exp's result that is saved, not h.
raises = {"A": "backward", "B": "backward", "C": "backward", "D": "change", "E": "backward",
          "F": "runs", "G": "change", "H": "backward"}  # fmt: skip

# %% wrong predict-raises: exp saves its input
# says: The slope of exp is its result, so the result is saved. In C the input may be changed
# afterwards, in B the result may not.
raises = {"A": "runs", "B": "runs", "C": "backward", "D": "change", "E": "backward",
          "F": "runs", "G": "change", "H": "runs"}  # fmt: skip

# %% wrong predict-raises: element by element
# says: E changes an element that nobody multiplied, but the counter belongs to the whole memory. It
# is refused: better one refusal too many than a wrong gradient.
raises = {"A": "runs", "B": "backward", "C": "runs", "D": "change", "E": "runs",
          "F": "runs", "G": "change", "H": "backward"}  # fmt: skip

# %% wrong predict-raises: a leaf found out in backward
# says: D stops at the line `x += 1`. Whether somebody has saved the leaf doesn't matter: a leaf
# that requires a gradient is never changed inside a recorded calculation.
raises = {"A": "runs", "B": "backward", "C": "runs", "D": "backward", "E": "backward",
          "F": "runs", "G": "change", "H": "backward"}  # fmt: skip

# %% wrong predict-raises: detach as an open door
# says: In H, detach() shares the counter with y, so zero_() is counted for y. The open door is
# .data.
raises = {"A": "runs", "B": "backward", "C": "runs", "D": "change", "E": "backward",
          "F": "runs", "G": "change", "H": "runs"}  # fmt: skip

# %% wrong predict-raises: a change before the use
# says: In F the change comes before the product saves h. The version is noted when it is saved, and
# nothing happens after that.
raises = {"A": "runs", "B": "backward", "C": "runs", "D": "change", "E": "backward",
          "F": "backward", "G": "change", "H": "backward"}  # fmt: skip

# %% wrong predict-raises: one of several views
# says: In G three views were made by one operation. Changing one would need a history of its own
# for it, and that is refused at once.
raises = {"A": "runs", "B": "backward", "C": "runs", "D": "change", "E": "backward",
          "F": "runs", "G": "runs", "H": "backward"}  # fmt: skip


# %% right open-doors: a function for one door
def _measure(door):
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    door(y)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return type(error).__name__
    return [float(g) for g in x.grad]


gradients = {name: _measure(door) for name, door in doors.items()}

# %% right open-doors: with autograd.grad
gradients = dict.fromkeys(doors, "RuntimeError")
for name in doors:
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    doors[name](y)
    try:
        (grad,) = tg.autograd.grad(y.sum(), x)
    except RuntimeError:
        continue
    gradients[name] = grad.tolist()

# %% right open-doors: gradients as tensors
gradients = {}
for name, door in doors.items():
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    door(y)
    try:
        y.sum().backward()
        gradients[name] = x.grad
    except RuntimeError as error:
        gradients[name] = str(error)

# %% right open-doors: rounded
gradients = {}
for name, door in doors.items():
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    door(y)
    try:
        y.sum().backward()
        gradients[name] = [round(slope, 3) for slope in x.grad.tolist()]
    except RuntimeError:
        gradients[name] = "RuntimeError"

# %% wrong open-doors: backward before the change
# says: You ran backward before the door was opened. Nothing needs the numbers any more then, and
# all doors look safe.
gradients = {}
for name, door in doors.items():
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.sum().backward()
    door(y)
    gradients[name] = x.grad.tolist()

# %% wrong open-doors: one x for all doors
# says: x was made once, so each door's gradient is added to those of the doors before. Start anew
# for each.
gradients = {}
x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
for name, door in doors.items():
    y = x.exp()
    door(y)
    try:
        y.sum().backward()
        gradients[name] = x.grad.tolist()
    except RuntimeError:
        gradients[name] = "RuntimeError"

# %% wrong open-doors: the input changed
# says: You opened the doors on x. exp has saved its result y, so change y.
gradients = {}
for name, door in doors.items():
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    try:
        door(x)
        y.sum().backward()
        gradients[name] = x.grad.tolist()
    except RuntimeError:
        gradients[name] = "RuntimeError"

# %% wrong open-doors: the first error ends it
# says: The third door raised an error, and your loop ended there. Catch the RuntimeError and note
# it.
gradients = {}
for name, door in doors.items():
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    door(y)
    y.sum().backward()
    gradients[name] = x.grad.tolist()

# %% wrong open-doors: y instead of the gradient
# says: You noted the changed values of y. They do look like the gradient of exp, but without a
# change too, and the doors that stop are missing. Run backward and note x.grad.
gradients = {}
for name, door in doors.items():
    x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = x.exp()
    door(y)
    gradients[name] = y.tolist()


# %% right repair-step: two passes, then the steps
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh()
    hidden = hidden + x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    fit.backward(retain_graph=True)
    size.backward()
    with tg.no_grad():
        for parameter in (w, v):
            parameter.sub_(lr * parameter.grad)
    return fit.item() + size.item()


# %% right repair-step: gradients asked for, steps by the optimizer
def train_step(w, v, x, target, lr):
    hidden = x + tg.tanh(x * w)
    loss = ((hidden * v - target) ** 2).mean() + 0.1 * (hidden * v * v).mean()
    w.grad, v.grad = tg.autograd.grad(loss, (w, v))
    tg.optim.SGD([w, v], lr=lr).step()
    return loss.item()


# %% wrong repair-step: the gradients of the step before
# says: From the second step on, the gradients of the step before are still there, and backward adds
# to them. Keep the line that sets them to None.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh() + x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    (fit + size).backward()
    with tg.no_grad():
        v -= lr * v.grad
        w -= lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: .data everywhere
# says: It runs, and trains something else: tanh's slope is computed from the overwritten hidden,
# and the second loss from the new v. .data has silenced both errors and mended none.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh()
    hidden.data += x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    fit.backward(retain_graph=True)
    v.data -= lr * v.grad
    size.backward()
    w.data -= lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: .data after both passes
# says: The numbers are right, as both passes have run before the step. But a step through .data
# isn't counted: a graph that still needs the old weights would not notice. Under no_grad it is.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh() + x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    (fit + size).backward()
    v.data -= lr * v.grad
    w.data -= lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: .data for the weights
# says: hidden is mended. But v is still changed between the two passes, through .data: the slope of
# w by the second loss is taken at the new v, and v takes no step for that loss.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh() + x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    fit.backward(retain_graph=True)
    v.data -= lr * v.grad
    size.backward()
    w.data -= lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: .data for hidden
# says: The weights' steps are mended. But `hidden.data += x` overwrites unseen what tanh has saved:
# the slope of w is wrong.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh()
    hidden.data += x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    (fit + size).backward()
    with tg.no_grad():
        v -= lr * v.grad
        w -= lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: the step between the passes
# says: Under no_grad v may be changed, but it is counted, and the second pass still needs the old
# v. Run all backward passes first.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh() + x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    fit.backward(retain_graph=True)
    with tg.no_grad():
        v -= lr * v.grad
    size.backward()
    with tg.no_grad():
        w -= lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: the second loss computed anew
# says: You compute the second loss again after v has moved. So its slope is taken at another point,
# and v takes no step for it. Both slopes belong to the weights before the step.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh() + x
    fit = ((hidden * v - target) ** 2).mean()
    before = fit.item() + 0.1 * (hidden * v * v).mean().item()
    w.grad = v.grad = None
    fit.backward(retain_graph=True)
    with tg.no_grad():
        v -= lr * v.grad
    (0.1 * (hidden * v * v).mean()).backward()
    with tg.no_grad():
        w -= lr * w.grad
    return before


# %% wrong repair-step: new tensors for the weights
# says: `v = v - …` gives the name v inside the function to a new tensor. The caller's weights stay
# where they were: change them in place.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh() + x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    (fit + size).backward()
    with tg.no_grad():
        v = v - lr * v.grad
        w = w - lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: hidden still overwritten
# says: `hidden += x` still overwrites what tanh has saved, whatever is done about the steps. Write
# hidden = hidden + x.
def train_step(w, v, x, target, lr):
    hidden = (x * w).tanh()
    hidden += x
    fit = ((hidden * v - target) ** 2).mean()
    size = 0.1 * (hidden * v * v).mean()
    w.grad = v.grad = None
    (fit + size).backward()
    with tg.no_grad():
        v -= lr * v.grad
        w -= lr * w.grad
    return fit.item() + size.item()


# %% wrong repair-step: all under no_grad
# says: Under no_grad nothing is recorded, so there is nothing to run backward. Only the steps
# belong there.
def train_step(w, v, x, target, lr):
    with tg.no_grad():
        hidden = (x * w).tanh() + x
        fit = ((hidden * v - target) ** 2).mean()
        size = 0.1 * (hidden * v * v).mean()
        w.grad = v.grad = None
        (fit + size).backward()
        v -= lr * v.grad
        w -= lr * w.grad
    return fit.item() + size.item()


# %% right guarded: a dict of boxes
class Guarded(Function):
    def keep(self, *tensors):
        self.boxes = {place: SavedTensor(t) for place, t in enumerate(tensors)}

    @property
    def kept(self):
        found = []
        for place in sorted(self.boxes):
            found.append(self.boxes[place].get())
        return tuple(found)


# %% right guarded: map, twice
class Guarded(Function):
    def keep(self, *tensors):
        self.saved_boxes = tuple(map(SavedTensor, tensors))

    kept = property(lambda self: [box.get() for box in self.saved_boxes])


# %% wrong guarded: the tensors themselves
# says: You keep the tensors without boxes, so nobody compares versions. Put each into a
# SavedTensor, and take it out with get().
class Guarded(Function):
    def keep(self, *tensors):
        self.tensors = tensors

    @property
    def kept(self):
        return self.tensors


# %% wrong guarded: boxes of clones
# says: A box with a clone never notices a change, as nobody changes the clone. And it costs the
# memory of a copy.
class Guarded(Function):
    def keep(self, *tensors):
        self.boxes = [SavedTensor(tensor.clone()) for tensor in tensors]

    @property
    def kept(self):
        return tuple(box.get() for box in self.boxes)


# %% wrong guarded: one list for all nodes
# says: `boxes = []` in the class is one list for all nodes, so they find each other's tensors in
# it. Make a list for each: self.boxes = [...].
class Guarded(Function):
    boxes = []  # noqa: RUF012

    def keep(self, *tensors):
        for tensor in tensors:
            self.boxes.append(SavedTensor(tensor))

    @property
    def kept(self):
        return tuple(box.get() for box in self.boxes)


# %% wrong guarded: only the last one
# says: A loop that sets one attribute keeps the last tensor only. Collect the boxes in a list.
class Guarded(Function):
    def keep(self, *tensors):
        for tensor in tensors:
            self.box = SavedTensor(tensor)

    @property
    def kept(self):
        return (self.box.get(),)


# %% wrong guarded: the list made in __init__
# says: In the static style `apply` makes the node, and your `__init__` isn't called: there is no
# list yet when forward runs. Make it in keep.
class Guarded(Function):
    def __init__(self):
        self.boxes = []

    def keep(self, *tensors):
        self.boxes += [SavedTensor(tensor) for tensor in tensors]

    @property
    def kept(self):
        return tuple(box.get() for box in self.boxes)


# %% wrong guarded: kept is a method
# says: `ctx.kept` is read without brackets. Write @property above it.
class Guarded(Function):
    def keep(self, *tensors):
        self.boxes = [SavedTensor(tensor) for tensor in tensors]

    def kept(self):
        return tuple(box.get() for box in self.boxes)


# %% wrong guarded: the last one first
# says: The tensors come back in the wrong order.
class Guarded(Function):
    def keep(self, *tensors):
        self.boxes = [SavedTensor(tensor) for tensor in tensors]

    @property
    def kept(self):
        found = []
        for box in self.boxes:
            found.insert(0, box.get())
        return tuple(found)


# %% wrong guarded: a single one without its tuple
# says: For one tensor you return the tensor itself. `(y,) = ctx.kept` needs a tuple of one.
class Guarded(Function):
    def keep(self, *tensors):
        self.boxes = [SavedTensor(tensor) for tensor in tensors]

    @property
    def kept(self):
        found = tuple(box.get() for box in self.boxes)
        return found if len(found) > 1 else found[0]
