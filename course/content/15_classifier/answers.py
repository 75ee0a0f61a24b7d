"""Right and wrong answers of lesson 15. The wrong ones must be caught and named."""

import numpy as np

import tinygrad_course as tg
from tinygrad_course.nn import functional as F

# %% right predict-batches: calculated
full, rest = divmod(1438, 64)
counted = {
    "batches": full + 1,
    "pictures in the last batch": rest,
    "shape of the first batch of pictures": [64, 1, 32, 32],
    "batches with drop_last=True": full,
    "steps of the optimizer in 3 epochs": 3 * (full + 1),
}


# %% right predict-batches: asked the loader
digits = tg.utils.data.Digits()
loader = tg.utils.data.DataLoader(digits, batch_size=64)
made = [pictures for pictures, _ in loader]
counted = {
    "batches": len(loader),
    "pictures in the last batch": len(made[-1]),
    "shape of the first batch of pictures": made[0].shape,
    "batches with drop_last=True": len(tg.utils.data.DataLoader(digits, 64, drop_last=True)),
    "steps of the optimizer in 3 epochs": 3 * len(made),
}


# %% right predict-batches: tensors, arrays and a size
counted = {
    "batches": tg.tensor(23),
    "pictures in the last batch": np.int64(30),
    "shape of the first batch of pictures": tg.zeros(64, 1, 32, 32).shape,
    "batches with drop_last=True": np.array([22]),
    "steps of the optimizer in 3 epochs": 69.0,
}


# %% wrong predict-batches: the rest forgotten
# says: The rest of 30 pictures is a batch, too. Only drop_last=True leaves it out.
counted = {
    "batches": 22,
    "pictures in the last batch": 64,
    "shape of the first batch of pictures": (64, 1, 32, 32),
    "batches with drop_last=True": 22,
    "steps of the optimizer in 3 epochs": 66,
}


# %% wrong predict-batches: a full last batch
# says: The last batch has only what is left: 1,438 - 22 · 64.
counted = {
    "batches": 23,
    "pictures in the last batch": 64,
    "shape of the first batch of pictures": (64, 1, 32, 32),
    "batches with drop_last=True": 22,
    "steps of the optimizer in 3 epochs": 69,
}


# %% wrong predict-batches: no axis for the batch's channel
# says: A picture has the shape (1, 32, 32), and the batch puts one axis in front of all three.
counted = {
    "batches": 23,
    "pictures in the last batch": 30,
    "shape of the first batch of pictures": (64, 32, 32),
    "batches with drop_last=True": 22,
    "steps of the optimizer in 3 epochs": 69,
}


# %% wrong predict-batches: one picture
# says: This is the shape of a single picture. A batch of 64 has one axis more.
counted = {
    "batches": 23,
    "pictures in the last batch": 30,
    "shape of the first batch of pictures": (1, 32, 32),
    "batches with drop_last=True": 22,
    "steps of the optimizer in 3 epochs": 69,
}


# %% wrong predict-batches: a step for each picture
# says: The optimizer steps once for each batch, and not once for each picture.
counted = {
    "batches": 23,
    "pictures in the last batch": 30,
    "shape of the first batch of pictures": (64, 1, 32, 32),
    "batches with drop_last=True": 22,
    "steps of the optimizer in 3 epochs": 4314,
}


# %% wrong predict-batches: one epoch
# says: These are the steps of one epoch. In three there are three times as many.
counted = {
    "batches": 23,
    "pictures in the last batch": 30,
    "shape of the first batch of pictures": (64, 1, 32, 32),
    "batches with drop_last=True": 22,
    "steps of the optimizer in 3 epochs": 23,
}


# %% wrong predict-batches: drop_last changes nothing
# says: With drop_last=True the batch of 30 is left out.
counted = {
    "batches": 23,
    "pictures in the last batch": 30,
    "shape of the first batch of pictures": (64, 1, 32, 32),
    "batches with drop_last=True": 23,
    "steps of the optimizer in 3 epochs": 69,
}


# %% right train-epoch: losses of a group in a list
def train_epoch(model, loader, criterion, optimizer, every):
    means, group = [], []
    for inputs, labels in loader:
        loss = criterion(model(inputs), labels)
        model.zero_grad()
        loss.backward()
        optimizer.step()
        group.append(float(loss))
        if len(group) == every:
            means.append(sum(group) / len(group))
            group.clear()
    return means


# %% right train-epoch: all losses first, gradients taken away after the step
def train_epoch(model, loader, criterion, optimizer, every):
    optimizer.zero_grad()
    losses = []
    for inputs, labels in loader:
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    full = len(losses) // every
    return [sum(losses[k * every : (k + 1) * every]) / every for k in range(full)]


# %% wrong train-epoch: gradients never reset
# says: From the second batch on the gradients of all batches before are in the step. Call
# optimizer.zero_grad() in each.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % every == every - 1:
            means.append(running_loss / every)
            running_loss = 0.0
    return means


# %% wrong train-epoch: the weights stay as they are
# says: The weights stay as they are. Either optimizer.step() is missing, or zero_grad stands
# between backward and step and wipes the gradients that the step needs.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        running_loss += loss.item()
        if i % every == every - 1:
            means.append(running_loss / every)
            running_loss = 0.0
    return means


# %% wrong train-epoch: the sum never starts anew
# says: Your means grow from group to group: set running_loss back to 0.0 when a group is full.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % every == every - 1:
            means.append(running_loss / every)
    return means


# %% wrong train-epoch: full at the wrong batch
# says: i counts from 0, so `i % every == 0` is true for the very first batch. A group is full at
# every - 1.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % every == 0:
            means.append(running_loss / every)
            running_loss = 0.0
    return means


# %% wrong train-epoch: the sum instead of the mean
# says: This is the sum over a group. Divide it by every.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % every == every - 1:
            means.append(running_loss)
            running_loss = 0.0
    return means


# %% wrong train-epoch: tensors added up
# says: The running loss is a tensor and holds the graphs of all its batches. Add loss.item().
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss = running_loss + loss
        if i % every == every - 1:
            means.append(running_loss / every)
            running_loss = 0.0
    return means


# %% wrong train-epoch: the rest as a group
# says: The group that isn't full at the end is to be left out: its mean would stand for fewer
# batches than the others.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % every == every - 1:
            means.append(running_loss / every)
            running_loss = 0.0
    if running_loss:
        means.append(running_loss / (i % every + 1))
    return means


# %% wrong train-epoch: step before backward
# says: The step comes before backward, so each step uses the gradients of the batch before, if
# there are any.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        loss = criterion(model(inputs), labels)
        optimizer.step()
        optimizer.zero_grad()
        loss.backward()
        running_loss += loss.item()
        if i % every == every - 1:
            means.append(running_loss / every)
            running_loss = 0.0
    return means


# %% wrong train-epoch: stopped after the first group
# says: The return stands inside the loop: only the first group is trained.
def train_epoch(model, loader, criterion, optimizer, every):
    running_loss, means = 0.0, []
    for i, (inputs, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % every == every - 1:
            means.append(running_loss / every)
            return means
    return means


# %% right confusion: by bincount
def confusion(model, loader, classes):
    was_training, total = model.training, tg.zeros(classes * classes, dtype=tg.int64)
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            places = labels * classes + model(inputs).argmax(dim=1)
            total += tg.bincount(places, minlength=classes * classes)
    model.train(was_training)
    return total.view(classes, classes)


# %% right confusion: by one-hot vectors
def confusion(model, loader, classes):
    mode = model.training
    matrix = tg.zeros(classes, classes, dtype=tg.int64)
    try:
        model.train(False)
        for inputs, labels in loader:
            with tg.no_grad():
                guesses = model(inputs).max(1)[1]
            matrix += F.one_hot(labels, classes).t() @ F.one_hot(guesses, classes)
    finally:
        model.train(mode)
    return matrix


# %% wrong confusion: rows and columns swapped
# says: The row is the label and the column the prediction. You have them the other way round.
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes, dtype=tg.int64), model.training
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[guess, label] += 1
    model.train(was_training)
    return matrix


# %% wrong confusion: recorded
# says: The counts are right, but each forward pass recorded a graph. Work under tg.no_grad().
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes, dtype=tg.int64), model.training
    model.eval()
    if True:
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += 1
    model.train(was_training)
    return matrix


# %% wrong confusion: in training mode
# says: The model was run in the mode it came in. Dropout and batch norm would behave as in
# training: call model.eval() first.
def confusion(model, loader, classes):
    matrix = tg.zeros(classes, classes, dtype=tg.int64)
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += 1
    return matrix


# %% wrong confusion: left in evaluation mode
# says: The model stays in evaluation mode, and the next epoch would train without dropout. Put it
# back: model.train(was_training).
def confusion(model, loader, classes):
    matrix = tg.zeros(classes, classes, dtype=tg.int64)
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += 1
    return matrix


# %% wrong confusion: always back to training
# says: You end with model.train(), but a model that was in evaluation mode has to stay there.
def confusion(model, loader, classes):
    matrix = tg.zeros(classes, classes, dtype=tg.int64)
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += 1
    model.train()
    return matrix


# %% wrong confusion: only the last batch
# says: The matrix starts anew with each batch, so only the last one is counted.
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes, dtype=tg.int64), model.training
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            matrix = tg.zeros(classes, classes, dtype=tg.int64)
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += 1
    model.train(was_training)
    return matrix


# %% wrong confusion: a pair counted once
# says: `matrix[labels, guesses] += 1` writes each entry once. A pair that occurs five times in a
# batch counts as one.
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes, dtype=tg.int64), model.training
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            matrix[labels, model(inputs).argmax(1)] += 1
    model.train(was_training)
    return matrix


# %% wrong confusion: the largest of each class
# says: argmax(0) finds for each class the sample with the largest score. For each sample the
# largest class is argmax(1).
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes, dtype=tg.int64), model.training
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(0).tolist()):
                matrix[label, guess % classes] += 1
    model.train(was_training)
    return matrix


# %% wrong confusion: counts as floats
# says: Counts are whole numbers: make the matrix with dtype=tg.int64.
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes), model.training
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += 1
    model.train(was_training)
    return matrix


# %% wrong confusion: only mistakes
# says: What is right belongs to the matrix as well, on the diagonal.
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes, dtype=tg.int64), model.training
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += label != guess
    model.train(was_training)
    return matrix


# %% wrong confusion: shares of rows
# says: The counts are asked for. You divided each row by its sum.
def confusion(model, loader, classes):
    matrix, was_training = tg.zeros(classes, classes, dtype=tg.int64), model.training
    model.eval()
    with tg.no_grad():
        for inputs, labels in loader:
            for label, guess in zip(labels.tolist(), model(inputs).argmax(1).tolist()):
                matrix[label, guess] += 1
    model.train(was_training)
    return matrix / matrix.sum(1, keepdim=True).clamp(min=1)


# %% right repair-epoch: back to training at the end
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        count += len(y)
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    model.train()
    return running / count, examined


# %% right repair-epoch: the loss as a sum
def one_epoch(model, loader, examination, optimizer):
    model.train()
    total = samples = 0
    for x, y in loader:
        scores = model(x)
        loss = F.cross_entropy(scores, y, reduction="sum")
        model.zero_grad()
        (loss / len(y)).backward()
        optimizer.step()
        total, samples = total + float(loss), samples + len(y)
    with tg.no_grad():
        x, y = examination
        examined = F.cross_entropy(model.eval()(x), y)
    model.train()
    return total / samples, float(examined)


# %% right repair-epoch: losses as tensors
def one_epoch(model, loader, examination, optimizer):
    losses = []
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        each = F.cross_entropy(model(x), y, reduction="none")
        each.mean().backward()
        optimizer.step()
        losses.append(each.detach())
    model.eval()
    with tg.no_grad():
        return tg.cat(losses).mean(), F.cross_entropy(model(examination[0]), examination[1])


# %% wrong repair-epoch: gradients still add up
# says: zero_grad is still missing: each step uses the gradients of all batches before.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        count += len(y)
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: zeroed once an epoch
# says: zero_grad stands before the loop, so within the epoch the gradients still add up. It
# belongs to each batch.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    optimizer.zero_grad()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        count += len(y)
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: examined in training mode
# says: The examination still runs in training mode: batch norm uses the statistics of the
# examination itself, and even changes its own. Call model.eval() before it.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        count += len(y)
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: trained in evaluation mode from the second epoch on
# says: After the first examination the model stays in evaluation mode. Say model.train() at the
# beginning, or at the end.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        count += len(y)
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: eval before training
# says: Your eval stands before the training, so the whole epoch is trained in evaluation mode.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.eval()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        count += len(y)
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: the mean of the batches
# says: You still average over batches. A short last batch counts as much as a full one: weight
# each loss by len(y).
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
        count += 1
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: the sum of means divided by samples
# says: loss is a mean already. Dividing a sum of means by the number of samples divides twice:
# multiply each by len(y) first.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
        count += len(y)
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: weighted, but divided by batches
# says: You weight by len(y), and then divide by the number of batches. Divide by the number of
# samples.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        count += 1
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: samples counted by the first axis of the input
# says: You count by the input, which here is a dict and in section 9 a packed batch. What it is,
# only the network knows: count the labels.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * x.shape[0]
        count += x.shape[0]
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: samples counted by the length of the input
# says: len(x) is the number of samples only where x is a tensor. Here it is a dict, and in section
# 9 a packed batch: count the labels.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(x)
        count += len(x)
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% wrong repair-epoch: zeroed before the step
# says: zero_grad stands between backward and step: the gradients are gone when they are needed.
def one_epoch(model, loader, examination, optimizer):
    running, count = 0.0, 0
    model.train()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        running += loss.item() * len(y)
        count += len(y)
    model.eval()
    with tg.no_grad():
        examined = F.cross_entropy(model(examination[0]), examination[1]).item()
    return running / count, examined


# %% right overfit: the best kept on the way
best, found = float("inf"), {}
for epoch, (network, _, _) in enumerate(noisy_training(120), start=1):
    with tg.no_grad():
        scores = network(checked)
    right = int((scores.max(1)[1] == answers).sum())
    loss = F.cross_entropy(scores, answers).item()
    if loss < best:
        best, found["best epoch"], found["right at the best epoch"] = loss, epoch, right
found["right after 120 epochs"] = right


# %% right overfit: trained a second time up to the best epoch
def examine(network):
    with tg.no_grad():
        scores = network(checked)
        return F.cross_entropy(scores, answers).item(), int((scores.argmax(1) == answers).sum())


losses = [examine(network)[0] for network, _, _ in noisy_training(120)]
best = int(np.argmin(losses)) + 1
*_, (at_best, _, _) = noisy_training(best)
*_, (at_end, _, _) = noisy_training(120)
found = {
    "best epoch": best,
    "right at the best epoch": examine(at_best)[1],
    "right after 120 epochs": examine(at_end)[1],
}


# %% right overfit: counts as tensors
_losses, _right = [], []
for _network, _, _ in noisy_training(120):
    with tg.no_grad():
        _scores = _network(checked)
        _losses.append(F.cross_entropy(_scores, answers))
    _right.append((_scores.argmax(1) == answers).sum())
_best = tg.stack(_losses).argmin()
found = {
    "best epoch": _best + 1,
    "right at the best epoch": _right[_best],
    "right after 120 epochs": _right[-1],
}


# %% wrong overfit: counted from zero
# says: The first epoch counts as 1. The place in your list counts from 0.
losses, right = [], []
for network, _, _ in noisy_training(120):
    with tg.no_grad():
        scores = network(checked)
        losses.append(F.cross_entropy(scores, answers).item())
    right.append((scores.argmax(1) == answers).sum().item())
best = losses.index(min(losses))
found = {"best epoch": best, "right at the best epoch": right[best]}
found["right after 120 epochs"] = right[-1]


# %% wrong overfit: the training loss
# says: You looked for the smallest training loss. That falls to the very end; what counts is the
# loss on checked and answers.
losses, right = [], []
for network, pictures, labels in noisy_training(120):
    with tg.no_grad():
        scores = network(checked)
        losses.append(F.cross_entropy(network(pictures), labels).item())
    right.append((scores.argmax(1) == answers).sum().item())
best = losses.index(min(losses))
found = {"best epoch": best + 1, "right at the best epoch": right[best]}
found["right after 120 epochs"] = right[-1]


# %% wrong overfit: examined after the end
# says: The network is one object that goes on learning. Your count for the best epoch comes from
# the network after 120 epochs: count inside the loop.
losses, right = [], []
for network, _, _ in noisy_training(120):
    with tg.no_grad():
        scores = network(checked)
        losses.append(F.cross_entropy(scores, answers).item())
    right.append((scores.argmax(1) == answers).sum().item())
best = losses.index(min(losses))
found = {"best epoch": best + 1, "right at the best epoch": right[-1]}
found["right after 120 epochs"] = right[-1]


# %% wrong overfit: shares instead of numbers
# says: You give shares. The number of digits that are right is asked for.
losses, right = [], []
for network, _, _ in noisy_training(120):
    with tg.no_grad():
        scores = network(checked)
        losses.append(F.cross_entropy(scores, answers).item())
    right.append((scores.argmax(1) == answers).float().mean().item())
best = losses.index(min(losses))
found = {"best epoch": best + 1, "right at the best epoch": right[best]}
found["right after 120 epochs"] = right[-1]


# %% wrong overfit: mistakes counted
# says: You count the digits that are wrong.
losses, right = [], []
for network, _, _ in noisy_training(120):
    with tg.no_grad():
        scores = network(checked)
        losses.append(F.cross_entropy(scores, answers).item())
    right.append((scores.argmax(1) != answers).sum().item())
best = losses.index(min(losses))
found = {"best epoch": best + 1, "right at the best epoch": right[best]}
found["right after 120 epochs"] = right[-1]


# %% wrong overfit: the training samples counted
# says: You count on the 200 training samples, with their noisy labels. Count on checked and
# answers.
losses, right = [], []
for network, pictures, labels in noisy_training(120):
    with tg.no_grad():
        scores = network(checked)
        losses.append(F.cross_entropy(scores, answers).item())
    right.append((network(pictures).argmax(1) == labels).sum().item())
best = losses.index(min(losses))
found = {"best epoch": best + 1, "right at the best epoch": right[best]}
found["right after 120 epochs"] = right[-1]


# %% right take-over: layer by layer
def take_over(model, state, layers):
    for layer in layers:
        prefix = layer + "."
        part = {n[len(prefix) :]: v for n, v in state.items() if n.startswith(prefix)}
        child = getattr(model, layer)
        child.load_state_dict(part)
        child.requires_grad_(False)
    return list(filter(lambda parameter: parameter.requires_grad, model.parameters()))


# %% right take-over: values copied by hand
def take_over(model, state, layers):
    left, taken = [], set(layers)
    with tg.no_grad():
        for name, value in model.state_dict().items():
            if name.partition(".")[0] in taken:
                value.copy_(state[name])
    for name, parameter in model.named_parameters():
        if name.partition(".")[0] in taken:
            parameter.requires_grad = False
        elif parameter.requires_grad:
            left.append(parameter)
    return left


# %% right take-over: layer by layer, with a filter
def take_over(model, state, layers):
    for layer in layers:
        part, start = getattr(model, layer), layer + "."
        own = {name: value for name, value in state.items() if name.startswith(start)}
        part.load_state_dict({name[len(start) :]: value for name, value in own.items()})
        part.requires_grad_(False)
    return filter(lambda parameter: parameter.requires_grad, model.parameters())


# %% wrong take-over: names that only begin alike
# says: `startswith("conv1")` is true for conv10 as well. Compare the whole first part,
# name.split(".")[0].
def take_over(model, state, layers):
    def taken(name):
        return any(name.startswith(layer) for layer in layers)

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: everything loaded
# says: You load the whole state. Only the named layers are to be taken over.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = dict(state)
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: strict
# says: Most keys are missing in what you load, and load_state_dict is strict unless told
# otherwise: strict=False.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: loaded, not frozen
# says: The layers are loaded, but they will be trained on: requires_grad_(False) is missing.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: everything frozen
# says: You froze every parameter, so nothing is left to train.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: the others frozen
# says: You froze the layers that were not taken over. It is the other way round.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(taken(name))
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: frozen ones thawed
# says: You set requires_grad for every parameter, and so thawed those that were frozen before.
# Only touch the named layers.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not taken(name))
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: all parameters returned
# says: You return all parameters. Those that are frozen are not left to train.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.requires_grad_(False)
    return list(model.parameters())


# %% wrong take-over: the frozen ones returned
# says: You return the frozen parameters. The others are left to train.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if not parameter.requires_grad]


# %% wrong take-over: names returned
# says: You return names. An optimizer wants the parameters themselves.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {name: value for name, value in state.items() if taken(name)}
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.requires_grad_(False)
    return [name for name, parameter in model.named_parameters() if parameter.requires_grad]


# %% wrong take-over: buffers forgotten
# says: You loaded the parameters only. A batch norm's running statistics are buffers, and belong
# to the layer: they are in the state dict.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    picked = {n: state[n] for n, _ in model.named_parameters() if taken(n)}
    model.load_state_dict(picked, strict=False)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% wrong take-over: memory shared with the state
# says: `parameter.data = state[name]` puts the tensor of the saved state itself into the model.
# Training would change the saved state. load_state_dict copies.
def take_over(model, state, layers):
    def taken(name):
        return name.split(".")[0] in layers

    model.load_state_dict({n: v for n, v in state.items() if taken(n)}, strict=False)
    for name, parameter in model.named_parameters():
        if taken(name):
            parameter.data = state[name]
            parameter.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
