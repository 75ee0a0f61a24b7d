"""`.pt` files: written by one library and read by the other, damaged, lying; and safetensors."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.serialization import archive, reader

from . import fake_cuda
from .parity.both import same, seen

DTYPES = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool")


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")


def written(save, obj) -> io.BytesIO:
    file = io.BytesIO()
    save(obj, file)
    file.seek(0)
    return file


# Each makes a value in either library; all of it is data.
VALUES = {
    "a tensor": lambda t: t.arange(6.0).view(2, 3),
    "a transposed tensor": lambda t: t.arange(6.0).view(2, 3).t(),
    "a window": lambda t: t.arange(10)[3:8:2],
    "an expanded tensor": lambda t: t.ones(1).expand(3, 2),
    "no dims": lambda t: t.tensor(2.5),
    "no elements": lambda t: t.zeros(0, 3),
    "all dtypes": lambda t: [t.tensor([1, 0, 1], dtype=getattr(t, d)) for d in DTYPES],
    "a leaf": lambda t: t.ones(2, requires_grad=True),
    "a computed tensor": lambda t: t.ones(2, requires_grad=True) * 2,
    "a parameter": lambda t: t.nn.Parameter(t.ones(2)),
    "a frozen parameter": lambda t: t.nn.Parameter(t.ones(2), requires_grad=False),
    "numbers": lambda t: [0, -1, 255, 2**31, -(2**31), 2**40, -(2**70), 1.5, float("inf"), True],
    "strings": lambda t: ["", "é\U0001f600", b"\x00\xff", None],
    "containers": lambda t: {"a": (1, [2, {"b": ()}]), 3: {4, 5}, (1, "x"): [], 2.5: {}},
    "an ordered dict": lambda t: OrderedDict(b=t.ones(1), a=t.zeros(1)),
    "types": lambda t: [t.float16, t.bool, t.Size([2, 3]), t.device("cpu"), t.device("cuda:1")],
    "a state dict": lambda t: t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU()).state_dict(),
    "a checkpoint": lambda t: {"epoch": 3, "best": 0.5, "history": [1.0, 2.0], "w": t.ones(2)},
}


def plain(value):
    """What can be compared across the libraries."""
    if isinstance(value, dict):
        return [type(value).__name__, [(plain(k), plain(v)) for k, v in value.items()]]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [plain(v) for v in value]]
    if hasattr(value, "requires_grad"):
        return [type(value).__name__, value.is_leaf, seen(value)]
    return [type(value).__name__, value] if type(value).__module__ == "builtins" else repr(value)


@pytest.mark.parametrize("name", VALUES)
def test_either_library_reads_the_other_s_files(torch, name):
    tg.manual_seed(1)
    torch.manual_seed(1)
    ours, theirs = VALUES[name](tg), VALUES[name](torch)
    expected = plain(torch.load(written(torch.save, theirs), weights_only=True))
    for back in (
        tg.load(written(torch.save, theirs)),
        torch.load(written(tg.save, ours), weights_only=True),
        tg.load(written(tg.save, ours)),
    ):
        assert same(plain(back), expected)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_all_protocols(torch, protocol):
    file = io.BytesIO()
    value = {
        "w": torch.arange(3),
        "s": {1, 2},
        "b": b"x",
        "n": [1, 2.5, None, "ü" * 300],
        2**70: (),
    }
    torch.save(value, file, pickle_protocol=protocol)
    back = tg.load(file)
    assert back["w"].tolist() == [0, 1, 2]
    assert {k: v for k, v in back.items() if k != "w"} == {
        k: v for k, v in value.items() if k != "w"
    }


def test_empty_bytes(torch):
    # PyTorch writes them with a name that it then refuses to load.
    assert tg.load(written(torch.save, [b""])) == [b""]
    assert torch.load(written(tg.save, [b""]), weights_only=True) == [b""]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_views_and_repeated_objects_stay_shared(torch):
    def make(t):
        x = t.arange(6.0).view(2, 3)
        names = ["a"]
        return {"x": x, "row": x[1], "again": x, "names": names, "same": names, "s": x.storage()}

    for back in (
        tg.load(written(torch.save, make(torch))),
        torch.load(written(tg.save, make(tg)), weights_only=True),
        tg.load(written(tg.save, make(tg))),
    ):
        back["row"][0] = 50
        back["s"][0] = -1
        assert back["x"].tolist() == [[-1, 1, 2], [50, 4, 5]]
        assert back["again"] is back["x"] and back["same"] is back["names"]


def test_a_view_s_whole_storage_is_saved():
    back = tg.load(written(tg.save, tg.arange(100)[5:7]))
    assert back.storage().size() == 100 and back.storage_offset() == 5


def test_the_metadata_of_a_state_dict_is_kept(torch):
    state = torch.nn.Linear(1, 1).state_dict()
    assert vars(tg.load(written(torch.save, state))) == vars(state)
    again = torch.load(written(tg.save, tg.load(written(torch.save, state))), weights_only=True)
    assert vars(again) == vars(state)


def test_a_list_in_itself():
    loop = [1]
    loop.append(loop)
    back = tg.load(written(tg.save, loop))
    assert back[1] is back


def test_training_goes_on_from_a_checkpoint(tmp_path):
    def trained(steps, model, optimizer):
        x = tg.arange(6.0).view(3, 2)
        for _ in range(steps):
            optimizer.zero_grad()
            (model(x) ** 2).mean().backward()
            optimizer.step()

    def made():
        tg.manual_seed(0)
        model = tg.nn.Linear(2, 1)
        return model, tg.optim.Adam(model.parameters(), lr=0.1)

    model, optimizer = made()
    trained(3, model, optimizer)
    path = tmp_path / "checkpoint.pt"
    tg.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    trained(3, model, optimizer)
    other, its_optimizer = made()
    checkpoint = tg.load(path)
    other.load_state_dict(checkpoint["model"])
    its_optimizer.load_state_dict(checkpoint["optimizer"])
    trained(3, other, its_optimizer)
    assert other.weight.tolist() == model.weight.tolist()


# --- what can't be saved --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, words",
    [
        (lambda: tg.nn.Linear(1, 1), "state_dict"),
        (lambda: {"a": [object()]}, r"the object\['a'\]\[0\] is a builtins.object"),
        (lambda: np.ones(2), "tg.from_numpy"),
        (lambda: [np.float64(1)], r"\.item\(\)"),
        (lambda: {"f": len}, r"\['f'\]"),
        (lambda: defaultdict(list), "defaultdict"),
        (lambda: Counter("a"), "Counter"),
        (lambda: 1j, "complex"),
        (lambda: {object(): 1}, "the key"),
    ],
)
def test_what_only_code_could_rebuild_is_refused(value, words):
    with pytest.raises(TypeError, match=words):
        tg.save(value(), io.BytesIO())


def test_what_is_too_large_or_too_deep_is_refused():
    with pytest.raises(ValueError, match="255"):
        tg.save(2**3000, io.BytesIO())
    deep: list = []
    for _ in range(10000):
        deep = [deep]
    with pytest.raises(ValueError, match="deeply"):
        tg.save(deep, io.BytesIO())


@pytest.mark.parametrize("call", [lambda: tg.save(1, 3), lambda: tg.load(3)])
def test_neither_path_nor_file(call):
    with pytest.raises(TypeError, match="a path or a file"):
        call()


# --- files that run code, or lie ------------------------------------------------------------------


def archive_of(program: bytes, records: dict[str, bytes] | None = None, **how) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how.pop("compression", zipfile.ZIP_STORED)) as zipped:
        for name, content in {"data.pkl": program, "version": b"3\n", **(records or {})}.items():
            zipped.writestr(f"archive/{name}", content)
    file.seek(0)
    return file


class Harmful:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "value",
    [
        Harmful(os.system, ("echo ran > ran.txt",)),
        Harmful(eval, ("open('ran.txt', 'w')",)),
        Harmful(getattr, (1, "real")),
        [Harmful(__import__, ("os",))],
        np.float64(1.5),
        range(3),
        1j,
        Counter("a"),
    ],
)
def test_no_code_from_a_file_is_run(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol in (2, 4):
        with pytest.raises(pickle.UnpicklingError, match=r"never runs or imports|runs no code"):
            tg.load(archive_of(pickle.dumps(value, protocol)))
    assert os.listdir() == []


def test_the_refused_name_is_told(torch):
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.BFloat16Storage"):
        tg.load(written(torch.save, torch.ones(2, dtype=torch.bfloat16)))
    with pytest.raises(pickle.UnpicklingError, match=r"torch.nn.modules.linear.Linear"):
        tg.load(written(torch.save, torch.nn.Linear(1, 1)))
    with pytest.raises(ValueError, match="weights_only=False"):
        tg.load(written(tg.save, 1), weights_only=False)


def tensor_program(numel=4, offset=0, size=(2, 2), stride=(2, 1), kind="FloatStorage", grad=False):
    """The pickle of a tensor, written by hand."""

    def number(n):
        return b"J" + struct.pack("<i", n)

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    def text(s):
        return b"X" + struct.pack("<I", len(s)) + s.encode()

    reference = b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text("0") + text("cpu")
    storage = reference + number(numel) + b"tQ"
    flag = b"\x88" if grad else b"\x89"
    hooks = b"ccollections\nOrderedDict\n)R"
    parts = storage + number(offset) + numbers(size) + numbers(stride) + flag + hooks
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + parts + b"tR."


def test_a_tensor_written_by_hand():
    bytes_of_it = struct.pack("<4f", 1, 2, 3, 4)
    back = tg.load(archive_of(tensor_program(), {"data/0": bytes_of_it}))
    assert back.tolist() == [[1, 2], [3, 4]]
    swapped = {"data/0": struct.pack(">4f", 1, 2, 3, 4), "byteorder": b"big"}
    assert tg.load(archive_of(tensor_program(), swapped)).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "lie, words",
    [
        ({"offset": 1}, "outside of its storage"),
        ({"size": (3, 2)}, "outside of its storage"),
        ({"stride": (100, 1)}, "outside of its storage"),
        ({"stride": (-2, 1)}, "whole numbers"),
        ({"offset": -1}, "whole numbers"),
        ({"size": (4,)}, "outside of its storage"),
        ({"kind": "IntStorage", "grad": True}, "require a gradient"),
        ({"kind": "ComplexFloatStorage"}, "ComplexFloatStorage"),
        ({"numel": -4}, "no reference to a storage"),
    ],
)
def test_a_tensor_that_lies_about_its_memory(lie, words):
    with pytest.raises(pickle.UnpicklingError, match=words):
        tg.load(archive_of(tensor_program(**lie), {"data/0": bytes(16)}))


@pytest.mark.parametrize(
    "program, records, words",
    [
        (tensor_program(numel=5), {"data/0": bytes(16)}, "5 elements .* are no 16 bytes"),
        (tensor_program(kind="LongStorage"), {"data/0": bytes(16)}, "4 elements"),
        (tensor_program(), {}, "no record data/0"),
    ],
)
def test_records_that_do_not_fit(program, records, words):
    with pytest.raises(RuntimeError, match=words):
        tg.load(archive_of(program, records))


NO_PROGRAMS = [
    *(b"", b".", b"\x80\x02", b"}", b"\x80\x02]q\x00(K\x01", b"h\x05.", b"t.", b"K\x01K\x02."),
    *(b"(K\x01u.", b"}]K\x01s.", b"]}s.", b"K\x01R.", b"N)R.", b"ctorch\nSize\nK\x01\x85R."),
    *(b"K\x01b.", b"K\x01Q.", b"(K\x01tQ.", b"\xff.", b"ctorch\n\\_\n."),
    b"ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsNsb.",
    b"c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00utf16\x86R.",
    b"c__builtin__\nbytes\nK\x07\x85R.",
]


@pytest.mark.parametrize("program", NO_PROGRAMS)
def test_damaged_pickles_are_told(program):
    with pytest.raises(pickle.UnpicklingError):
        tg.load(archive_of(program))


@pytest.mark.parametrize("seed", range(20))
def test_random_damage_never_gets_out_of_hand(seed):
    """Any flipped bytes of the pickle give a value or one of the promised errors."""
    value = {
        "w": tg.arange(6.0).view(2, 3),
        "s": {1},
        "o": OrderedDict(a=b"x"),
        "n": [1.5, (None,)],
    }
    records = zipfile.ZipFile(written(tg.save, value))
    content = {n.removeprefix("archive/"): records.read(n) for n in records.namelist()}
    rng = np.random.RandomState(seed)
    for _ in range(100):
        program = bytearray(content["data.pkl"])
        for _ in range(rng.randint(1, 4)):
            program[rng.randint(len(program))] = rng.randint(256)
        try:
            tg.load(archive_of(bytes(program), {**content, "data.pkl": bytes(program)}))
        except (pickle.UnpicklingError, RuntimeError):
            pass


def test_a_deep_key_is_refused_before_it_is_hashed():
    # hash() of a tuple nested this deeply would end the process.
    program = b"\x80\x02})" + b"\x85" * 200_000 + b"Ns."
    with pytest.raises(pickle.UnpicklingError, match="key of a dict"):
        tg.load(archive_of(program))


# --- files that are no whole files ----------------------------------------------------------------


def test_cut_off_files(tmp_path):
    whole = written(tg.save, {"w": tg.rand(100)}).getvalue()
    for length in (1, 30, len(whole) // 2, len(whole) - 1):
        with pytest.raises((RuntimeError, pickle.UnpicklingError), match=r"cut off|no .pt file"):
            tg.load(io.BytesIO(whole[:length]))
    with pytest.raises(EOFError, match="empty"):
        tg.load(io.BytesIO())


def test_flipped_bits_are_noticed():
    whole = bytearray(written(tg.save, tg.zeros(1000)).getvalue())
    whole[len(whole) // 2] ^= 1
    with pytest.raises(RuntimeError, match="damaged"):
        tg.load(io.BytesIO(bytes(whole)))


def test_foreign_files(torch):
    with pytest.raises(pickle.UnpicklingError, match=r"no \.pt file: it starts with b'GIF89a"):
        tg.load(io.BytesIO(b"GIF89a and more"))
    old = io.BytesIO()
    torch.save(torch.ones(1), old, _use_new_zipfile_serialization=False)
    with pytest.raises(pickle.UnpicklingError, match=r"before PyTorch 1\.6"):
        tg.load(io.BytesIO(old.getvalue()))
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as zipped:
        zipped.writestr("readme.txt", "hello")
    with pytest.raises(pickle.UnpicklingError, match=r"no data\.pkl"):
        tg.load(other)
    with pytest.raises(pickle.UnpicklingError, match="TorchScript"):
        tg.load(archive_of(b"N.", {"constants.pkl": b"N."}))
    with pytest.raises(RuntimeError, match="compressed"):
        tg.load(archive_of(b"N." + bytes(100), compression=zipfile.ZIP_DEFLATED))
    with pytest.raises(FileNotFoundError):
        tg.load("no/such/file.pt")


# --- writing --------------------------------------------------------------------------------------


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.pt"
    tg.save({"w": tg.ones(2)}, path)
    before = path.read_bytes()

    def fail(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(archive, "_add", fail)
        with pytest.raises(KeyboardInterrupt):
            tg.save({"w": tg.zeros(2)}, path)
    with pytest.raises(TypeError):
        tg.save({"w": tg.zeros(2), "f": len}, path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.pt"]
    tg.save({"w": tg.zeros(2)}, path)
    assert tg.load(str(path))["w"].tolist() == [0, 0]


def test_the_place_of_a_file_is_kept(tmp_path):
    path, link = tmp_path / "model.pt", tmp_path / "link.pt"
    tg.save(1, path)
    path.chmod(0o640)
    link.symlink_to(path)
    tg.save(2, link)
    assert link.is_symlink() and tg.load(path) == 2
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_device_file_is_written_to():
    tg.save(tg.ones(2), os.devnull)


def test_streams_that_cannot_seek():
    class Pipe(io.RawIOBase):
        def __init__(self, content):
            self.content = io.BytesIO(content)

        def read(self, n=-1):
            return self.content.read(n)

        def seekable(self):
            return False

    assert tg.load(Pipe(written(tg.save, [1, 2]).getvalue())) == [1, 2]


def test_records_are_aligned_and_stored():
    file = written(tg.save, [tg.ones(n) for n in (1, 5, 100)])
    for info in zipfile.ZipFile(file).infolist():
        file.seek(info.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
        assert (info.header_offset + 30 + name + extra) % 64 == 0
        assert info.compress_type == zipfile.ZIP_STORED


# --- devices --------------------------------------------------------------------------------------


def on_cuda(torch, place: str = "cuda:0") -> io.BytesIO:
    """A file with a tensor of another device, made from one of the CPU."""
    zipped = zipfile.ZipFile(written(torch.save, {"w": torch.ones(2)}))
    content = {n.removeprefix("archive/"): zipped.read(n) for n in zipped.namelist()}
    here, there = (b"X" + struct.pack("<I", len(p)) + p.encode() for p in ("cpu", place))
    assert content["data.pkl"].count(here) == 1
    content["data.pkl"] = content["data.pkl"].replace(here, there)
    return archive_of(content["data.pkl"], content)


MAPS = {
    "nothing": lambda lib: None,
    "a name": lambda lib: "cpu",
    "a device": lambda lib: lib.device("cpu"),
    "a dict": lambda lib: {"cuda:0": "cpu", "cuda:1": "cuda:0"},
    "a dict without it": lambda lib: {"cuda": "cpu"},
    "a function": lambda lib: lambda storage, location: storage,
    "a function that leaves it open": lambda lib: lambda storage, location: None,
    "a function of the storage": lambda lib: lambda storage, location: storage.cpu(),
    "CUDA": lambda lib: "cuda",
    "its second device": lambda lib: lib.device("cuda:1"),
}


@pytest.mark.parametrize("name", MAPS)
def test_map_location_without_a_gpu(torch, name):
    """As PyTorch, for files of a GPU and of the CPU, which either library has written."""
    if tg.cuda.is_available() or torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with fake_cuda.pretended():
        ours = written(tg.save, {"w": tg.ones(2, device="cuda")}).getvalue()
    theirs = on_cuda(torch).getvalue()
    assert ours.count(b"cuda:0") == theirs.count(b"cuda:0") == 1
    files = [ours, theirs, written(torch.save, {"w": torch.ones(2)}).getvalue()]
    found = []
    for lib in (tg, torch):
        where = MAPS[name](lib)
        for file in files:
            try:
                w = lib.load(io.BytesIO(file), map_location=where)["w"]
                found.append((w.tolist(), str(w.device)))
            except Exception as error:
                found.append((type(error), str(error).replace("torch.", "tg.")[:150]))
    assert found[:3] == found[3:]


def test_map_location(torch):
    asked = []

    def undecided(storage, location):
        asked.append((storage.tolist(), location))

    assert tg.load(written(tg.save, tg.ones(1)), undecided).tolist() == [1]
    assert asked == [([1.0], "cpu")]
    for wrong in (3, lambda storage, location: 3):
        with pytest.raises((TypeError, pickle.UnpicklingError), match="map_location"):
            tg.load(written(tg.save, tg.ones(1)), wrong)
    for place in ("mps", "foo"):
        with pytest.raises(RuntimeError, match=f"tagged with {place}.*map_location='cpu'"):
            tg.load(on_cuda(torch, place))
        assert tg.load(on_cuda(torch, place), "cpu")["w"].tolist() == [1, 1]


def test_tensors_go_back_to_their_device(torch):
    with fake_cuda.pretended(2):
        ours = tg.arange(6).cuda(1).view(2, 3).t()
        for file in (written(tg.save, ours), on_cuda(torch, "cuda:1")):
            for place, found in (
                (None, "cuda:1"),
                ("cpu", "cpu"),
                ("cuda:0", "cuda:0"),
                ("cuda", "cuda:0"),
                ({"cuda:1": "cuda:0"}, "cuda:0"),
                ({"cuda:0": "cpu"}, "cuda:1"),
                (lambda storage, location: storage.cuda(0), "cuda:0"),
            ):
                file.seek(0)
                assert str(plain_tensor(tg.load(file, place)).device) == found
        assert tg.load(written(tg.save, ours)).tolist() == ours.tolist()
        with pytest.raises(RuntimeError, match=r"device_count\(\) is 2"):
            tg.load(on_cuda(torch, "cuda:2"))


def plain_tensor(value):
    return value["w"] if isinstance(value, dict) else value


# --- the machine ----------------------------------------------------------------------------------


def test_the_reader_knows_no_instruction_that_calls_by_itself():
    assert not reader.Reader._STEPS.keys() & {"INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2"}


# --- safetensors ----------------------------------------------------------------------------------


@pytest.fixture
def safetensors():
    return pytest.importorskip("safetensors", reason="the library that writes the files")


def test_safetensors_files(torch, safetensors, tmp_path):
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    path = tmp_path / "model.safetensors"
    ours = {d: tg.tensor([[1, 0], [1, 1]], dtype=getattr(tg, d)).t() for d in DTYPES}
    ours |= {"none": tg.zeros(0, 3), "one": tg.tensor(2.5)}
    tg.utils.safetensors.save_file(ours, path, {"made": "by hand"})
    theirs = load_file(path)
    assert {k: v.tolist() for k, v in theirs.items()} == {k: v.tolist() for k, v in ours.items()}
    assert {k: str(v.dtype) for k, v in theirs.items()} == {
        k: str(v.dtype) for k, v in ours.items()
    }
    with safe_open(path, "np") as file:
        assert file.metadata() == {"made": "by hand"}
    save_file(theirs, path)
    back = tg.utils.safetensors.load_file(path)
    assert {k: v.tolist() for k, v in back.items()} == {k: v.tolist() for k, v in ours.items()}
    assert {k: v.dtype for k, v in back.items()} == {k: v.dtype for k, v in ours.items()}
    back["one"].add_(1)  # its memory is its own
    save_file({"w": torch.ones(2, dtype=torch.bfloat16)}, path)
    with pytest.raises(TypeError, match="BF16"):
        tg.utils.safetensors.load_file(path)


def test_what_safetensors_cannot_hold(safetensors, tmp_path):
    path, x = tmp_path / "model.safetensors", tg.ones(4)
    with pytest.raises(RuntimeError, match="'a' and 'b' share memory"):
        tg.utils.safetensors.save_file({"a": x, "b": x[:2]}, path)
    with pytest.raises(TypeError, match="'n' is a int"):
        tg.utils.safetensors.save_file({"n": 3}, path)
    assert not path.exists()
    path.write_bytes(b"something else")
    with pytest.raises(RuntimeError, match="no whole safetensors file"):
        tg.utils.safetensors.load_file(path)
    tg.utils.safetensors.save_file({"x": x}, path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(RuntimeError, match="no whole safetensors file"):
        tg.utils.safetensors.load_file(path)


def test_safetensors_is_asked_for_when_needed(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(ImportError, match="pip install"):
        tg.utils.safetensors.load_file(tmp_path / "model.safetensors")
