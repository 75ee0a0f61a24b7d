"""A wall that Linux itself puts around the learner's process, where its kernel offers Landlock.

A list of what may be read and written, no outgoing connections, no starting of programs, no signals
to others; it holds for all later code of the thread and its children, in whatever language. It must
be called before other threads exist. Lesson 00.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Iterable

# System call numbers are the same on all of Linux's newer interfaces, x86-64 and arm64 among them.
_CREATE, _ADD, _RESTRICT, _PR_SET_NO_NEW_PRIVS = 444, 445, 446, 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, CONNECT_TCP, SCOPE_ALL = 1 << 14, 1 << 1, 3


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The Landlock interface of this system, 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, 0, 1)))


def restrict(readable: Iterable[str], listable: Iterable[str], writable: Iterable[str]) -> bool:
    """Confine this thread to these paths, for good; False where the system cannot."""
    found = version()
    if not found:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    # Each newer interface knows more rights; asking for an unknown one is an error.
    rights = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(found, 16)) - 1
    ruleset = _Ruleset(rights, CONNECT_TCP if found >= 4 else 0, SCOPE_ALL if found >= 6 else 0)
    size = 8 if found < 4 else 16 if found < 6 else 24
    handle = libc.syscall(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), 0)
    if handle < 0:
        return False
    for paths, allowed in (
        (readable, READ_FILE | READ_DIR),
        (listable, READ_DIR),
        (writable, rights & ~EXECUTE),
        (("/dev/null", "/dev/urandom"), READ_FILE | WRITE_FILE),
    ):
        for path in paths:
            _add(libc, handle, path, allowed & rights)
    done = not libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) and not libc.syscall(
        _RESTRICT, handle, 0
    )
    os.close(handle)
    return done


def _add(libc: ctypes.CDLL, handle: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that is not there needs no rule
    if not stat.S_ISDIR(os.fstat(parent).st_mode):
        allowed &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
    rule = _Beneath(allowed, parent)
    libc.syscall(_ADD, handle, 1, ctypes.byref(rule), 0)
    os.close(parent)
