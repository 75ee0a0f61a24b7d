"""The DataLoader's worker processes: the same batches, PyTorch's seeds and errors, and their ends.

Whether a process is gone is asked of the system, by its number. Scripts that are interrupted or
killed run in a session of their own, as a terminal would run them.
"""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import tinygrad_course as tg
from tests.test_data import generator, plain
from tinygrad_course.utils import data as tg_data

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*worker processes", "ignore:.*multi-threaded"),
    pytest.mark.skipif(sys.platform == "win32", reason="most of these tests fork and send signals"),
]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")


def both(torch):
    """Each library with its utils.data, its default generator newly seeded."""
    tg.manual_seed(5)
    torch.manual_seed(5)
    return [(tg, tg_data), (torch, torch.utils.data)]


class Of:
    """A dataset of f(0), f(1), ..."""

    def __init__(self, f, size=6):
        self.f, self.size = f, size

    def __getitem__(self, index):
        return self.f(index)

    def __len__(self):
        return self.size


def stream(d, lengths, share=False):
    """An IterableDataset; worker i gives lengths[i] numbers, or its share of lengths[0]."""

    class Stream(d.IterableDataset):
        def __iter__(self):
            info = d.get_worker_info()
            if share:
                return iter(range(info.id, lengths[0], info.num_workers))
            return iter(range(100 * info.id, 100 * info.id + lengths[info.id]))

    return Stream()


def running():
    """The workers of this process that have not ended."""
    return [p for p in multiprocessing.active_children() if "DataLoader" in p.name]


# ---------------------------------------------------------------- batches

LOADERS = {
    "in order": lambda t, d, n: d.DataLoader(range(11), batch_size=2, num_workers=n),
    "shuffled": lambda t, d, n: d.DataLoader(range(11), 3, True, num_workers=n),
    "generator": lambda t, d, n: d.DataLoader(
        range(5), 2, True, num_workers=n, generator=generator(t, 1)
    ),
    "no batches": lambda t, d, n: d.DataLoader(
        range(5), None, sampler=d.SubsetRandomSampler(range(5)), num_workers=n
    ),
    "batch_sampler": lambda t, d, n: d.DataLoader(
        range(9), batch_sampler=[[3, 1], [4]], num_workers=n
    ),
    "drop_last": lambda t, d, n: d.DataLoader(range(5), 2, drop_last=True, num_workers=n),
    "nested": lambda t, d, n: d.DataLoader(
        Of(lambda i: {"x": (np.ones(2) * i, "name"), "y": t.ones(2) * i}), 4, num_workers=n
    ),
    "empty": lambda t, d, n: d.DataLoader([], num_workers=n),
    "fewer than workers": lambda t, d, n: d.DataLoader([7], num_workers=n),
    "prefetch": lambda t, d, n: d.DataLoader(
        range(7), num_workers=n, prefetch_factor=5 if n else None
    ),
}


@pytest.mark.parametrize("name", LOADERS)
def test_batches_are_those_of_pytorch_without_workers(torch, name):
    seen = []
    for (t, d), workers in zip(both(torch), (2, 0), strict=True):  # PyTorch's are slow to start
        loader = LOADERS[name](t, d, workers)
        epochs = [[plain(batch) for batch in loader] for _ in range(2)]
        seen.append((epochs, len(loader), t.rand(2).tolist()))
    assert seen[0] == seen[1]


STREAMS = {
    "whole": lambda d: d.DataLoader(stream(d, [5, 5]), 2, num_workers=2),
    "no batches": lambda d: d.DataLoader(stream(d, [3, 3]), None, num_workers=2),
    "dropped": lambda d: d.DataLoader(stream(d, [5, 4]), 2, drop_last=True, num_workers=2),
    "shared": lambda d: d.DataLoader(stream(d, [9], share=True), 2, num_workers=2),
    "uneven": lambda d: d.DataLoader(stream(d, [1, 9]), 2, num_workers=2),
    "uneven, three": lambda d: d.DataLoader(stream(d, [7, 1, 12]), 2, num_workers=3),
    "empty": lambda d: d.DataLoader(stream(d, [0, 3]), 2, num_workers=2),
    "persistent": lambda d: d.DataLoader(
        stream(d, [3, 2]), 2, num_workers=2, persistent_workers=True
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams(torch, name):
    seen = []
    for _, d in both(torch):
        loader = STREAMS[name](d)
        seen.append([[plain(batch) for batch in loader] for _ in range(2)])
    assert seen[0] == seen[1]


def test_more_batches_of_a_stream_than_its_length_said(torch):
    for d in (tg_data, torch.utils.data):

        class Stream(d.IterableDataset):
            def __iter__(self):
                return iter(range(3))

            def __len__(self):
                return 3

        loader = d.DataLoader(Stream(), num_workers=2)
        assert len(loader) == 3
        with pytest.warns(UserWarning, match="reported to be 3") as warned:
            assert len(list(loader)) == 6
        assert len(warned) == 3


def test_tasks_too_large_for_a_pipe_do_not_block():
    indices = list(range(100_000, 200_000))
    loader = tg_data.DataLoader(
        Of(float), batch_sampler=[indices] * 5, num_workers=1, prefetch_factor=4
    )
    assert [len(batch) for batch in loader] == [100_000] * 5


def test_prefetched_tasks(torch):
    seen = []
    for d in (tg_data, torch.utils.data):
        drawn = []

        def sampler(drawn=drawn):
            for i in range(20):
                drawn.append(i)
                yield i

        loader = d.DataLoader(range(20), None, sampler=sampler(), num_workers=2, prefetch_factor=3)
        batches = iter(loader)
        counts = [len(drawn)]
        for _ in range(2):
            next(batches)
            counts.append(len(drawn))
        seen.append(counts)
    assert seen[0] == seen[1] == [6, 7, 8]


def test_batches_as_they_come():
    gate = multiprocessing.get_context("fork").Event()

    def sample(i):
        if i == 0:
            gate.wait(60)
        return i

    loader = tg_data.DataLoader(Of(sample, 4), None, num_workers=2, in_order=False)
    batches = iter(loader)
    first = next(batches)
    gate.set()
    rest = list(batches)
    assert first == 1 and sorted(rest) == [0, 2, 3]


# ---------------------------------------------------------------- seeds and WorkerInfo


@pytest.mark.parametrize("persistent", [False, True])
def test_seeds_are_pytorch_s(torch, persistent):
    seen = []
    for t, d in both(torch):

        def sample(index, t=t, d=d):
            info = d.get_worker_info()
            draws = random.random(), np.random.rand(), t.rand(1).item()
            return index, info.id, info.num_workers, info.seed, t.initial_seed(), *draws

        loader = d.DataLoader(
            Of(sample), 2, num_workers=2, collate_fn=list, persistent_workers=persistent
        )
        seen.append(([list(loader) for _ in range(2)], t.rand(1).item()))
    assert seen[0] == seen[1]


def test_worker_info(torch):
    assert tg_data.get_worker_info() is None
    seen = []
    for _, d in both(torch):

        def sample(index, d=d):
            info = d.get_worker_info()
            try:
                info.id = 3
            except AttributeError:
                return repr(info).split("dataset")[0], isinstance(info.dataset, Of)

        seen.append(next(iter(d.DataLoader(Of(sample), None, num_workers=1))))
    assert seen[0] == seen[1]


def test_worker_init_fn_runs_first_in_each_worker(torch):
    for _, d in both(torch):
        numbers = []
        loader = d.DataLoader(
            Of(lambda i, numbers=numbers: (i, *numbers)),
            None,
            num_workers=2,
            collate_fn=tuple,
            worker_init_fn=numbers.append,
        )
        assert list(loader) == [(i, i % 2) for i in range(6)]
        assert numbers == []  # those of the workers are their own


# ---------------------------------------------------------------- errors


class TwoParts(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


ERRORS = [ValueError("odd"), KeyError("odd"), IndexError(), TwoParts(1, 2), OSError(2, "odd")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_class_and_tells_its_traceback(torch, error):
    def a_bad_sample(index):
        if index == 1:
            raise error
        return index

    seen = []
    for _, d in both(torch):
        batches = iter(d.DataLoader(Of(a_bad_sample, 4), None, num_workers=2))
        got = [next(batches)]
        with pytest.raises(Exception, match=r"in DataLoader worker process 1\.") as caught:
            next(batches)
        text = str(caught.value)
        assert "\nOriginal Traceback (most recent" in text and "in a_bad_sample\n" in text
        seen.append((caught.type, text.splitlines()[-1], [*got, *batches]))
    assert seen[0] == seen[1]
    assert seen[0][2] == [0, 2, 3]  # an error costs its batch only


def test_an_error_of_a_class_that_cannot_travel():
    class Local(Exception):
        pass

    def sample(index):
        raise Local("odd")

    with pytest.raises(RuntimeError, match=r"Caught Local in(.|\n)*Local: odd"):
        list(tg_data.DataLoader(Of(sample), num_workers=1))


def test_errors_in_init_fn_iter_and_pickle(torch):
    def init(number):
        raise ValueError(f"init {number}")

    class Stream(tg_data.IterableDataset):
        def __iter__(self):
            raise LookupError("no stream")

    with pytest.raises(ValueError, match=r"process 0\.(.|\n)*init 0"):
        list(tg_data.DataLoader(range(3), num_workers=1, worker_init_fn=init))
    with pytest.raises(LookupError, match="no stream"):
        list(tg_data.DataLoader(Stream(), num_workers=1))
    with pytest.raises((AttributeError, TypeError, ValueError), match="pickle"):
        list(tg_data.DataLoader(Of(lambda i: lambda: i), None, num_workers=1))


@pytest.mark.parametrize("how", ["exit code 3", "SIGKILL"])
def test_a_dead_worker_is_named(torch, how):
    def sample(index):
        if index == 3:
            if how == "SIGKILL":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(3)
        return os.getpid()

    loader = tg_data.DataLoader(Of(sample), None, num_workers=2, persistent_workers=True)
    batches = iter(loader)
    pids = [next(batches) for _ in range(3)]
    with pytest.raises(RuntimeError, match=rf"pid {pids[1]}\) exited unexpectedly.*1 of 2.*{how}"):
        next(batches)
    assert all(map(gone, pids))
    assert os.getpid() != next(iter(loader)) not in pids  # the next pass has new workers
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(torch.utils.data.DataLoader(Of(sample), None, num_workers=1))


def test_a_batch_that_takes_too_long():
    loader = tg_data.DataLoader(Of(lambda i: time.sleep(60 * i)), None, num_workers=1, timeout=0.5)
    batches = iter(loader)
    assert next(batches) is None
    # PyTorch's words; its processes take seconds to end, so they are not started here.
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.5 seconds"):
        next(batches)
    assert not running()


# ---------------------------------------------------------------- how processes start and end


def gone(pid, seconds=20):
    """Whether no process has this number, after waiting for its end."""
    for _ in range(seconds * 20):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        # An orphan whose end nobody has asked for yet is still in the list.
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_workers_end_with_the_pass_or_with_its_iterator():
    loader = tg_data.DataLoader(Of(lambda i: os.getpid()), None, num_workers=2)
    pids = {*loader}
    assert len(pids) == 2 and all(map(gone, pids))
    pid = next(iter(loader))
    assert gone(pid) and not running()


def test_persistent_workers_stay():
    loader = tg_data.DataLoader(
        Of(lambda i: (i, os.getpid())), None, num_workers=2, persistent_workers=True
    )
    first = list(loader)
    next(iter(loader))  # a pass that is left early
    assert list(loader) == first
    del loader
    assert all(gone(pid) for _, pid in first)


class Mapped(tg_data.Dataset):
    """At the top of a module, so that a spawned worker can import it."""

    def __getitem__(self, index):
        return tg.tensor([index]), tg_data.get_worker_info().id

    def __len__(self):
        return 4


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_not_forked(method):
    loader = tg_data.DataLoader(Mapped(), 2, num_workers=1, multiprocessing_context=method)
    assert [[part.tolist() for part in batch] for batch in loader] == [
        [[[0], [1]], [0, 0]],
        [[[2], [3]], [0, 0]],
    ]


@pytest.mark.parametrize("part", ["dataset", "collate_fn", "worker_init_fn"])
def test_what_cannot_be_pickled_is_named(part):
    parts = {"dataset": Mapped(), part: Of(lambda i: i) if part == "dataset" else lambda i: i}
    loader = tg_data.DataLoader(**parts, num_workers=1, multiprocessing_context="spawn")
    with pytest.raises(Exception, match=rf"the {part} of the DataLoader .*\.py file"):
        iter(loader)
    assert not running()


def script(text, *arguments, **options):
    """A Python process that runs the text, in a session of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, *arguments, textwrap.dedent(text)][: 1 + len(arguments) + bool(text)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


# As in a notebook, what such a script defines is in no file.
NOTEBOOK = """
    from tinygrad_course.utils.data import DataLoader

    class Mine:
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return index

    print([batch.tolist() for batch in DataLoader(Mine(), num_workers=1)])
    list(DataLoader(Mine(), num_workers=1, multiprocessing_context="spawn"))
"""


def test_what_a_notebook_defines_reaches_forked_workers_only():
    out, err = script(NOTEBOOK, "-W", "ignore", "-c").communicate(timeout=60)
    assert out.strip() == ("[[0], [1]]" if sys.platform == "linux" else "")
    *_, last = err.strip().splitlines()
    assert last.startswith("RuntimeError: a worker process of the DataLoader cannot unpickle")
    assert "Mine" in last and "notebook" in last and "num_workers=0" in last


def test_a_script_without_its_main_guard_is_told_of_it(tmp_path):
    path = tmp_path / "unguarded.py"
    path.write_text(
        "from tinygrad_course.utils.data import DataLoader\n"
        "list(DataLoader(range(2), num_workers=1, multiprocessing_context='spawn'))\n"
    )
    _, err = script("", str(path)).communicate(timeout=60)
    assert "__name__ == '__main__'" in err.strip().splitlines()[-1]


LOOP = """
    import os, time
    from tinygrad_course.utils.data import DataLoader

    class Slow:
        def __len__(self):
            return 4

        def __getitem__(self, index):
            if index > 1:
                time.sleep(1000)
            return os.getpid()

    others = iter(DataLoader(Slow(), None, num_workers=1, persistent_workers=True))
    batches = iter(DataLoader(Slow(), None, num_workers=2))
    print(next(others), next(batches), next(batches), flush=True)
    next(batches)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_no_worker_outlives_the_script(name):
    process = script(LOOP, "-W", "ignore", "-c")
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) == 3
    if name == "SIGINT":
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C goes to all processes of a terminal
    else:
        process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=60)
    assert process.returncode == -getattr(signal, name)
    assert all(map(gone, pids))
    if name == "SIGINT":  # one traceback, from the main process
        assert err.count("Traceback") == 1 and err.strip().endswith("KeyboardInterrupt")
