"""Datasets, samplers, batches: against PyTorch's with equal seeds, and the digits."""

import array
import collections
import types
import warnings

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.utils import data as tg_data
from tinygrad_course.utils.data import digits

Point = collections.namedtuple("Point", "x y")


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")


def plain(value):
    """Nested plain data that compares equal when two batches are alike, for either library."""
    if hasattr(value, "tolist"):
        return ("tensor", str(value.dtype), tuple(value.shape), value.tolist())
    if isinstance(value, collections.abc.Mapping):
        return (type(value).__name__, {k: plain(v) for k, v in value.items()})
    if isinstance(value, list | tuple):
        return (type(value).__name__, [plain(v) for v in value])
    return value


def both(torch):
    """Each library with its utils.data, its default generator newly seeded."""
    tg.manual_seed(5)
    torch.manual_seed(5)
    return [(tg, tg_data), (torch, torch.utils.data)]


def generator(library, seed):
    gen = library.Generator()
    gen.manual_seed(seed)
    return gen


# ---------------------------------------------------------------- order


SAMPLERS = {
    "sequential": lambda t, d: d.SequentialSampler(range(7)),
    "random": lambda t, d: d.RandomSampler(range(7)),
    "random, generator": lambda t, d: d.RandomSampler(range(7), generator=generator(t, 1)),
    "random, more": lambda t, d: d.RandomSampler(range(7), num_samples=17),
    "random, fewer": lambda t, d: d.RandomSampler(range(7), num_samples=3),
    "random, whole passes": lambda t, d: d.RandomSampler(
        range(7), num_samples=14, generator=generator(t, 1)
    ),
    "replacement": lambda t, d: d.RandomSampler(range(7), replacement=True),
    "replacement, 32": lambda t, d: d.RandomSampler(
        range(7), replacement=True, num_samples=32, generator=generator(t, 1)
    ),
    "replacement, 70": lambda t, d: d.RandomSampler(range(7), True, 70, generator(t, 1)),
    "subset": lambda t, d: d.SubsetRandomSampler([9, 7, 5]),
    "subset, generator": lambda t, d: d.SubsetRandomSampler([9, 7, 5], generator(t, 1)),
    "weighted": lambda t, d: d.WeightedRandomSampler([0.1, 0.5, 0.4], 9),
    "weighted, no replacement": lambda t, d: d.WeightedRandomSampler([0.1, 0.5, 0.4], 3, False),
    "weighted, tensor": lambda t, d: d.WeightedRandomSampler(t.tensor([0.1, 0.5, 0.4]), 9),
    "batches": lambda t, d: d.BatchSampler(range(7), 3, False),
    "batches, drop": lambda t, d: d.BatchSampler(range(7), 3, True),
    "batches of a sampler": lambda t, d: d.BatchSampler(d.RandomSampler(range(7)), 3, False),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_draw_what_pytorch_s_draw(torch, name):
    seen = []
    for t, d in both(torch):
        sampler = SAMPLERS[name](t, d)
        passes = [list(sampler) for _ in range(3)]
        seen.append((passes, len(sampler), t.rand(2).tolist()))
    assert seen[0] == seen[1]


LOADERS = {
    "in order": lambda t, d: d.DataLoader(range(10), batch_size=4),
    "drop_last": lambda t, d: d.DataLoader(range(10), batch_size=4, drop_last=True),
    "one by one": lambda t, d: d.DataLoader(range(3)),
    "shuffled": lambda t, d: d.DataLoader(range(10), batch_size=4, shuffle=True),
    "shuffled, generator": lambda t, d: d.DataLoader(
        range(10), batch_size=4, shuffle=True, generator=generator(t, 1)
    ),
    "positional": lambda t, d: d.DataLoader(range(10), 4, True),
    "sampler": lambda t, d: d.DataLoader(range(10), batch_size=2, sampler=[3, 1, 4]),
    "batch_sampler": lambda t, d: d.DataLoader(range(10), batch_sampler=[[3, 1], [4]]),
    "no batches": lambda t, d: d.DataLoader([np.ones(2), 3, "a"], batch_size=None),
    "no batches, shuffled": lambda t, d: d.DataLoader(range(4), batch_size=None, shuffle=True),
    "collate_fn": lambda t, d: d.DataLoader(range(5), batch_size=2, collate_fn=tuple),
    "empty": lambda t, d: d.DataLoader([]),
    "tensors": lambda t, d: d.DataLoader(
        d.TensorDataset(t.arange(6.0).reshape(3, 2), t.arange(3)), batch_size=2, shuffle=True
    ),
    "split": lambda t, d: d.DataLoader(d.random_split(range(9), [6, 3])[0], batch_size=4),
}


@pytest.mark.parametrize("name", LOADERS)
def test_loaders_give_pytorch_s_batches(torch, name):
    seen = []
    for t, d in both(torch):
        loader = LOADERS[name](t, d)
        epochs = [[plain(batch) for batch in loader] for _ in range(3)]
        # What the default generator gives next shows that both drew equally much from it.
        seen.append((epochs, len(loader), t.rand(2).tolist()))
    assert seen[0] == seen[1]


def test_a_pass_left_early_and_a_half_consumed_one(torch):
    seen = []
    for t, d in both(torch):
        loader = d.DataLoader(range(6), batch_size=2, shuffle=True)
        first, second = iter(loader), iter(loader)
        interleaved = [next(first), next(second), next(first)]
        seen.append(([b.tolist() for b in interleaved], t.rand(1).item()))
    assert seen[0] == seen[1]


def stream(d, size=5, length=None):
    """An IterableDataset of 0, 1, ...; it has a length if one is given."""

    class Stream(d.IterableDataset):
        def __iter__(self):
            return iter(range(size))

    if length is not None:
        Stream.__len__ = lambda self: length
    return Stream()


STREAMS = {
    "batches": lambda d: d.DataLoader(stream(d), 2),
    "drop_last": lambda d: d.DataLoader(stream(d), 2, drop_last=True),
    "no batches": lambda d: d.DataLoader(stream(d), None),
    "shuffle=False": lambda d: d.DataLoader(stream(d), shuffle=False),
    "empty": lambda d: d.DataLoader(stream(d, 0)),
    "chained": lambda d: d.DataLoader(stream(d, 2) + stream(d, 3) + stream(d, 1), 4),
    "collate_fn": lambda d: d.DataLoader(stream(d), 2, collate_fn=sum),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams_give_pytorch_s_batches(torch, name):
    seen = []
    for t, d in both(torch):
        loader = STREAMS[name](d)
        epochs = [[plain(batch) for batch in loader] for _ in range(2)]
        seen.append((epochs, t.rand(2).tolist()))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("options", [{}, {"batch_size": 2}, {"batch_size": None}])
@pytest.mark.parametrize("length", [2, 3, 5])
def test_the_length_of_a_stream(torch, options, length):
    seen = []
    for _, d in both(torch):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            loader = d.DataLoader(stream(d, 5, length), **options)
            list(loader)  # nobody has asked for its length yet
            seen.append((len(warned), len(loader), len(list(loader)), len(warned)))
    assert seen[0] == seen[1]


def test_a_chain_has_the_sum_of_lengths(torch):
    for _, d in both(torch):
        assert len(stream(d, 2, 2) + stream(d, 3, 3)) == 5


def test_a_map_that_stops(torch):
    class Stops:
        def __len__(self):
            return 5

        def __getitem__(self, index):
            if index == 3:
                raise StopIteration
            return index

    for _, d in both(torch):
        assert [b.tolist() for b in d.DataLoader(Stops(), 2)] == [[0, 1]]


def test_many_samples_at_once(torch):
    class Quick:
        def __len__(self):
            return 5

        def __getitems__(self, indices):
            return [10 * index for index in indices]

    for _, d in both(torch):
        for dataset in (Quick(), d.Subset(Quick(), [0, 1, 2, 3, 4])):
            batches = list(d.DataLoader(dataset, 3))
            assert [b.tolist() for b in batches] == [[0, 10, 20], [30, 40]]


# ---------------------------------------------------------------- batches


BATCHES = {
    "floats": lambda t: [1.5, 2.0],
    "ints": lambda t: [1, 2],
    "bools": lambda t: [True, False],
    "strings": lambda t: ["ab", "cd"],
    "bytes": lambda t: [b"a", b"b"],
    "arrays": lambda t: [np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)],
    "integer arrays": lambda t: [np.array([1], np.int32)] * 2,
    "transposed arrays": lambda t: [np.arange(6.0).reshape(2, 3).T] * 2,
    "0-d arrays": lambda t: [np.array(1.0), np.array(2.0)],
    "numpy numbers": lambda t: [np.float32(1), np.float32(2)],
    "numpy int64": lambda t: [np.int64(1), np.int64(2)],
    "numpy float64": lambda t: [np.float64(1), np.float64(2)],
    "tensors": lambda t: [t.ones(2, 3), t.zeros(2, 3)],
    "tuples": lambda t: [(1, 2.0), (3, 4.0)],
    "lists": lambda t: [[1, 2], [3, 4]],
    "tuples with text": lambda t: [("a", 1), ("b", 2)],
    "ranges": lambda t: [range(2), range(2, 4)],
    "named tuples": lambda t: [Point(1, 2.0), Point(3, 4.0)],
    "dicts": lambda t: [{"a": 1, "b": (np.ones(2), "x")}, {"a": 2, "b": (np.ones(2), "y")}],
    "ordered dicts": lambda t: [collections.OrderedDict(a=1)] * 2,
    "default dicts": lambda t: [collections.defaultdict(list, a=1)] * 2,
}


class Frozen(collections.abc.Mapping):
    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


class Row(collections.abc.Sequence):
    def __init__(self, parts):
        self.parts = list(parts)

    def __getitem__(self, i):
        return self.parts[i]

    def __len__(self):
        return len(self.parts)


class Pair(Row):
    """Not made of one list, so that collating falls back to one."""

    def __init__(self, a, b):
        super().__init__([a, b])


class Numbers(list):
    pass


CONTAINERS = [
    *(Numbers([1, 2.0]), collections.deque([1, 2]), collections.UserList([1, "a"]), Row([1, 2])),
    *(Pair(1, 2), Frozen({"a": 1}), types.MappingProxyType({"a": 1}), bytearray(b"ab")),
    *(array.array("i", [1, 2]), memoryview(b"ab"), (Numbers([1]), {"a": Row([np.ones(1)])})),
]


@pytest.mark.parametrize("sample", CONTAINERS, ids=lambda sample: type(sample).__name__)
def test_containers_keep_their_type(torch, sample):
    def look(value):
        kind = type(value).__name__
        if isinstance(value, collections.abc.Mapping):
            return kind, {key: look(value[key]) for key in value}
        if isinstance(value, collections.abc.Sequence) and not isinstance(value, str):
            return kind, [look(part) for part in value]
        return plain(value)

    ours, theirs = [], []
    for _, d in both(torch):
        seen = ours if d is tg_data else theirs
        seen.append(look(d.default_collate([sample, sample])))
        seen.append(look(d.default_convert(sample)))
    assert ours == theirs


def test_a_table_of_one_s_own_types(torch):
    from torch.utils.data._utils import collate as their_module

    from tinygrad_course.utils.data import collate as our_module

    seen = []
    for module in (our_module, their_module):
        calls = []

        def gather(batch, *, collate_fn_map=None, calls=calls):
            calls.append((len(batch), len(collate_fn_map)))
            return "gathered"

        default = module.default_collate_fn_map
        mine = {**default, set: gather}
        results = [
            module.collate([(1, {1}), (2, {2})], collate_fn_map=mine),
            module.collate([(1, 2), (3, 4)], collate_fn_map={int: gather}),
            module.collate([True, False], collate_fn_map={int: gather}),
            module.collate([Numbers([1])], collate_fn_map={list: gather}),
            module.collate([[1]], collate_fn_map={Numbers: gather, int: gather}),
            module.collate([1], collate_fn_map={(float, int): gather}),
        ]
        with pytest.raises(TypeError):
            module.collate([1, 2])
        seen.append((plain(results), [n for n, _ in calls], calls[0][1] - len(default)))
    assert seen[0] == seen[1]


def test_a_type_can_be_added_to_default_collate(monkeypatch):
    from tinygrad_course.utils.data.collate import default_collate_fn_map

    monkeypatch.setitem(default_collate_fn_map, set, lambda batch, *, collate_fn_map: len(batch))
    assert plain(tg_data.default_collate([(1, {1}), (2, {2})])[1]) == 2


def test_parts_of_different_numbers_are_counted():
    with pytest.raises(RuntimeError, match=r"equal size, got sizes \[2, 1\].*collate_fn"):
        tg_data.default_collate([[1, 2], [3]])


@pytest.mark.parametrize("name", BATCHES)
def test_default_collate(torch, name):
    ours = tg_data.default_collate(BATCHES[name](tg))
    theirs = torch.utils.data.default_collate(BATCHES[name](torch))
    assert plain(ours) == plain(theirs)


@pytest.mark.parametrize(
    "samples",
    [
        *[[], [None], [1j], [{1}, {2}], [(1, 2), (3,)], [{"a": 1}, {"b": 2}]],
        *[[np.array(["a"])], [np.array([None])]],
    ],
)
def test_default_collate_refuses_what_pytorch_refuses(torch, samples):
    with pytest.raises(Exception) as theirs:
        torch.utils.data.default_collate(samples)
    with pytest.raises(theirs.type):
        tg_data.default_collate(samples)


def test_collating_tensors_of_different_sizes(torch):
    for t, d in both(torch):
        with pytest.raises(RuntimeError, match=r"\[2\].*\[3\]"):
            d.default_collate([t.ones(2), t.ones(3)])


def test_collating_keeps_the_graph():
    x = tg.ones(2, requires_grad=True)
    tg_data.default_collate([x, x]).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_batch_of_arrays_is_a_copy():
    array = np.ones(2)
    batch = tg_data.default_collate([array])
    array[:] = 5
    assert batch.tolist() == [[1.0, 1.0]]


SINGLES = [np.ones(2), 1, "a", None, (np.ones(1), 2), [np.ones(1)], {"a": np.ones(1)}]


@pytest.mark.parametrize("sample", [*SINGLES, Point(np.ones(1), 2), np.float32(1.5)])
def test_default_convert(torch, sample):
    ours = next(iter(tg_data.DataLoader([sample], batch_size=None)))
    theirs = next(iter(torch.utils.data.DataLoader([sample], batch_size=None)))
    assert plain(ours) == plain(theirs)


# ---------------------------------------------------------------- datasets


def test_tensor_dataset(torch):
    for t, d in both(torch):
        dataset = d.TensorDataset(t.arange(6.0).reshape(3, 2), t.arange(3))
        assert len(dataset) == 3
        assert [x.tolist() for x in dataset[1]] == [[2.0, 3.0], 1]
        assert [x.tolist() for x in dataset[1:]] == [[[2.0, 3.0], [4.0, 5.0]], [1, 2]]
        assert [x.tolist() for x in dataset[-1]] == [[4.0, 5.0], 2]
        with pytest.raises(IndexError):
            dataset[3]
        with pytest.raises(AssertionError):
            d.TensorDataset(t.ones(2), t.ones(3))


def test_subset(torch):
    for t, d in both(torch):
        dataset = d.TensorDataset(t.arange(10))
        subset = d.Subset(dataset, [7, 3, 5])
        assert len(subset) == 3 and subset[1][0].item() == 3
        assert subset[[0, 2]][0].tolist() == [7, 5]
        assert subset[1:][0].tolist() == [3, 5]
        with pytest.raises(IndexError):
            subset[3]


def test_stack_dataset(torch):
    for _, d in both(torch):
        rows = d.StackDataset("abc", [1, 2, 3])
        named = d.StackDataset(letter="abc", number=d.Subset([1, 2, 3], [2, 1, 0]))
        assert len(rows) == len(named) == 3
        assert rows[1] == ("b", 2) and named[0] == {"letter": "a", "number": 3}
        assert rows.__getitems__([2, 0]) == [("c", 3), ("a", 1)]
        assert named.__getitems__([1]) == [{"letter": "b", "number": 2}]
        assert plain(next(iter(d.DataLoader(rows, 2))))[1][0] == ("tuple", ["a", "b"])


def test_concat_dataset(torch):
    class Letters(tg_data.Dataset):
        def __getitem__(self, index):
            return "abc"[index]

        def __len__(self):
            return 3

    joined = Letters() + Letters()
    theirs = torch.utils.data.ConcatDataset([Letters(), Letters()])
    assert [joined[i] for i in range(-6, 6)] == [theirs[i] for i in range(-6, 6)]
    assert len(joined) == 6
    for dataset in (joined, theirs):
        with pytest.raises(ValueError):
            dataset[-7]
        with pytest.raises(IndexError):
            dataset[6]
    for d in (tg_data, torch.utils.data):
        with pytest.raises(AssertionError):
            d.ConcatDataset([])


@pytest.mark.parametrize(
    "lengths",
    [[3, 7], [10], [0, 10], [0.3, 0.3, 0.4], [1 / 3, 1 / 3, 1 / 3], [0.55, 0.45]],
)
def test_random_split(torch, lengths):
    seen = []
    for t, d in both(torch):
        parts = d.random_split(range(10), lengths)
        again = d.random_split(range(10), lengths, generator=generator(t, 1))
        seen.append([list(part.indices) for part in [*parts, *again]])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("lengths", [[3, 3], [0.5, 0.6], [0.3, 0.3], [-0.5, 1.5]])
def test_random_split_refuses_lengths_that_do_not_add_up(torch, lengths):
    for _, d in both(torch):
        with pytest.raises(ValueError):
            d.random_split(range(10), lengths)


def test_random_split_warns_of_an_empty_part(torch):
    for _, d in both(torch):
        with pytest.warns(UserWarning, match="0"):
            assert [len(part) for part in d.random_split(range(3), [0.0, 1.0])] == [0, 3]


# ---------------------------------------------------------------- bad input


BAD = {
    "batch_size 0": lambda d: d.DataLoader(range(3), batch_size=0),
    "batch_size 1.5": lambda d: d.DataLoader(range(3), batch_size=1.5),
    "batch_size True": lambda d: d.DataLoader(range(3), batch_size=True),
    "sampler and shuffle": lambda d: d.DataLoader(range(3), sampler=[1], shuffle=True),
    "batch_sampler and batch_size": lambda d: d.DataLoader(
        range(3), batch_sampler=[[1]], batch_size=2
    ),
    "batch_sampler and sampler": lambda d: d.DataLoader(range(3), batch_sampler=[[1]], sampler=[]),
    "batch_sampler and shuffle": lambda d: d.DataLoader(
        range(3), batch_sampler=[[1]], shuffle=True
    ),
    "batch_sampler and drop_last": lambda d: d.DataLoader(
        range(3), batch_sampler=[[1]], drop_last=True
    ),
    "no batches and drop_last": lambda d: d.DataLoader(range(3), batch_size=None, drop_last=True),
    "drop_last 1": lambda d: d.DataLoader(range(3), drop_last=1),
    "num_workers -1": lambda d: d.DataLoader(range(3), num_workers=-1),
    "shuffle nothing": lambda d: d.DataLoader([], shuffle=True),
    "shuffle without length": lambda d: d.DataLoader(iter([1]), shuffle=True),
    "iterate without length": lambda d: list(d.DataLoader(iter([1]))),
    "length without length": lambda d: len(d.DataLoader(iter([1]))),
    "timeout -1": lambda d: d.DataLoader(range(3), timeout=-1),
    "timeout without workers": lambda d: iter(d.DataLoader(range(3), timeout=1)),
    "prefetch without workers": lambda d: d.DataLoader(range(3), prefetch_factor=2),
    "prefetch -1": lambda d: d.DataLoader(range(3), num_workers=1, prefetch_factor=-1),
    "persistent without workers": lambda d: d.DataLoader(range(3), persistent_workers=True),
    "context without workers": lambda d: d.DataLoader(range(3), multiprocessing_context="spawn"),
    "context unknown": lambda d: d.DataLoader(
        range(3), num_workers=1, multiprocessing_context="thread"
    ),
    "context 5": lambda d: d.DataLoader(range(3), num_workers=1, multiprocessing_context=5),
    "set persistent_workers": lambda d: setattr(d.DataLoader([1]), "persistent_workers", True),
    "shuffle a stream": lambda d: d.DataLoader(stream(d), shuffle=True),
    "sampler of a stream": lambda d: d.DataLoader(stream(d), sampler=[0]),
    "batch_sampler of a stream": lambda d: d.DataLoader(stream(d), batch_sampler=[[0]]),
    "length of a stream": lambda d: len(d.DataLoader(stream(d))),
    "length of a pass over a stream": lambda d: len(iter(d.DataLoader(stream(d)))),
    "index of a stream": lambda d: stream(d)[0],
    "base stream": lambda d: d.IterableDataset(),
    "join streams with indices": lambda d: d.ConcatDataset([stream(d)]),
    "chain what is no stream": lambda d: list(d.ChainDataset([[1]])),
    "length of a chain": lambda d: len(d.ChainDataset([stream(d)])),
    "stack nothing": lambda d: d.StackDataset(),
    "stack different lengths": lambda d: d.StackDataset([1], [1, 2]),
    "stack different lengths by name": lambda d: d.StackDataset(a=[1], b=[1, 2]),
    "stack with and without names": lambda d: d.StackDataset([1], b=[1]),
    "set batch_size": lambda d: setattr(d.DataLoader(range(3)), "batch_size", 2),
    "set dataset": lambda d: setattr(d.DataLoader(range(3)), "dataset", 2),
    "set sampler": lambda d: setattr(d.DataLoader(range(3)), "sampler", 2),
    "num_samples 0": lambda d: d.RandomSampler(range(3), num_samples=0),
    "num_samples 1.5": lambda d: d.RandomSampler(range(3), num_samples=1.5),
    "replacement 1": lambda d: d.RandomSampler(range(3), replacement=1),
    "sampler of nothing": lambda d: d.RandomSampler([]),
    "weights of 2 dimensions": lambda d: d.WeightedRandomSampler([[1.0]], 1),
    "weighted num_samples": lambda d: d.WeightedRandomSampler([1.0], True),
    "weighted replacement": lambda d: d.WeightedRandomSampler([1.0], 1, 1),
    "weights all zero": lambda d: list(d.WeightedRandomSampler([0.0, 0.0], 1)),
    "base dataset": lambda d: d.Dataset()[0],
    "length of base dataset": lambda d: len(d.Dataset()),
    "base sampler": lambda d: iter(d.Sampler()),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_raises_pytorch_s_class(torch, name):
    with pytest.raises(Exception) as theirs:
        BAD[name](torch.utils.data)
    with pytest.raises(theirs.type):
        BAD[name](tg_data)


def test_pinned_memory_warns_that_it_does_nothing(torch):
    for _, d in both(torch):
        loader = d.DataLoader(range(3), pin_memory=True)
        with pytest.warns(UserWarning, match="pin_memory"):
            batches = iter(loader)
        assert [batch.tolist() for batch in batches] == [[0], [1], [2]]


def test_more_workers_than_cores_warn(torch):
    for _, d in both(torch):
        with pytest.warns(UserWarning, match="999 worker processes"):
            d.DataLoader(range(3), num_workers=999)


# ---------------------------------------------------------------- digits


@pytest.fixture(scope="module")
def parts():
    return tg_data.Digits(train=True), tg_data.Digits(train=False)


def test_digits_are_split_once_and_for_all(parts):
    train, held_out = parts
    assert len(train) == 1438 and len(held_out) == 359
    counts = [np.bincount(part.targets.numpy(), minlength=10) for part in parts]
    share = counts[1] / (counts[0] + counts[1])
    assert (np.abs(share - 0.2) < 0.005).all()  # of each digit a fifth
    tg.manual_seed(99)
    before = tg.rand(1).item()
    tg.manual_seed(99)
    again = tg_data.Digits(train=False)
    assert again.data.tolist() == held_out.data.tolist()
    assert tg.rand(1).item() == before  # reading them draws nothing


def test_digits_are_scikit_learn_s(parts):
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn has the original")
    original = datasets.load_digits()
    with np.load(digits.FILE) as file:
        assert (file["images"] == original.images).all()
        assert (file["labels"] == original.target).all()
    # Back to counts of 0 to 16, both parts together are the original images, each once.
    pixels = [(part.data.numpy()[:, 0, ::4, ::4] * digits.STD + digits.MEAN) * 16 for part in parts]
    counts = np.concatenate(pixels).round().astype(int).reshape(-1, 64)
    labels = np.concatenate([part.targets.numpy() for part in parts])
    ours = sorted(zip(counts.tolist(), labels.tolist(), strict=True))
    theirs = original.images.astype(int).reshape(-1, 64).tolist()
    assert ours == sorted(zip(theirs, original.target.tolist(), strict=True))


def test_a_digit_is_what_a_lenet_reads(parts):
    image, label = parts[0][0]
    assert image.shape == (1, 32, 32) and image.dtype is tg.float32
    assert label.shape == () and label.dtype is tg.int64
    blocks = image.numpy().reshape(8, 4, 8, 4)
    assert (blocks == blocks[:, :1, :, :1]).all()  # each pixel 4 x 4 times
    images, labels = next(iter(tg_data.DataLoader(parts[0], batch_size=64, shuffle=True)))
    assert images.shape == (64, 1, 32, 32) and labels.shape == (64,)


def test_digits_are_normalised_by_their_training_part(parts):
    pixels = parts[0].data.numpy().astype(np.float64)
    assert abs(pixels.mean()) < 1e-5 and abs(pixels.std() - 1) < 1e-5
    assert abs(parts[1].data.numpy().mean()) > 1e-3  # so the held-out part is a little off


@pytest.mark.parametrize("size", [8, 16, 24])
def test_digits_of_other_sizes(size):
    small = tg_data.Digits(train=False, size=size)
    assert small.data.shape == (359, 1, size, size)


@pytest.mark.parametrize("size", [0, 28, -8])
def test_digits_cannot_be_scaled_by_a_fraction(size):
    with pytest.raises(ValueError, match=f"multiple of 8.*{size}"):
        tg_data.Digits(size=size)


WHOLE = digits.FILE.read_bytes()
SPOILS = {
    "missing": lambda path: None,
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(WHOLE[: len(WHOLE) // 2]),
    "one byte": lambda path: path.write_bytes(WHOLE[:3000] + b"\0\0" + WHOLE[3002:]),
    "foreign": lambda path: path.write_bytes(b"these are no digits" * 100),
    "a folder": lambda path: path.mkdir(),
    "other arrays": lambda path: np.savez(path, other=np.zeros(3)),
    "other shapes": lambda path: np.savez(path, images=np.zeros((5, 8, 8)), labels=np.zeros(5)),
    "an object": lambda path: np.savez(path, images=np.array([{}]), labels=np.array([{}])),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_missing_or_damaged_file_says_so(spoil, tmp_path, monkeypatch):
    path = tmp_path / "digits.npz"
    spoil(path)
    monkeypatch.setattr(digits, "FILE", path)
    with pytest.raises(RuntimeError, match=r"digits\.npz.*install it again"):
        tg_data.Digits()


def test_the_notice_lies_beside_the_data():
    notice = digits.FILE.with_name("digits.NOTICE.txt").read_text(encoding="utf-8")
    for words in ("CC BY 4.0", "Alpaydin", "Kaynak", "10.24432/C50P49", "UCI"):
        assert words in notice


def test_lengths_of_a_split_that_are_no_whole_numbers(torch):
    for _, d in both(torch):
        for n in (0, 2):
            with pytest.raises(ValueError, match=r"input lengths|add up"):
                d.random_split(range(n), [1.5, 1.7])
