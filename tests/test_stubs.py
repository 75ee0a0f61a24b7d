"""The stub of Tensor's bound methods is up to date, and names what a running Tensor has."""

from tinygrad_course import stubs
from tinygrad_course.autograd.variable import Tensor


def test_the_stub_is_what_the_registry_binds():
    assert stubs.PATH.read_text(encoding="utf-8") == stubs.text(), (
        "run: python -m tinygrad_course.stubs"
    )


def test_the_stub_names_methods_operators_and_in_place_forms():
    for name in ("exp", "add_", "__mul__", "__getitem__", "max", "T"):
        assert f"def {name}(" in stubs.text()
        assert hasattr(Tensor, name)
