"""A fence around the learner's process: what its Python code may open, start and reach.

It is an audit hook, which Python calls for each such act and which cannot be taken off again. It
names what may be read and written and refuses the rest. Where the kernel of the system offers a
second wall, `landlock` builds it; this one works everywhere. Lesson 00.
"""

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

# Acts that no answer needs: programs, networks, foreign memory, and ways around this hook.
REFUSED = frozenset(
    """
    subprocess.Popen os.system os.exec os.posix_spawn os.spawn os.fork os.forkpty pty.spawn
    os.startfile os.startfile/2 os.kill os.killpg signal.pthread_kill
    socket.connect socket.bind socket.getaddrinfo socket.gethostbyname socket.gethostbyaddr
    socket.getnameinfo socket.sendto socket.sendmsg socket.sethostname
    ctypes.dlopen ctypes.dlsym ctypes.dlsym/handle ctypes.call_function ctypes.cdata
    ctypes.cdata/buffer ctypes.string_at ctypes.wstring_at ctypes.addressof ctypes.PyObj_FromPtr
    os.symlink os.link os.chroot os.mknod os.mkfifo os.setxattr os.chown
    sys.addaudithook cpython._PySys_ClearAuditHooks gc.get_objects gc.get_referrers gc.get_referents
    resource.setrlimit resource.prlimit sqlite3.load_extension sqlite3.enable_load_extension
    winreg.OpenKey
    """.split()
)
# They reach memory, files and programs without telling Python.
MODULES = frozenset("cffi _cffi_backend _posixsubprocess _ctypes ctypes readline".split())
LISTS = frozenset(("os.listdir", "os.scandir", "os.walk", "os.fwalk", "glob.glob", "glob.glob/2"))
CHANGES = frozenset(
    """
    os.remove os.rename os.rmdir os.mkdir os.truncate os.utime os.chmod os.chflags os.removexattr
    shutil.copyfile shutil.copymode shutil.copystat shutil.copytree shutil.move shutil.rmtree
    shutil.make_archive shutil.unpack_archive tempfile.mkstemp tempfile.mkdtemp
    """.split()
)


def close_side_doors() -> None:
    """Take away the one function that starts programs without telling the hook."""
    import subprocess

    def refuse(*arguments: object) -> None:
        raise PermissionError("the sandbox does not allow programs to be started")

    for module in (subprocess, sys.modules.get("_posixsubprocess")):
        for name in ("_fork_exec", "fork_exec"):
            if hasattr(module, name):
                setattr(module, name, refuse)


def install(readable: Iterable[str], listable: Iterable[str], writable: Iterable[str]) -> None:
    """Put the fence up for the rest of the process: only what lies in these folders is reached."""
    sys.addaudithook(_hook(_both(readable), _both(listable), _both(writable)))


def _both(paths: Iterable[str]) -> tuple[str, ...]:
    """Each path as it is written and as it really is."""
    both = {p for path in paths for p in (os.path.abspath(path), os.path.realpath(path))}
    if os.name == "nt":
        return tuple(path.replace("\\", "/").lower() for path in both)
    return tuple(both)


def _hook(
    readable: tuple[str, ...], listable: tuple[str, ...], writable: tuple[str, ...]
) -> Callable[[str, tuple[Any, ...]], None]:
    # All that the hook uses is bound here and unchangeable. A name looked up in a module or among
    # the builtins could be replaced by the code that is to be kept in. That is also why paths are
    # taken apart by hand: `os.path` is Python code with names of its own.
    refused, modules, lists, changes = REFUSED, MODULES, LISTS, CHANGES
    type_, str_, bytes_, int_, list_ = type, str, bytes, int, list
    error, missing, getcwd, stat = PermissionError, OSError, os.getcwd, os.stat
    decode, startswith, split, join = bytes.decode, str.startswith, str.split, str.join
    append, pop, replace, lower = list.append, list.pop, str.replace, str.lower
    write_bits = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    devices = frozenset(("/dev/null", "/dev/urandom", "/dev/random", "nul"))
    windows, null = os.name == "nt", None

    def inside(path: str, folders: tuple[str, ...]) -> bool:
        for folder in folders:
            if path == folder or startswith(path, folder + "/"):
                return True
        return False

    def full(path: Any) -> str:
        """The absolute path; only exact text is taken, since a subclass could say two things."""
        if type_(path) is bytes_:
            path = decode(path, "utf-8", "surrogateescape")
        if type_(path) is not str_:
            raise error("the sandbox takes paths as plain text")
        if not (startswith(path, "/") or (windows and path[1:2] == ":")):
            path = getcwd() + "/" + path
        if windows:
            path = lower(replace(path, "\\", "/"))
        parts: list[str] = list_()
        for part in split(path, "/"):
            if part == "..":
                if parts:
                    pop(parts)
            elif part not in ("", "."):
                append(parts, part)
        return ("" if windows else "/") + join("/", parts)

    def is_folder(path: str) -> bool:
        try:
            return stat(path).st_mode & 0o170000 == 0o040000
        except missing:
            return False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if type_(path) is int_:
                return
            place = full(path)
            if place in devices or inside(place, writable):
                return
            if type_(flags) is int_ and flags & write_bits:
                raise error("the sandbox lets nothing be written outside its own folder")
            # Paths relative to an opened folder are not told to us, so no folder is opened.
            if not inside(place, readable) or (mode is null and is_folder(place)):
                raise error("the sandbox does not let this file be read")
        elif event in refused:
            raise error("the sandbox does not allow " + event)
        elif event == "import":
            name, filename = arguments[0], arguments[1]
            if split(name, ".", 1)[0] in modules:
                raise error("the sandbox does not allow this module")
            if type_(filename) is str_ and not inside(full(filename), readable):
                raise error("the sandbox loads no libraries from there")
        elif event == "sqlite3.connect":
            if arguments[0] != ":memory:" and not inside(full(arguments[0]), writable):
                raise error("the sandbox does not let this database be opened")
        elif event in lists:
            path = arguments[0]
            if type_(path) is not int_:
                place = full("." if path is null else path)
                if not (place in listable or inside(place, readable) or inside(place, writable)):
                    raise error("the sandbox does not let this folder be listed")
        elif event in changes:
            for path in arguments[:2]:
                if type_(path) in (str_, bytes_) and not inside(full(path), writable):
                    raise error("the sandbox lets nothing be changed outside its own folder")

    return hook
