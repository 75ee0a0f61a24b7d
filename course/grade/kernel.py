"""What the graded notebook's kernel runs first: limits and walls, then the ordinary IPython kernel.

It is started from a kernelspec of ours as `kernel.py POLICY CONNECTION`, loads everything that
needs more freedom than an answer does, gives that freedom up and hands over. Lesson 00.
"""

import contextlib
import json
import sys
from collections.abc import Sequence
from typing import Any

PRELOADED = ("ctypes", "numpy", "tinygrad_course", "course.grade.probe", "psutil")


def limit_resources(limits: dict[str, Any]) -> None:
    """Cap processor time, memory and file sizes of this process and its children."""
    try:
        import resource
    except ImportError:  # Windows
        return
    megabyte = 1 << 20
    for name, value in (
        ("RLIMIT_CPU", int(limits["cpu_seconds"])),
        ("RLIMIT_AS", limits["memory_mb"] * megabyte),
        ("RLIMIT_FSIZE", limits["file_mb"] * megabyte),
        ("RLIMIT_NOFILE", 256),
        ("RLIMIT_CORE", 0),
    ):
        kind = getattr(resource, name, None)
        if kind is not None:
            _, hard = resource.getrlimit(kind)
            wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
            with contextlib.suppress(OSError, ValueError):  # macOS refuses some
                resource.setrlimit(kind, (wanted, wanted))


def die_with_parent() -> None:
    """Have Linux end this process when the one that started it ends."""
    if sys.platform.startswith("linux"):
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def main(arguments: Sequence[str]) -> None:
    """Read the policy, load, confine, run the kernel."""
    import importlib

    policy_file, *rest = arguments
    with open(policy_file, encoding="utf-8") as file:
        policy = json.load(file)
    die_with_parent()
    limit_resources(policy["limits"])
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from ipykernel.kernelapp import IPKernelApp

    from course.grade import fence, landlock

    paths = policy["readable"], policy["listable"], policy["writable"]
    fence.close_side_doors()
    landlock.restrict(*paths)  # before the kernel's own threads, which it would not hold
    app = IPKernelApp.instance()
    app.initialize(rest)  # type: ignore[no-untyped-call]
    fence.install(*paths)
    app.start()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(sys.argv[1:])
