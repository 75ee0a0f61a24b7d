"""Data sets: the ones that come with the package, and the readers of MNIST's and CIFAR-10's files.

The files of the latter are made here, byte by byte, and then spoiled in every way.
"""

import gzip
import io
import os
import pickle
import struct

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.utils import data
from tinygrad_course.utils.data import cifar, first_names, japanese_vowels, mnist

# ---------------------------------------------------------------- Japanese vowels


@pytest.fixture(scope="module")
def vowels():
    return data.JapaneseVowels(), data.JapaneseVowels(train=False)


def test_vowels_are_as_their_authors_say(vowels):
    train, test = vowels
    assert (len(train), len(test)) == (270, 370)
    assert np.bincount(train.targets.numpy()).tolist() == [30] * 9
    assert np.bincount(test.targets.numpy()).tolist() == [31, 35, 88, 44, 29, 24, 40, 50, 29]
    steps = [len(frames) for part in vowels for frames, _ in part]
    assert min(steps) == 7 and max(steps) == 29
    assert all(frames.shape[1:] == (12,) for part in vowels for frames in part.data)
    # The first two numbers of the training file.
    first, speaker = train[0]
    assert first.dtype is tg.float32 and speaker.dtype is tg.int64 and speaker.shape == ()
    assert first.shape == (20, 12) and first[0, :2].tolist() == pytest.approx([1.860936, -0.207383])


def test_vowels_tell_speakers_apart(vowels):
    train, test = (
        (np.array([frames.numpy().mean(0) for frames, _ in part]), part.targets.numpy())
        for part in vowels
    )
    centres = np.array([train[0][train[1] == speaker].mean(0) for speaker in range(9)])
    nearest = ((test[0][:, None] - centres) ** 2).sum(2).argmin(1)
    assert (nearest == test[1]).mean() > 0.85  # chance would be 0.11


# ---------------------------------------------------------------- first names


@pytest.fixture(scope="module")
def names():
    return data.FirstNames(), data.FirstNames(train=False)


def test_first_names_are_those_of_the_census(names):
    train, test = names
    everyone = set(train.names) | set(test.names)
    assert len(train) + len(test) == len(everyone) == 5163
    women = {n for part in names for n, t in zip(part.names, part.targets, strict=True) if t == 0}
    assert {"mary", "patricia", "linda", "carol"} <= women
    assert not {"james", "john", "robert", "michael", "broderick"} & women
    share = {n: s for part in names for n, s in zip(part.names, part.shares.tolist(), strict=True)}
    assert share["mary"] == pytest.approx(2.629) and share["james"] == pytest.approx(3.318)


def test_a_fifth_of_the_names_is_held_out(names):
    for label in (0, 1):
        held, kept = (sum(t == label for t in part.targets.tolist()) for part in reversed(names))
        assert abs(held / (held + kept) - 0.2) < 0.001
    state = tg.get_rng_state()
    assert data.FirstNames(train=False).names == names[1].names
    assert (tg.get_rng_state() == state).all()  # reading them draws nothing


def test_names_are_letters_are_numbers(names):
    for name, (letters, label) in zip(names[1].names, names[1], strict=True):
        assert data.FirstNames.decode(letters) == name and len(letters) == len(name)
        assert label.item() in (0, 1)
    assert data.FirstNames.encode(".Zoe.").tolist() == [0, 26, 15, 5, 0]
    assert data.FirstNames.encode("").tolist() == []
    with pytest.raises(ValueError, match="'é' in 'Zoé' is not in the alphabet"):
        data.FirstNames.encode("Zoé")


# ---------------------------------------------------------------- the shipped files


def zipped_arrays(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


SHIPPED = {japanese_vowels: data.JapaneseVowels, first_names: data.FirstNames}
SPOILS = {
    "missing": lambda path, whole: None,
    "empty": lambda path, whole: path.write_bytes(b""),
    "half": lambda path, whole: path.write_bytes(whole[: len(whole) // 2]),
    "one byte": lambda path, whole: path.write_bytes(whole[:3000] + b"\0\0" + whole[3002:]),
    "foreign": lambda path, whole: path.write_bytes(b"no data" * 100),
    "a folder": lambda path, whole: path.mkdir(),
    "other arrays": lambda path, whole: path.write_bytes(zipped_arrays(other=np.zeros(3))),
    "other lines": lambda path, whole: path.write_bytes(gzip.compress(b"MARY F 1\nJOHN M 1\n")),
}


@pytest.mark.parametrize("module", SHIPPED, ids=lambda module: module.FILE.name)
@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_missing_or_damaged_file_says_so(module, spoil, tmp_path, monkeypatch):
    path = tmp_path / module.FILE.name
    spoil(path, module.FILE.read_bytes())
    monkeypatch.setattr(module, "FILE", path)
    with pytest.raises(RuntimeError, match=rf"{path.name} cannot be read: .*install it again"):
        SHIPPED[module]()


@pytest.mark.parametrize(
    ("notice", "words"),
    [
        ("japanese_vowels", ["CC BY 4.0", "Kudo", "Toyama", "Shimbo", "10.24432/C5NS47", "UCI"]),
        ("first_names", ["public domain", "Census Bureau", "1990", "www2.census.gov"]),
    ],
)
def test_the_notices_lie_beside_the_data(notice, words):
    path = japanese_vowels.FILE.with_name(f"{notice}.NOTICE.txt")
    text = path.read_text(encoding="utf-8")
    assert all(word in text for word in words)


# ---------------------------------------------------------------- MNIST

CODES = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}


def idx(array):
    header = struct.pack(
        f">HBB{array.ndim}I", 0, CODES[array.dtype.str[1:]], array.ndim, *array.shape
    )
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 5), ()])
def test_idx_files_of_all_types(tmp_path, kind, shape):
    array = (np.arange(np.prod(shape, dtype=int)) * 3 - 5).astype(kind).reshape(shape)
    (tmp_path / "plain").write_bytes(idx(array))
    (tmp_path / "zipped").write_bytes(gzip.compress(idx(array)))
    for name in ("plain", "zipped"):
        tensor = data.read_idx(tmp_path / name)
        assert tensor.numpy().dtype == array.dtype and tensor.tolist() == array.tolist()


IMAGES = np.random.RandomState(0).randint(0, 256, (5, 28, 28)).astype(np.uint8)
LABELS = np.array([3, 1, 4, 1, 5], np.uint8)


def write_mnist(folder, suffix="", pack=bytes, dot="-"):
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "t10k"):
        images, labels = (IMAGES, LABELS) if part == "train" else (IMAGES[:2], LABELS[:2])
        (folder / f"{part}-images{dot}idx3-ubyte{suffix}").write_bytes(pack(idx(images)))
        (folder / f"{part}-labels{dot}idx1-ubyte{suffix}").write_bytes(pack(idx(labels)))


@pytest.mark.parametrize("inside", ["", "MNIST/raw"])
@pytest.mark.parametrize("form", [("", bytes, "-"), ("", bytes, "."), (".gz", gzip.compress, "-")])
def test_mnist(tmp_path, inside, form):
    write_mnist(tmp_path / inside, *form)
    train, test = data.MNIST(tmp_path), data.MNIST(str(tmp_path), train=False)
    assert (len(train), len(test)) == (5, 2)
    assert train.data.dtype is tg.uint8 and train.data.shape == (5, 1, 28, 28)
    assert train.targets.tolist() == [3, 1, 4, 1, 5]
    image, label = train[2]
    assert image.shape == (1, 28, 28) and image.dtype is tg.float32
    assert label.item() == 4 and label.dtype is tg.int64
    wanted = (IMAGES[2] / 255 - 0.1307) / 0.3081
    assert np.allclose(image.numpy()[0], wanted, atol=1e-5)
    images, labels = next(iter(data.DataLoader(train, 4)))
    assert images.shape == (4, 1, 28, 28) and labels.tolist() == [3, 1, 4, 1]


def test_mnist_with_a_frame(tmp_path):
    write_mnist(tmp_path)
    framed = data.MNIST(tmp_path, size=32)
    assert framed.data.shape == (5, 1, 32, 32)
    assert (framed.data.numpy()[:, 0, 2:30, 2:30] == IMAGES).all()
    assert framed.data.numpy().sum() == IMAGES.sum(dtype=int)  # the frame is black
    for size in (27, 29, 0):
        with pytest.raises(ValueError, match=f"28 or more, got {size}"):
            data.MNIST(tmp_path, size=size)


WHOLE = idx(IMAGES)
BAD_IMAGES = {
    "missing": (None, r"no file train-images-idx3-ubyte or .*\.gz in "),
    "empty": (b"", r"expected 4 bytes of header, got 0"),
    "half a header": (WHOLE[:9], "expected 12 bytes of 3 sizes, got 5"),
    "cut off": (WHOLE[:-1], r"expected 3920 bytes of .*\(5, 28, 28\), got 3919: the file is cut"),
    "too long": (WHOLE + b"\0", "got 3921: the file goes on after it"),
    "wrong magic": (
        b"\x89PNG" + WHOLE[4:],
        "begins with 0, 0 and a type .*here are 137, 80 and 78",
    ),
    "unknown type": (b"\0\0\x07" + WHOLE[3:], "0, 0 and 7"),
    "giant": (b"\0\0\x08\x03" + b"\xff" * 12 + b"\0" * 9, "got 9: the file is cut"),
    "half a gzip file": (gzip.compress(WHOLE)[:500], "ended before|cut off"),
    "damaged gzip file": (gzip.compress(WHOLE)[:100] + b"\0" * 900, "ended before|invalid|CRC"),
    "other sizes": (idx(IMAGES[:, :27]), r"expected bytes of shape \(n, 28, 28\), got .*27"),
    "other type": (idx(IMAGES.astype(np.float32)), "got float32"),
    "labels instead": (idx(LABELS), r"got uint8 of \(5,\)"),
}


@pytest.mark.parametrize("name", BAD_IMAGES)
def test_bad_images_of_mnist(tmp_path, name):
    content, message = BAD_IMAGES[name]
    write_mnist(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(RuntimeError, match=message) as caught:
        data.MNIST(tmp_path)
    assert path.name in str(caught.value) and "https://" in str(caught.value)


@pytest.mark.parametrize(
    "labels", [LABELS[:4], np.array([1, 2, 3, 4, 10], np.uint8), LABELS.astype("i4")]
)
def test_bad_labels_of_mnist(tmp_path, labels):
    write_mnist(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(labels))
    with pytest.raises(RuntimeError, match=r"train-labels.*0 to 9 for each of the 5 images"):
        data.MNIST(tmp_path)


# ---------------------------------------------------------------- CIFAR-10

PIXELS = np.random.RandomState(1).randint(0, 256, (6, 3, 3, 32, 32)).astype(np.uint8)
KINDS = (np.arange(18) % 10).reshape(6, 3).astype(np.uint8)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(cifar, "PER_FILE", 3)  # of 10,000


def binary(pixels, labels):
    return b"".join(bytes([k]) + p.tobytes() for p, k in zip(pixels, labels, strict=True))


def text(word):
    """A string as Python 2 wrote it into a pickle."""
    return b"U" + bytes([len(word)]) + word


def python2(pixels, labels, kind=b"u1", reconstruct=b"numpy.core.multiarray\n_reconstruct"):
    """A batch as Python 2 pickled it, which is the form of the published files."""
    raw = pixels.tobytes()
    array = b"c" + reconstruct + b"\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R"
    dtype = b"cnumpy\ndtype\n" + text(kind) + b"K\x00K\x01\x87R"
    dtype += b"(K\x03" + text(b"|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = b"K" + bytes([len(pixels)]) + b"M\x00\x0c\x86"
    array += b"(K\x01" + shape + dtype + b"\x89T" + struct.pack("<i", len(raw)) + raw + b"tb"
    numbers = b"](" + b"".join(b"K" + bytes([k]) for k in labels) + b"e"
    items = text(b"batch_label") + text(b"small") + text(b"labels") + numbers
    return b"\x80\x02}q\x01(" + items + text(b"data") + array + b"u."


def write_cifar(folder, make=python2, ending=""):
    folder.mkdir(parents=True, exist_ok=True)
    stems = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    for stem, pixels, labels in zip(stems, PIXELS, KINDS, strict=True):
        (folder / (stem + ending)).write_bytes(make(pixels, labels))


def test_the_imitation_of_python_2_is_a_pickle():
    batch = pickle.loads(python2(PIXELS[0], KINDS[0]), encoding="bytes")
    assert batch[b"labels"] == [0, 1, 2] and (batch[b"data"] == PIXELS[0].reshape(3, -1)).all()


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("form", ["py", "bin"])
def test_cifar(tmp_path, form, inside):
    make, ending = (python2, "") if form == "py" else (binary, ".bin")
    write_cifar(tmp_path / f"cifar-10-batches-{form}" if inside else tmp_path, make, ending)
    train, test = data.CIFAR10(tmp_path), data.CIFAR10(tmp_path, train=False)
    assert (train.data.numpy() == PIXELS[:5].reshape(-1, 3, 32, 32)).all()
    assert (test.data.numpy() == PIXELS[5]).all()
    assert train.targets.tolist() == KINDS[:5].ravel().tolist() and len(test) == 3
    image, label = train[4]
    assert image.shape == (3, 32, 32) and image.dtype is tg.float32
    assert train.classes[label] == "cat" or label.item() == 4
    wanted = (PIXELS[1, 1, 2] / 255 - 0.4465) / 0.2616
    assert np.allclose(image.numpy()[2], wanted, atol=1e-5)


class Evil:
    def __reduce__(self):
        return os.mkdir, (os.environ["EVIL"],)


EVIL = {
    "a name": lambda: pickle.dumps(Evil(), 2),
    "a name, newest protocol": lambda: pickle.dumps({b"data": Evil(), b"labels": []}),
    "an old instance": lambda: b"(S'" + os.environ["EVIL"].encode() + b"'\nios\nmkdir\n.",
    "inside a batch": lambda: python2(PIXELS[0], KINDS[0], reconstruct=b"os\nmkdir"),
    "eval": lambda: b'cbuiltins\neval\n(S\'__import__("os").mkdir("x")\'\ntR.',
    "a harmless name": lambda: pickle.dumps({b"data": np.float64, b"labels": []}),
}


@pytest.mark.parametrize("name", EVIL)
def test_code_in_a_pickle_is_refused_and_not_run(tmp_path, name, monkeypatch):
    monkeypatch.setenv("EVIL", str(tmp_path / "evil"))
    write_cifar(tmp_path)
    (tmp_path / "test_batch").write_bytes(EVIL[name]())
    with pytest.raises(RuntimeError, match=r"test_batch cannot be read.*code that a file names"):
        data.CIFAR10(tmp_path, train=False)
    assert not (tmp_path / "evil").exists()


GOOD = python2(PIXELS[5], KINDS[5])
BAD_BATCHES = {
    "missing": (None, "no file test_batch.bin or test_batch in"),
    "empty": (b"", "EOFError"),
    "cut off": (GOOD[:5000], "truncated|EOFError"),
    "foreign": (b"no pickle at all", "Error"),
    "a list": (pickle.dumps([1]), "expected a dict"),
    "other keys": (pickle.dumps({b"data": 1}), "b'data' and b'labels'"),
    "data of numbers": (pickle.dumps({b"data": 1, b"labels": []}), "no array of 9216 bytes"),
    "fewer pictures": (python2(PIXELS[5, :2], KINDS[5]), "no array of 9216 bytes, 3 pictures"),
    "fewer labels": (python2(PIXELS[5], KINDS[5, :2]), "no list of 3 labels"),
    "a label of 10": (python2(PIXELS[5], np.array([1, 10, 2])), "labels are 0 to 9, here is 10"),
    "floats": (python2(PIXELS[5], KINDS[5], kind=b"f4"), "array of b'f4', not of bytes"),
}


@pytest.mark.parametrize("name", BAD_BATCHES)
def test_bad_batches_of_cifar(tmp_path, name):
    content, message = BAD_BATCHES[name]
    write_cifar(tmp_path)
    path = tmp_path / "test_batch"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(RuntimeError, match=message) as caught:
        data.CIFAR10(tmp_path, train=False)
    assert "test_batch" in str(caught.value) and "www.cs.toronto.edu" in str(caught.value)


@pytest.mark.parametrize(
    "change", [lambda b: b[:-1], lambda b: b + b"\0", lambda b: b"\x0a" + b[1:]]
)
def test_bad_binary_batches_of_cifar(tmp_path, change):
    write_cifar(tmp_path, binary, ".bin")
    path = tmp_path / "data_batch_3.bin"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(RuntimeError, match=r"data_batch_3\.bin cannot be read.*https"):
        data.CIFAR10(tmp_path)


def test_real_sizes_are_asked_of_real_files(tmp_path, monkeypatch):
    monkeypatch.undo()
    assert cifar.PER_FILE == 10_000 and mnist.MEAN == 0.1307
    write_cifar(tmp_path, binary, ".bin")
    with pytest.raises(RuntimeError, match=r"expected 30730000 bytes of 10000 pictures.*got 9219"):
        data.CIFAR10(tmp_path)
