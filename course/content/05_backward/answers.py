"""Right and wrong answers of lesson 05. The wrong ones must be caught and named."""

# %% right predict-next: worked out by asking again and again which step has no unfinished user
reads = {"loss": "da", "d": "cb", "c": "ab", "b": "a", "a": ""}
order = []
while len(order) < len(reads):
    waiting = {name for name in reads if name not in order}
    order += [name for name in waiting if not any(name in reads[user] for user in waiting)]

# %% wrong predict-next: breadth first
# says: This takes the steps layer by layer. `a` is read by loss, but by c and b as well, and those
# have not run yet when the second layer begins. a would pass on one of its three terms.
order = ["loss", "d", "a", "c", "b"]

# %% wrong predict-next: breadth first, b before c
# says: This takes the steps layer by layer. `a` is read by loss, but by b and c as well, and in
# your order those run after it: a would pass on one of its three terms.
order = ["loss", "d", "a", "b", "c"]

# %% wrong predict-next: forward order
# says: This is the order of the forward pass. Backward starts at the loss, whose slope in itself is
# known to be 1.
order = ["a", "b", "c", "d", "loss"]

# %% wrong predict-next: depth first
# says: This follows one path to its end before it takes up the next. b ran before c, and c is one
# of b's users: b = a.tanh() is read by c = a + b and by d = c * b.
order = ["loss", "d", "b", "a", "c"]

# %% wrong predict-next: leaves c out of the users of b
# says: b is read by d and by c. You let b run before c, so the term that comes through c is
# missing.
order = ["loss", "d", "b", "c", "a"]

# %% wrong predict-next: from the shortest path
# says: loss = d + a reads a directly, but a has two more users, b and c. It comes after them, not
# next to the loss.
order = ["loss", "a", "d", "c", "b"]


# %% right topological-order: depth first with a stack, reversed
def topological_order(root):
    finished, seen, stack = [], set(), [(root, False)]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            finished.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(child, False) for child, _ in node.next_functions if child is not None]
    return finished[::-1]


# %% right topological-order: peel off layers of nodes that nobody waits for
def topological_order(root):
    nodes, found = [root], {root}
    for node in nodes:
        for child, _ in node.next_functions:
            if child is not None and child not in found:
                found.add(child)
                nodes.append(child)
    waits_for = dict.fromkeys(nodes, 0)
    for node in nodes:
        for child, _ in node.next_functions:
            if child is not None:
                waits_for[child] += 1
    order = [root]
    for node in order:
        for child, _ in node.next_functions:
            if child is not None:
                waits_for[child] -= 1
                if waits_for[child] == 0:
                    order.append(child)
    return order


# %% wrong topological-order: breadth first
# says: Breadth first takes a node as soon as one of its users was seen. Another user may still be
# waiting, and its share would come too late. Count the users, and take a node only when all of them
# are done.
def topological_order(root):
    order = [root]
    for node in order:
        for child, _ in node.next_functions:
            if child is not None and child not in order:
                order.append(child)
    return order


# %% wrong topological-order: depth first, node noted on arrival
# says: Depth first notes each node on arrival here, so a node that is reached early along one path
# comes before users on other paths. Note a node after its inputs instead, and turn the list round
# at the end.
def topological_order(root):
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        if node not in order:
            order.append(node)
            stack += [child for child, _ in node.next_functions if child is not None]
    return order


# %% wrong topological-order: not reversed
# says: The inputs come first in your list. That is the order of the forward pass: turn it round.
def topological_order(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(child, False) for child, _ in node.next_functions if child is not None]
    return order


# %% wrong topological-order: no memory of visited nodes
# says: A node that is used twice stands twice in your list. Its backward would run twice: remember
# what was visited.
def topological_order(root):
    order, stack = [], [root]
    while stack and len(order) < 10_000:
        order.append(stack.pop())
        stack += [child for child, _ in order[-1].next_functions if child is not None]
    return order


# %% wrong topological-order: None not skipped
# says: An input that needs no gradient has None in next_functions. None has no next_functions of
# its own: skip it.
def topological_order(root):
    finished, seen, stack = [], set(), [(root, False)]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            finished.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(child, False) for child, _ in node.next_functions]
    return finished[::-1]


# %% wrong topological-order: recursive
# says: The order is right. But each node costs a nested call, and Python allows about a thousand: a
# long sequence through a recurrent network stops it. Keep a list of nodes still to do instead of
# calling yourself.
def topological_order(root):
    finished, seen = [], set()

    def visit(node):
        if node is not None and node not in seen:
            seen.add(node)
            for child, _ in node.next_functions:
                visit(child)
            finished.append(node)

    visit(root)
    return finished[::-1]


# %% wrong topological-order: labels instead of nodes
# says: Your list holds the labels. The nodes themselves are wanted: whoever walks along the list
# has to ask each of them for its slopes.
def topological_order(root):
    users, found = {root: 0}, [root]
    for node in found:
        for child in inputs_of(node):
            if child not in users:
                found.append(child)
            users[child] = users.get(child, 0) + 1
    order = [root]
    for node in order:
        for child in inputs_of(node):
            users[child] -= 1
            if users[child] == 0:
                order.append(child)
    return [node.label for node in order]


# %% wrong topological-order: users counted once per node
# says: You count the users once for each node that reads, but take off one for each read. With a *
# a the count of a goes wrong by one. Count each read in both places.
def topological_order(root):
    users, found = {root: 0}, [root]
    for node in found:
        for child in {child for child, _ in node.next_functions if child is not None}:
            if child not in users:
                found.append(child)
            users[child] = users.get(child, 0) + 1
    order, ready = [], [root]
    while ready:
        order.append(ready.pop())
        for child, _ in order[-1].next_functions:
            if child is not None:
                users[child] -= 1
                if users[child] == 0:
                    ready.append(child)
    return order


# %% right count-calls: count while walking with a stack
measured = {"by order": [], "by paths": []}
for rungs in (1, 5, 10):
    arrivals, distinct, stack = 0, set(), [ladder(rungs)]
    while stack:
        node = stack.pop()
        arrivals += 1
        distinct.add(node)
        stack.extend(child for child, _ in node.next_functions)
    measured["by order"].append(len(distinct))
    measured["by paths"].append(arrivals)

# %% right count-calls: from the number of paths that end at each node
measured = {"by order": [], "by paths": []}
for rungs in (1, 5, 10):
    order = topological_order(ladder(rungs))
    paths = {order[0]: 1}
    for node in order:
        for child, _ in node.next_functions:
            paths[child] = paths.get(child, 0) + paths[node]
    measured["by order"].append(len(order))
    measured["by paths"].append(sum(paths.values()))


# %% wrong count-calls: only the leaf's calls
# says: Under "by paths" you counted the paths that end at the leaf. The rungs on the way run each
# time as well.
def calls_by_paths(node):
    return sum(calls_by_paths(child) for child, _ in node.next_functions) or 1


measured = {"by order": [], "by paths": []}
for rungs in (1, 5, 10):
    measured["by order"].append(len(topological_order(ladder(rungs))))
    measured["by paths"].append(calls_by_paths(ladder(rungs)))


# %% wrong count-calls: the leaf left out
# says: Both counts leave something out: a ladder of n rungs has n + 1 nodes, because the leaf runs
# too.
def calls_by_paths(node):
    return bool(node.next_functions) + sum(
        calls_by_paths(child) for child, _ in node.next_functions
    )


measured = {"by order": [], "by paths": []}
for rungs in (1, 5, 10):
    measured["by order"].append(rungs)
    measured["by paths"].append(calls_by_paths(ladder(rungs)))


# %% wrong count-calls: edges instead of nodes
# says: Under "by order" you counted how many times nodes are read. A node runs once, however many
# steps read it.
def calls_by_paths(node):
    return 1 + sum(calls_by_paths(child) for child, _ in node.next_functions)


measured = {"by order": [], "by paths": []}
for rungs in (1, 5, 10):
    measured["by order"].append(
        sum(len(node.next_functions) for node in topological_order(ladder(rungs)))
    )
    measured["by paths"].append(calls_by_paths(ladder(rungs)))

# %% wrong count-calls: visited nodes skipped
# says: Your walk along the paths skips nodes that it has seen, so both counts are the same. Let it
# run them again each time it arrives: that is what is to be measured.
measured = {"by order": [], "by paths": []}
for rungs in (1, 5, 10):
    measured["by order"].append(len(topological_order(ladder(rungs))))
    measured["by paths"].append(len(topological_order(ladder(rungs))))


# %% wrong count-calls: the two exchanged
# says: The two lists are exchanged: in order, each node runs once.
def calls_by_paths(node):
    return 1 + sum(calls_by_paths(child) for child, _ in node.next_functions)


measured = {"by order": [], "by paths": []}
for rungs in (1, 5, 10):
    measured["by paths"].append(len(topological_order(ladder(rungs))))
    measured["by order"].append(calls_by_paths(ladder(rungs)))


# %% right choose-gradient: let autograd differentiate the goal
def gradient_for(goal, y, target=None):
    y = y.detach().requires_grad_()
    numbers = {"sum": y.sum, "mean": y.mean, "last": lambda: y.reshape(-1)[-1]}
    number = numbers.get(goal, lambda: ((y - target) ** 2).sum() / 2)()
    return tg.autograd.grad(number, y)[0]


# %% right choose-gradient: written out entry by entry in NumPy
def gradient_for(goal, y, target=None):
    values = y.detach().numpy()
    gradient = np.zeros_like(values)
    for place in np.ndindex(*values.shape):
        if goal == "sum":
            gradient[place] = 1
        elif goal == "mean":
            gradient[place] = 1 / values.size
        elif goal == "distance":
            gradient[place] = values[place] - target.numpy()[place]
    if goal == "last":
        gradient.flat[-1] = 1
    return tg.tensor(gradient)


# %% wrong choose-gradient: ones for the mean
# says: For the mean you pass ones, and that is the sum. Each entry changes the mean of n entries by
# 1/n.
def gradient_for(goal, y, target=None):
    if goal == "last":
        gradient = tg.zeros_like(y)
        gradient.view(-1)[-1] = 1.0
        return gradient
    return y - target if goal == "distance" else tg.ones_like(y)


# %% wrong choose-gradient: ones for everything
# says: Ones give the slopes of the sum of all entries. The other three goals weigh the entries
# differently.
def gradient_for(goal, y, target=None):
    return tg.ones_like(y)


# %% wrong choose-gradient: the mean over the rows only
# says: For the mean you divide by the number of rows. A matrix of 2 rows and 3 columns has 6
# entries.
def gradient_for(goal, y, target=None):
    if goal == "sum":
        return tg.ones_like(y)
    if goal == "mean":
        return tg.ones_like(y) / (y.shape[0] if y.dim() else 1)
    if goal == "last":
        gradient = tg.zeros_like(y)
        gradient.view(-1)[-1] = 1.0
        return gradient
    return y - target


# %% wrong choose-gradient: the whole last row
# says: For "last" you weigh the whole last row of a matrix with 1. The goal is the single entry at
# its end.
def gradient_for(goal, y, target=None):
    if goal == "sum":
        return tg.ones_like(y)
    if goal == "mean":
        return tg.ones_like(y) / y.numel()
    if goal == "last":
        gradient = tg.zeros_like(y)
        gradient[-1 if y.dim() else ()] = 1.0
        return gradient
    return y - target


# %% wrong choose-gradient: target minus y
# says: For the distance you pass target - y. The derivative of (y - t)**2 / 2 in y is y - t: with
# the other sign the steps would lead away from the target.
def gradient_for(goal, y, target=None):
    if goal == "sum":
        return tg.ones_like(y)
    if goal == "mean":
        return tg.ones_like(y) / y.numel()
    if goal == "last":
        gradient = tg.zeros_like(y)
        gradient.view(-1)[-1] = 1.0
        return gradient
    return target - y


# %% wrong choose-gradient: the half forgotten
# says: For the distance you pass 2 (y - target), the derivative of the squared distance. The goal
# is half of it.
def gradient_for(goal, y, target=None):
    if goal == "sum":
        return tg.ones_like(y)
    if goal == "mean":
        return tg.ones_like(y) / y.numel()
    if goal == "last":
        gradient = tg.zeros_like(y)
        gradient.view(-1)[-1] = 1.0
        return gradient
    return 2 * (y - target)


# %% wrong choose-gradient: the value of the goal
# says: You pass the value of the goal itself. The argument is its derivative: how much it changes
# with each entry.
def gradient_for(goal, y, target=None):
    if goal == "sum":
        return tg.ones_like(y) * y.sum()
    if goal == "mean":
        return tg.ones_like(y) * y.mean()
    if goal == "last":
        return tg.ones_like(y) * y.reshape(-1)[-1]
    return tg.ones_like(y) * ((y - target) ** 2).sum() / 2


# %% right unbroadcast: one sum over all repeated axes
def unbroadcast(grad, shape):
    padded = (1,) * (grad.ndim - len(shape)) + tuple(shape)
    repeated = tuple(axis for axis, size in enumerate(padded) if size == 1)
    return grad.sum(axis=repeated, keepdims=True).reshape(shape)


# %% right unbroadcast: each entry added to the place that it came from
def unbroadcast(grad, shape):
    total = np.zeros(shape)
    front = grad.ndim - len(shape)
    for place in np.ndindex(*grad.shape):
        source = tuple(0 if size == 1 else i for size, i in zip(shape, place[front:]))
        total[source] += grad[place]
    return total


# %% wrong unbroadcast: axes of size one forgotten
# says: The axes in front are summed, those of size one are not. A column (2, 1) added to a matrix
# (2, 3) is used three times in each row: sum where the shape says 1, and keep the axis.
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    return grad


# %% wrong unbroadcast: axes in front forgotten
# says: The axes of size one are summed, those in front are not. A row (3,) added to a matrix (2, 3)
# is used twice: sum axis 0 until the number of axes fits, before you look at the sizes.
def unbroadcast(grad, shape):
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


# %% wrong unbroadcast: axis dropped
# says: An axis of size one is gone after the sum. Pass keepdims=True, so that it stays with size
# one.
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for axis in reversed(range(len(shape))):
        if shape[axis] == 1:
            grad = grad.sum(axis=axis)
    return grad


# %% wrong unbroadcast: mean instead of sum
# says: The shape fits, but you took the mean. A value that is used n times gets the sum of what
# comes back.
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.mean(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.mean(axis=axis, keepdims=True)
    return grad


# %% wrong unbroadcast: the first of the repeated entries
# says: The shape fits, but only the first of the repeated entries is there. All of them count: take
# the sum.
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad[0]
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.take([0], axis=axis)
    return grad


# %% wrong unbroadcast: axes dropped from the back
# says: You sum the last axis as long as there are too many. Broadcasting lines shapes up at the
# end, so new axes stand in front: sum axis 0.
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=-1)
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


# %% right predict-twice: tried out
def outcome(result, passes):
    for _ in range(passes - 1):
        result.backward()
    try:
        result.backward()
    except RuntimeError:
        return "RuntimeError"
    return "runs"


x = tg.tensor(3.0, requires_grad=True)
y = x * x
y.backward(retain_graph=True)
twice = {"third x * x": outcome(y, 2), "second x + x": outcome(x + x, 2)}
slope = 2 * x.item()
twice |= {"x.grad": slope + slope, "y.grad": None}

# %% wrong predict-twice: gradients replaced
# says: You let the second pass replace the gradient. It adds: 6 and 6 give 12.
twice = {"x.grad": 6.0, "y.grad": None, "third x * x": "RuntimeError", "second x + x": "runs"}

# %% wrong predict-twice: zero in the middle
# says: y was made by an operation, so nothing is kept for it. Its gradient is None, not 0: nobody
# asked for it.
twice = {"x.grad": 12.0, "y.grad": 0.0, "third x * x": "RuntimeError", "second x + x": "runs"}

# %% wrong predict-twice: the middle keeps its gradient
# says: y did have a gradient of 1 during the pass, but only leaves keep theirs, unless
# retain_grad() was called.
twice = {"x.grad": 12.0, "y.grad": 1.0, "third x * x": "RuntimeError", "second x + x": "runs"}

# %% wrong predict-twice: retain_graph lasts for ever
# says: retain_graph=True holds for its own pass. The second pass was without it and freed the
# buffers of x * x.
twice = {"x.grad": 12.0, "y.grad": None, "third x * x": "runs", "second x + x": "runs"}

# %% wrong predict-twice: every second pass fails
# says: What fails is the use of a freed buffer. x + x has none: its slopes are 1 and 1 whatever x
# is.
twice = {
    "x.grad": 12.0,
    "y.grad": None,
    "third x * x": "RuntimeError",
    "second x + x": "RuntimeError",
}


# %% right repair-training: a new tensor each step, and zeros instead of None
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        losses.append(loss.item())
        loss.backward()
        w = (w - lr * w.grad).detach().requires_grad_()
    return w, losses


# %% right repair-training: with the optimizer
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    optimizer = tg.optim.SGD([w], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((x * w - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return w, losses


# %% right repair-training: losses as tensors without a graph
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        if w.grad is not None:
            w.grad.zero_()
        loss.backward()
        w.data -= lr * w.grad
        losses.append(loss.detach())
    return w, losses


# %% wrong repair-training: the plus is still there
# says: The loss grows: the gradient points uphill, and lr times the gradient is still added.
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        w.grad = None
        loss.backward()
        with tg.no_grad():
            w += lr * w.grad
        losses.append(loss.item())
    return w, losses


# %% wrong repair-training: gradients never reset
# says: The first step is right, the later ones are not: w.grad still holds the slopes of all steps
# before. Reset it in each step.
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        loss.backward()
        with tg.no_grad():
            w -= lr * w.grad
        losses.append(loss.item())
    return w, losses


# %% wrong repair-training: reset between backward and the step
# says: w stays where it was: the gradient is wiped after backward and before the step that needs
# it.
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        loss.backward()
        w.grad.zero_()
        with tg.no_grad():
            w -= lr * w.grad
        losses.append(loss.item())
    return w, losses


# %% wrong repair-training: losses keep their graphs
# says: w is right, but the list holds tensors, and with each of them its whole graph. Keep
# loss.item().
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        w.grad = None
        loss.backward()
        with tg.no_grad():
            w -= lr * w.grad
        losses.append(loss)
    return w, losses


# %% wrong repair-training: the step is recorded
# says: `w = w - lr * w.grad` without no_grad makes w the result of an operation. It is no longer a
# leaf, so the next backward leaves it without a gradient.
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        w.grad = None
        loss.backward()
        w = w - lr * w.grad
        losses.append(loss.item())
    return w, losses


# %% wrong repair-training: w loses requires_grad
# says: Computed under no_grad, the new w requires no gradient, so the next backward has nothing to
# do. Change w in place (w -= ...), or call requires_grad_() on the new one.
def train(x, y, steps, lr):
    w, losses = tg.zeros(1, requires_grad=True), []
    for _ in range(steps):
        loss = ((x * w - y) ** 2).mean()
        w.grad = None
        loss.backward()
        with tg.no_grad():
            w = w - lr * w.grad
        losses.append(loss.item())
    return w, losses


# %% right my-backward: each node collects what arrives, leaves at the end
def my_backward(root, grad):
    order = topological_order(root)
    arriving = dict.fromkeys(order)
    arriving[root] = grad
    with tg.no_grad():
        for node in order:
            if node.next_functions:
                out = node(arriving[node])
                for edge, part in zip(node.next_functions, out if type(out) is tuple else [out]):
                    if edge[0] is not None:
                        so_far = arriving[edge[0]]
                        arriving[edge[0]] = part if so_far is None else so_far + part
        for node in order:
            if node.name() == "AccumulateGrad":
                before = node.variable.grad
                node.variable.grad = arriving[node] if before is None else before + arriving[node]


# %% right my-backward: leaves run like all other nodes
def my_backward(root, grad):
    with tg.no_grad():
        terms = {root: [grad]}
        for node in topological_order(root):
            total = terms[node][0]
            for term in terms[node][1:]:
                total = total + term
            results = node(total)
            if not isinstance(results, tuple):
                results = (results,)
            for (child, _), result in zip(node.next_functions, results):
                if child is not None:
                    terms.setdefault(child, []).append(result)


# %% wrong my-backward: overwritten on the way
# says: A node that several others read keeps only the gradient that arrived last. Add them.
def my_backward(root, grad):
    grads = {root: grad}
    with tg.no_grad():
        for node in topological_order(root):
            if hasattr(node, "variable"):
                leaf = node.variable
                leaf.grad = grads[node] if leaf.grad is None else leaf.grad + grads[node]
                continue
            results = node(grads[node])
            results = results if isinstance(results, tuple) else (results,)
            for (child, _), result in zip(node.next_functions, results):
                if child is not None:
                    grads[child] = result


# %% wrong my-backward: a leaf's gradient replaced
# says: Within one pass all is right, but a second pass replaces the gradient of a leaf. Add to what
# is there.
def my_backward(root, grad):
    grads = {root: grad}
    with tg.no_grad():
        for node in topological_order(root):
            if hasattr(node, "variable"):
                node.variable.grad = grads[node]
                continue
            results = node(grads[node])
            results = results if isinstance(results, tuple) else (results,)
            for (child, _), result in zip(node.next_functions, results):
                if child is not None:
                    grads[child] = grads[child] + result if child in grads else result


# %% wrong my-backward: breadth first
# says: You take nodes in the order in which they are met, so some run before all their gradients
# have arrived. Use topological_order.
def my_backward(root, grad):
    grads, found = {root: grad}, [root]
    with tg.no_grad():
        for node in found:
            if hasattr(node, "variable"):
                leaf = node.variable
                leaf.grad = grads[node] if leaf.grad is None else leaf.grad + grads[node]
                continue
            results = node(grads[node])
            results = results if isinstance(results, tuple) else (results,)
            for (child, _), result in zip(node.next_functions, results):
                if child is not None:
                    grads[child] = grads[child] + result if child in grads else result
                    if child not in found:
                        found.append(child)


# %% wrong my-backward: every path walked
# says: The gradients are right, but nodes run more than once: you walk each path on its own. In a
# deep network that never ends. Add up first, then run each node once.
def my_backward(root, grad):
    with tg.no_grad():
        if hasattr(root, "variable"):
            leaf = root.variable
            leaf.grad = grad if leaf.grad is None else leaf.grad + grad
            return
        results = root(grad)
        results = results if isinstance(results, tuple) else (results,)
        for (child, _), result in zip(root.next_functions, results):
            if child is not None:
                my_backward(child, result)


# %% wrong my-backward: recorded
# says: The numbers are right, but your gradients require gradients: the backward pass was recorded
# as a graph of its own. Run it under tg.no_grad().
def my_backward(root, grad):
    grads = {root: grad}
    for node in topological_order(root):
        if hasattr(node, "variable"):
            leaf = node.variable
            leaf.grad = grads[node] if leaf.grad is None else leaf.grad + grads[node]
            continue
        results = node(grads[node])
        results = results if isinstance(results, tuple) else (results,)
        for (child, _), result in zip(node.next_functions, results):
            if child is not None:
                grads[child] = grads[child] + result if child in grads else result


# %% wrong my-backward: the given gradient ignored
# says: You start from ones, whatever was given. For a loss that is the same; for a vector the
# caller chooses.
def my_backward(root, grad):
    grads = {root: tg.ones_like(grad)}
    with tg.no_grad():
        for node in topological_order(root):
            if hasattr(node, "variable"):
                leaf = node.variable
                leaf.grad = grads[node] if leaf.grad is None else leaf.grad + grads[node]
                continue
            results = node(grads[node])
            results = results if isinstance(results, tuple) else (results,)
            for (child, _), result in zip(node.next_functions, results):
                if child is not None:
                    grads[child] = grads[child] + result if child in grads else result


# %% wrong my-backward: a single result taken for a tuple
# says: A node with one input gives back one tensor, not a tuple. zip then goes through the entries
# of that tensor and pairs the first of them with the edge. Make it a tuple of one: (results,).
def my_backward(root, grad):
    grads = {root: grad}
    with tg.no_grad():
        for node in topological_order(root):
            if hasattr(node, "variable"):
                leaf = node.variable
                leaf.grad = grads[node] if leaf.grad is None else leaf.grad + grads[node]
                continue
            for (child, _), result in zip(node.next_functions, node(grads[node])):
                if child is not None:
                    grads[child] = grads[child] + result if child in grads else result
