"""Schedules of the learning rate beside PyTorch's: rates, going on in the middle, warnings, what is
refused. The rows are those of `tests/parity/optimizers.py`."""

import pytest

import tinygrad_course as tg
from tests.parity.both import attempt, both
from tinygrad_course.optim import SGD, lr_scheduler

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")

from tests.parity import optimizers as rows  # noqa: E402  (needs torch)

SINGLE = [n for n in rows.SCHEDULES if n not in ("SequentialLR", "ChainedScheduler")]
BY_EPOCH = [name for name in SINGLE if name != "ReduceLROnPlateau"]
WHERE = {
    "initial_lr": 0.5,
    "max_lr": 1.0,
    "min_lr": 1e-3,
    "max_momentum": 0.9,
    "base_momentum": 0.8,
}


@pytest.mark.parametrize("name", rows.SCHEDULES)
def test_rates_are_pytorchs_also_from_each_others_state(name) -> None:
    problems = [str(v) for v in rows.schedules(name) if v.problem is not None]
    assert not problems


@pytest.mark.parametrize("name", rows.SCHEDULES)
def test_resuming_in_the_middle_gives_the_same_rates(name) -> None:
    for args, options in rows.SCHEDULES[name]:
        optimizer = rows.groups_of(tg)
        schedule = rows.schedule_of(tg, name, args, options, optimizer)
        rows.advance(schedule, range(11))
        other = rows.groups_of(tg)
        resumed = rows.schedule_of(tg, name, args, options, other)
        other.load_state_dict(optimizer.state_dict())
        resumed.load_state_dict(schedule.state_dict())
        assert rows.advance(resumed, range(11, 40)) == rows.advance(schedule, range(11, 40))


@pytest.mark.parametrize("name", rows.SCHEDULES)
def test_state_dicts_have_pytorchs_keys(name) -> None:
    for args, options in rows.SCHEDULES[name]:
        ours, theirs = (
            rows.schedule_of(lib, name, args, options, rows.groups_of(lib)).state_dict()
            for lib in (tg, torch)
        )
        assert set(ours) == set(theirs)
        assert ours["_last_lr"] == theirs["_last_lr"]


@pytest.mark.parametrize("name", BY_EPOCH)
def test_starting_at_a_later_epoch_and_going_to_one(name) -> None:
    for args, options in rows.SCHEDULES[name]:

        @both
        def rates(lib, args=args, options=options):
            seen = []
            for last_epoch in range(12):
                optimizer = rows.groups_of(lib)
                for group in optimizer.param_groups:
                    group.update(WHERE)
                    group["lr"] *= 0.7
                make = getattr(lib.optim.lr_scheduler, name)
                schedule = make(optimizer, *args, **options, last_epoch=last_epoch)
                optimizer.step()
                seen.append(list(schedule.get_last_lr()))
                for epoch in (None, None, None, 7, None, 2, None, 30, None):
                    schedule.step(*([] if epoch is None else [epoch]))
                    seen.append(list(schedule.get_last_lr()))
            return seen

        rates()


@both
def test_warm_restarts_at_parts_of_an_epoch(lib):
    seen = []
    for t_mult in (1, 2):
        optimizer = lib.optim.SGD([lib.ones(1)], lr=1.0)
        schedule = lib.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3, t_mult, 0.1)
        for epoch in (0.5, 2.75, 3, 7.5, 20.25, None, None):
            schedule.step(epoch)
            seen.append([schedule.get_last_lr()[0], schedule.last_epoch, schedule.T_i])
        seen.append(attempt(lambda s=schedule: s.step(-1)))
    return seen


# --- warnings -------------------------------------------------------------------------------------


def one(lib, **options):
    return lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.5, **options)


def test_the_order_of_steps_is_watched() -> None:
    for lib in (tg, torch):
        optimizer = one(lib)
        schedule = lib.optim.lr_scheduler.StepLR(optimizer, 1)
        with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step"):
            schedule.step()
        schedule.step()  # once is enough
        optimizer.step()
        lib.optim.lr_scheduler.StepLR(optimizer, 1).step()  # in order: no warning


def test_naming_an_epoch_is_the_old_way() -> None:
    for lib in (tg, torch):
        optimizer = one(lib)
        schedule = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        optimizer.step()
        with pytest.warns(UserWarning, match="epoch parameter"):
            schedule.step(3)
        assert schedule.get_last_lr() == [0.0625] and schedule.last_epoch == 3
        with pytest.warns(UserWarning, match="epoch parameter"):
            lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step(1.0, 3)


def test_get_lr_is_for_use_within_a_step() -> None:
    for lib in (tg, torch):
        schedule = lib.optim.lr_scheduler.ExponentialLR(one(lib), 0.5)
        with pytest.warns(UserWarning, match="please use `get_last_lr"):
            assert schedule.get_lr() == [0.25]


# --- more -----------------------------------------------------------------------------------------


@both
def test_a_schedule_of_ones_own(lib):
    class Halving(lib.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [base / 2**self.last_epoch for base in self.base_lrs]

    optimizer = rows.groups_of(lib)
    schedule = Halving(optimizer)
    optimizer.step()
    schedule.step()
    return [schedule.get_last_lr(), [group["lr"] for group in optimizer.param_groups]]


def test_a_subclass_must_say_how_the_rate_changes() -> None:
    with pytest.raises(NotImplementedError, match="LRScheduler"):
        lr_scheduler.LRScheduler(one(tg))


@both
def test_groups_that_come_later(lib):
    seen = []
    for name, args in (("StepLR", (1,)), ("LambdaLR", (lambda e: 0.5**e,))):
        optimizer = one(lib)
        schedule = getattr(lib.optim.lr_scheduler, name)(optimizer, *args)
        optimizer.add_param_group({"params": [lib.ones(1)], "lr": 3.0})
        optimizer.step()
        seen.append(attempt(lambda s=schedule: s.step() or list(s.get_last_lr())))
    for least in (0.01, [0.01]):
        optimizer = one(lib)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, min_lr=least, patience=0)
        optimizer.add_param_group({"params": [lib.ones(1)], "lr": 3.0})
        seen.append(attempt(lambda s=schedule: [s.step(1.0), s.step(1.0), s.get_last_lr()]))
    return seen


@both
def test_schedules_within_schedules(lib):
    made = lib.optim.lr_scheduler
    optimizer = one(lib)
    parts = [made.ConstantLR(optimizer, 0.5), made.ExponentialLR(optimizer, 0.9)]
    inner = made.SequentialLR(optimizer, parts, [2])
    both_at_once = made.ChainedScheduler([inner, made.StepLR(optimizer, 3)])
    optimizer.step()
    seen = []
    for _ in range(8):
        both_at_once.step()
        seen.append(both_at_once.get_last_lr()[0])
    return seen


@both
def test_a_metric_may_be_a_tensor_of_one_element(lib):
    optimizer = one(lib)
    schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for loss in (1.0, 2.0):
        schedule.step(lib.tensor(loss))
    return [schedule.get_last_lr(), schedule.best, schedule.num_bad_epochs]


def test_a_rate_that_is_a_tensor_stays_that_tensor() -> None:
    rate = tg.tensor(0.5)
    optimizer = SGD([tg.ones(1)], lr=rate)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    first = schedule.get_last_lr()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.25
    assert first[0].item() == 0.5  # a copy of what it was


M = {"momentum": 0.9}
BAD = {
    "no optimizer": lambda t: t.optim.lr_scheduler.StepLR(3, 1),
    "no optimizer for a plateau": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(3),
    "no initial_lr": lambda t: t.optim.lr_scheduler.StepLR(one(t), 1, last_epoch=3),
    "lambdas": lambda t: t.optim.lr_scheduler.LambdaLR(one(t), [abs, abs]),
    "no lambda": lambda t: t.optim.lr_scheduler.LambdaLR(one(t), 3),
    "factors": lambda t: t.optim.lr_scheduler.MultiplicativeLR(one(t), []),
    "milestones": lambda t: t.optim.lr_scheduler.MultiStepLR(one(t), 3),
    "start_factor": lambda t: t.optim.lr_scheduler.LinearLR(one(t), 0.0),
    "start_factor above": lambda t: t.optim.lr_scheduler.LinearLR(one(t), 1.5),
    "end_factor": lambda t: t.optim.lr_scheduler.LinearLR(one(t), 1.0, -0.1),
    "constant": lambda t: t.optim.lr_scheduler.ConstantLR(one(t), 1.5),
    "T_0": lambda t: t.optim.lr_scheduler.CosineAnnealingWarmRestarts(one(t), 0),
    "T_0 no int": lambda t: t.optim.lr_scheduler.CosineAnnealingWarmRestarts(one(t), 1.5),
    "T_mult": lambda t: t.optim.lr_scheduler.CosineAnnealingWarmRestarts(one(t), 2, 0),
    "mode": lambda t: t.optim.lr_scheduler.CyclicLR(one(t, **M), 0.1, 1, mode="x"),
    "base_lr": lambda t: t.optim.lr_scheduler.CyclicLR(one(t, **M), [0.1, 0.1], 1),
    "no step up": lambda t: t.optim.lr_scheduler.CyclicLR(one(t, **M), 0.1, 1, 0),
    "no momentum": lambda t: t.optim.lr_scheduler.CyclicLR(
        t.optim.Adagrad([t.ones(1)], 0.1), 0.1, 1
    ),
    "no steps": lambda t: t.optim.lr_scheduler.OneCycleLR(one(t, **M), 1.0),
    "half of the steps": lambda t: t.optim.lr_scheduler.OneCycleLR(one(t, **M), 1.0, epochs=3),
    "total_steps": lambda t: t.optim.lr_scheduler.OneCycleLR(one(t, **M), 1.0, 0),
    "steps_per_epoch": lambda t: t.optim.lr_scheduler.OneCycleLR(
        one(t, **M), 1.0, epochs=3, steps_per_epoch=1.5
    ),
    "pct_start": lambda t: t.optim.lr_scheduler.OneCycleLR(one(t, **M), 1.0, 5, pct_start=1.5),
    "pct_start no float": lambda t: t.optim.lr_scheduler.OneCycleLR(
        one(t, **M), 1.0, 5, pct_start=1
    ),
    "anneal": lambda t: t.optim.lr_scheduler.OneCycleLR(one(t, **M), 1.0, 5, anneal_strategy="x"),
    "max_lr": lambda t: t.optim.lr_scheduler.OneCycleLR(one(t, **M), [1.0, 2.0], 5),
    "momentum of one cycle": lambda t: t.optim.lr_scheduler.OneCycleLR(
        t.optim.Adagrad([t.ones(1)], 0.1), 1.0, 5
    ),
    "factor": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(one(t), factor=1.0),
    "plateau mode": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(one(t), "x"),
    "threshold_mode": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(one(t), threshold_mode="x"),
    "min_lr": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(one(t), min_lr=[0.1, 0.1]),
    "no metric": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(one(t)).step(),
    "a metric of text": lambda t: t.optim.lr_scheduler.ReduceLROnPlateau(one(t)).step("a"),
    "no parts": lambda t: t.optim.lr_scheduler.SequentialLR(one(t), [], []),
    "no parts to chain": lambda t: t.optim.lr_scheduler.ChainedScheduler([]),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_what_pytorch_refuses(call) -> None:
    errors = []
    for lib in (tg, torch):
        with pytest.raises((TypeError, ValueError, KeyError, ZeroDivisionError)) as caught:
            call(lib)
        errors.append(caught.type)
    assert errors[0] is errors[1]


@both
def test_composites_refuse_what_does_not_belong_together(lib):
    made = lib.optim.lr_scheduler
    a, b = one(lib), one(lib)
    parts = [made.StepLR(a, 1), made.StepLR(b, 1)]
    plateau = made.ReduceLROnPlateau(a)
    return [
        attempt(lambda: made.SequentialLR(a, parts, [3])),
        attempt(lambda: made.SequentialLR(a, parts[:1], [3])),
        attempt(lambda: made.SequentialLR(a, [parts[0], plateau], [3])),
        attempt(lambda: made.ChainedScheduler(parts)),
        attempt(lambda: made.ChainedScheduler(parts[:1], b)),
        attempt(lambda: made.ChainedScheduler([parts[0], plateau])),
    ]


@both
def test_a_cycle_has_an_end(lib):
    optimizer = one(lib, momentum=0.9)
    schedule = lib.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, 3)
    optimizer.step()
    return [attempt(lambda: schedule.step() or schedule.get_last_lr()[0]) for _ in range(5)]
