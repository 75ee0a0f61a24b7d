"""Right and wrong answers of lesson 04. The wrong ones must be caught and named."""

import tinygrad_course as tg

# %% right predict-flags: tried out
w, q = tg.tensor([1.0, 2.0], requires_grad=True), tg.tensor([3.0, 4.0])
results = {
    "w": w,
    "q * 2": q * 2,
    "w * q": w * q,
    "w[0]": w[0],
    "(w * q).detach()": (w * q).detach(),
    "w > q": w > q,
}
flags = {name: (t.requires_grad, t.is_leaf) for name, t in results.items()}

# %% right predict-flags: by the rule that a leaf is what has no creator
recorded = {"w * q", "w[0]"}
names = ("w", "q * 2", "w * q", "w[0]", "(w * q).detach()", "w > q")
flags = {name: [name in recorded or name == "w", name not in recorded] for name in names}

# %% wrong predict-flags: every computed value is no leaf
# says: You take every computed value for no leaf. A leaf is what no *recorded* operation made: q *
# 2 requires nothing, so it wasn't recorded.
flags = {
    "w": (True, True),
    "q * 2": (False, False),
    "w * q": (True, False),
    "w[0]": (True, False),
    "(w * q).detach()": (False, False),
    "w > q": (False, False),
}

# %% wrong predict-flags: leaves are what requires a gradient
# says: You call a leaf what requires a gradient and nothing else. Tensors that require none are
# leaves as well: no recorded operation made them.
flags = {
    "w": (True, True),
    "q * 2": (False, False),
    "w * q": (True, False),
    "w[0]": (True, True),
    "(w * q).detach()": (False, False),
    "w > q": (False, False),
}

# %% wrong predict-flags: picking isn't an operation
# says: w[0] is the result of an operation, which picks. It is recorded, so the result is no leaf.
flags = {
    "w": (True, True),
    "q * 2": (False, True),
    "w * q": (True, False),
    "w[0]": (True, True),
    "(w * q).detach()": (False, True),
    "w > q": (False, True),
}

# %% wrong predict-flags: comparisons have slopes
# says: w > q gives bools. They jump and have no slopes, so nothing is recorded, although w requires
# a gradient.
flags = {
    "w": (True, True),
    "q * 2": (False, True),
    "w * q": (True, False),
    "w[0]": (True, False),
    "(w * q).detach()": (False, True),
    "w > q": (True, False),
}

# %% wrong predict-flags: all inputs have to require it
# says: One input that requires a gradient is enough: w * q requires one, although q doesn't.
flags = {
    "w": (True, True),
    "q * 2": (False, True),
    "w * q": (False, True),
    "w[0]": (True, False),
    "(w * q).detach()": (False, True),
    "w > q": (False, True),
}

# %% wrong predict-flags: detach keeps requires_grad
# says: detach() gives a tensor without history, which requires no gradient and is a leaf.
flags = {
    "w": (True, True),
    "q * 2": (False, True),
    "w * q": (True, False),
    "w[0]": (True, False),
    "(w * q).detach()": (True, False),
    "w > q": (False, True),
}


# %% right result-flags: volatile first
def result_flags(*inputs):
    if any(value.volatile for value in inputs):
        return False, True
    return any(value.requires_grad for value in inputs), False


# %% right result-flags: one input after the other
def result_flags(*inputs):
    requires_grad = volatile = False
    for value in inputs:
        requires_grad = requires_grad or value.requires_grad
        volatile = volatile or value.volatile
    return (False, True) if volatile else (requires_grad, False)


# %% wrong result-flags: volatile is no obstacle
# says: A volatile result requires no gradient, even if another input does: nothing is recorded for
# it.
def result_flags(*inputs):
    return any(v.requires_grad for v in inputs), any(v.volatile for v in inputs)


# %% wrong result-flags: all inputs have to require it
# says: You ask that all inputs require a gradient. One is enough.
def result_flags(*inputs):
    volatile = any(v.volatile for v in inputs)
    return all(v.requires_grad for v in inputs) and not volatile, volatile


# %% wrong result-flags: all inputs have to be volatile
# says: You ask that all inputs are volatile. One is enough: that is why it sufficed to mark the
# data.
def result_flags(*inputs):
    volatile = all(v.volatile for v in inputs)
    return any(v.requires_grad for v in inputs) and not volatile, volatile


# %% wrong result-flags: requires_grad wins
# says: You let requires_grad win over volatile. It is the other way round: one volatile input, and
# nothing is recorded.
def result_flags(*inputs):
    requires_grad = any(v.requires_grad for v in inputs)
    return requires_grad, any(v.volatile for v in inputs) and not requires_grad


# %% wrong result-flags: the order of the flags
# says: You return the two flags in the wrong order: requires_grad comes first.
def result_flags(*inputs):
    volatile = any(v.volatile for v in inputs)
    return volatile, any(v.requires_grad for v in inputs) and not volatile


# %% wrong result-flags: the first input alone
# says: You look at the first input alone. Any of them may bring a flag.
def result_flags(*inputs):
    volatile = inputs[0].volatile
    return inputs[0].requires_grad and not volatile, volatile


# %% right record: edges by a helper
def record(label, function, *inputs):
    def edge(value):
        if not value.requires_grad:
            return None, 0
        return (value.end if value.creator is None else value.creator), 0

    requires_grad, volatile = result_flags(*inputs)
    result = Value(function(*[value.data for value in inputs]), requires_grad, volatile)
    if requires_grad:
        result.creator = Step(label, tuple(map(edge, inputs)))
    return result


# %% right record: edges collected first
def record(label, function, *inputs):
    data, edges = [], []
    for value in inputs:
        data.append(value.data)
        if value.creator is not None:
            edges.append((value.creator, 0))
        elif value.requires_grad:
            edges.append((value.end, 0))
        else:
            edges.append((None, 0))
    result = Value(function(*data))
    result.requires_grad, result.volatile = result_flags(*inputs)
    result.creator = Step(label, tuple(edges)) if result.requires_grad else None
    return result


# %% wrong record: always recorded
# says: You record every operation. If the result requires no gradient, its creator is None: nothing
# is kept for it.
def record(label, function, *inputs):
    result = Value(function(*(value.data for value in inputs)))
    result.requires_grad, result.volatile = result_flags(*inputs)
    edges = []
    for value in inputs:
        leaf_end = value.end if value.requires_grad else None
        edges.append((value.creator or leaf_end, 0))
    result.creator = Step(label, tuple(edges))
    return result


# %% wrong record: edges to constants
# says: An input that requires no gradient has an edge here, to its end. Nobody wants a gradient
# there: its pair is (None, 0).
def record(label, function, *inputs):
    result = Value(function(*(value.data for value in inputs)))
    result.requires_grad, result.volatile = result_flags(*inputs)
    if result.requires_grad:
        result.creator = Step(label, tuple((v.creator or v.end, 0) for v in inputs))
    return result


# %% wrong record: constants left out
# says: You leave the inputs that need nothing out of the edges. The places then no longer fit the
# inputs: each input has its pair, (None, 0) for those.
def record(label, function, *inputs):
    result = Value(function(*(value.data for value in inputs)))
    result.requires_grad, result.volatile = result_flags(*inputs)
    if result.requires_grad:
        result.creator = Step(
            label, tuple((v.creator or v.end, 0) for v in inputs if v.requires_grad)
        )
    return result


# %% wrong record: leaves have no edge
# says: The edges to leaves are missing. A leaf has no creator, but one that requires a gradient has
# its end, and the edge leads there.
def record(label, function, *inputs):
    result = Value(function(*(value.data for value in inputs)))
    result.requires_grad, result.volatile = result_flags(*inputs)
    if result.requires_grad:
        result.creator = Step(label, tuple((v.creator, 0) for v in inputs))
    return result


# %% wrong record: edges to values
# says: Your edges lead to the values. They have to lead to steps: the input's creator, or its end.
# A value may get another creator later, a step stays what it is.
def record(label, function, *inputs):
    result = Value(function(*(value.data for value in inputs)))
    result.requires_grad, result.volatile = result_flags(*inputs)
    if result.requires_grad:
        result.creator = Step(label, tuple((v if v.requires_grad else None, 0) for v in inputs))
    return result


# %% wrong record: edges worked out later
# says: Your edges are a generator, which looks at the inputs only when somebody reads it, and is
# empty at the second reading. Edges are fixed when the step is recorded: make a tuple.
def record(label, function, *inputs):
    result = Value(function(*(value.data for value in inputs)))
    result.requires_grad, result.volatile = result_flags(*inputs)
    if result.requires_grad:
        result.creator = Step(
            label, ((v.creator or (v.end if v.requires_grad else None), 0) for v in inputs)
        )
    return result


# %% wrong record: the flags not set
# says: The step is right, but the result's own flags were not set. The next operation reads them
# there.
def record(label, function, *inputs):
    result = Value(function(*(value.data for value in inputs)))
    if result_flags(*inputs)[0]:
        edges = []
        for value in inputs:
            leaf_end = value.end if value.requires_grad else None
            edges.append((value.creator or leaf_end, 0))
        result.creator = Step(label, tuple(edges))
    return result


# %% right repair-evaluate: the mode set and put back
def evaluate(model, batches):
    before = tg.is_grad_enabled()
    tg.set_grad_enabled(False)
    try:
        losses = [((model(x) - y) ** 2).mean().item() for x, y in batches]
    finally:
        tg.set_grad_enabled(before)
    return sum(losses) / len(losses)


# %% right repair-evaluate: as a decorated function
@tg.no_grad()
def evaluate(model, batches):
    losses = tg.stack([((model(x) - y) ** 2).mean() for x, y in batches])
    return losses.mean().item()


# %% right repair-evaluate: the mean by NumPy, whose number is a float too
def evaluate(model, batches):
    with tg.no_grad():
        return np.mean([((model(x) - y) ** 2).mean().item() for x, y in batches])


# %% wrong repair-evaluate: recorded, and a number kept
# says: The number is right, but the model's steps were recorded, for nothing: call the model inside
# of a tg.no_grad() block, too.
def evaluate(model, batches):
    total = 0.0
    for x, y in batches:
        total += ((model(x) - y) ** 2).mean().item()
    return total / len(batches)


# %% wrong repair-evaluate: recording stays off
# says: The number is right, but recording is off from now on, for the whole program. A with block
# puts the mode back.
def evaluate(model, batches):
    tg.set_grad_enabled(False)
    total = 0.0
    for x, y in batches:
        total += ((model(x) - y) ** 2).mean().item()
    return total / len(batches)


# %% wrong repair-evaluate: switched on at the end
# says: At the end you switch recording on, whatever it was before. The caller may have had it off:
# a with block puts back what was there.
def evaluate(model, batches):
    tg.set_grad_enabled(False)
    total = 0.0
    for x, y in batches:
        total += ((model(x) - y) ** 2).mean().item()
    tg.set_grad_enabled(True)
    return total / len(batches)


# %% wrong repair-evaluate: a tensor
# says: Nothing is recorded, but the result is a tensor. A plain number was asked for: .item().
def evaluate(model, batches):
    total = 0.0
    with tg.no_grad():
        for x, y in batches:
            total += ((model(x) - y) ** 2).mean()
    return total / len(batches)


# %% wrong repair-evaluate: the sum
# says: This is the sum over the batches. The mean was asked for: divide by their number.
def evaluate(model, batches):
    total = 0.0
    with tg.no_grad():
        for x, y in batches:
            total += ((model(x) - y) ** 2).mean().item()
    return total


# %% right nodes-of: with a stack
def nodes_of(root):
    found, stack = {}, [root]
    while stack:
        node = stack.pop()
        if node is not None and node not in found:
            found[node] = True
            stack.extend(child for child, _ in node.next_functions)
    return list(found)


# %% right nodes-of: layer by layer
def nodes_of(root):
    layer, found = {root} - {None}, []
    while layer:
        found += layer
        children = {child for node in layer for child, _ in node.next_functions}
        layer = children - {None} - set(found)
    return found


# %% wrong nodes-of: no memory of what was met
# says: A step that is read twice stands in your list twice. Remember what you have met.
def nodes_of(root):
    nodes = [] if root is None else [root]
    for node in nodes:
        if len(nodes) > 10_000:
            break
        nodes += [child for child, _ in node.next_functions if child is not None]
    return nodes


# %% wrong nodes-of: recursive
# says: The nodes are right. But each costs a call within a call, and Python allows about a thousand
# of them: a long chain stops it. Use a list that grows.
def nodes_of(root, found=None):
    found = [] if found is None else found
    if root is not None and root not in found:
        found.append(root)
        for child, _ in root.next_functions:
            nodes_of(child, found)
    return found


# %% wrong nodes-of: None not skipped
# says: An input that needs no gradient has None in next_functions, and None has no edges. Skip it.
def nodes_of(root):
    nodes = [] if root is None else [root]
    for node in nodes:
        for child, _ in node.next_functions:
            if child not in nodes:
                nodes.append(child)
    return nodes


# %% wrong nodes-of: the first input only
# says: You follow the first input alone. Each of the pairs in next_functions leads somewhere.
def nodes_of(root):
    nodes = []
    while root is not None:
        nodes.append(root)
        root = root.next_functions[0][0] if root.next_functions else None
    return nodes


# %% wrong nodes-of: without the root
# says: The root itself is missing.
def nodes_of(root):
    if root is None:
        return []
    nodes, seen = [root], {root}
    for node in nodes:
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                nodes.append(child)
    return nodes[1:]


# %% wrong nodes-of: no graph at all
# says: For a value without a graph the root is None, and the list is empty. Yours fails there.
def nodes_of(root):
    nodes, seen = [root], {root}
    for node in nodes:
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                nodes.append(child)
    return nodes


# %% right count-nodes: worked out
rounds = (0, 2, 4)
measured = {
    "cool": [n and n + 2 for n in rounds],
    "cool_unrolled": [4 * 2 + 2 for _ in rounds],
}

# %% right count-nodes: one model after the other
measured = {"cool": [], "cool_unrolled": []}
for values in ([0.5, 0.8], [0.5, 3.0], [9.0, 1.0]):
    w = tg.tensor(0.5, requires_grad=True)
    dynamic, fixed = cool(tg.tensor(values), w), cool_unrolled(tg.tensor(values), w)
    measured["cool"] += [len(nodes_of(dynamic.grad_fn))]
    measured["cool_unrolled"] += [len(nodes_of(fixed.grad_fn))]

# %% wrong count-nodes: the leaf left out
# says: You count the operations alone. The leaf w has a node too, if the graph leads to it.
measured = {"cool": [0, 3, 5], "cool_unrolled": [9, 9, 9]}

# %% wrong count-nodes: the rounds
# says: These are the rounds of the loop. Behind the result there are also the sum and the leaf.
measured = {"cool": [0, 2, 4], "cool_unrolled": [4, 4, 4]}

# %% wrong count-nodes: x gives edges as well
# says: You count a node for x as well. It requires no gradient, so no edge leads there.
measured = {"cool": [0, 5, 7], "cool_unrolled": [11, 11, 11]}

# %% wrong count-nodes: something stands behind every result
# says: With the first data the loop never runs, so w isn't used and nothing is recorded: 0 nodes.
measured = {"cool": [2, 4, 6], "cool_unrolled": [10, 10, 10]}

# %% wrong count-nodes: the two swapped
# says: You have the two lists under each other's names: the unrolled graph is the one that is
# always the same.
measured = {"cool": [10, 10, 10], "cool_unrolled": [0, 4, 6]}
