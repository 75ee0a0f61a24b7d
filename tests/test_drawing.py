"""The lessons' drawings: well-formed, with alternative text, and true to what they are given."""

import re
from xml.etree import ElementTree

import pytest

import tinygrad_course as tg
from tinygrad_course.drawing import Drawing, curves, diagram, images, memory, numbers

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: Drawing) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(drawing.svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    "draw",
    [
        lambda alt: numbers([[1, 2], [3, 4]], alt, title="a < b"),
        lambda alt: memory(tg.arange(4), alt),
        lambda alt: memory(tg.zeros(0), alt),
        lambda alt: curves({"loss": [1.0, 0.5]}, alt, x_label="step"),
        lambda alt: curves({"flat": [2.0, 2.0], "gap": [float("nan"), 2.0]}, alt),
        lambda alt: curves({"nothing": []}, alt),
        lambda alt: images([tg.eye(3), [[0, 0]]], alt, titles=["one", "none"]),
        lambda alt: diagram({"a": ("<", 0, 0)}, [("a", "a")], alt, marked=["a"]),
    ],
)
def test_a_drawing_is_an_image_with_words(draw):
    drawing = draw('"a" & b')
    ElementTree.fromstring(drawing.svg)
    assert draw('"a" & b').svg == drawing.svg
    assert repr(drawing) == '"a" & b'
    assert 'alt="&quot;a&quot; &amp; b"' in drawing._repr_html_()
    with pytest.raises(ValueError, match="needs alt"):
        draw(" ")


def test_memory_names_the_places_that_read_a_cell():
    x = tg.tensor([[10, 20, 30], [40, 50, 60]]).t()[1:]
    found = texts(memory(x, "a part of a transposed matrix"))
    assert found[0].split() == "shape (2, 2) stride (1, 3) offset 1".split()
    cells = {20: "[0,0]", 30: "[1,0]", 50: "[0,1]", 60: "[1,1]"}  # x[i][j] by hand
    assert all(found[found.index(str(value)) + 1] == place for value, place in cells.items())
    shared = texts(memory(tg.tensor([[7]]).expand(1, 3), "one cell read three times"))
    assert shared[-3:] == ["[0,0]", "[0,1]", "[0,2]"]


def test_what_rounding_left_of_0_is_0_at_an_axis():
    svg = curves({"y": [-1.0, -2e-7]}, "up to nearly 0").svg
    assert ">-1</text>" in svg and ">0</text>" in svg and "e-07" not in svg


def test_curves_keep_the_order_of_their_values():
    path = re.search(r'd="M([^"V]+)" fill', curves({"y": [3.0, 1.0, 2.0]}, "down, then up").svg)
    heights = [float(point.split()[1]) for point in path[1].split("L")]
    assert heights[0] < heights[2] < heights[1]  # an SVG counts downwards


def test_arrows_lead_from_border_to_border():
    boxes = {"a": ("a", 0, 0), "b": ("b", 1, 0), "c": ("c", 0, 1)}
    svg = diagram(boxes, [("a", "b"), ("c", "a")], "b from a from c", marked=["b"]).svg
    lines = [
        tuple(map(float, p)) for p in re.findall(r'M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', svg)
    ]
    rects = [
        tuple(float(e.get(name)) for name in ("x", "y", "width", "height"))
        for e in ElementTree.fromstring(svg).iter(f"{SVG}rect")
        if e.get("x")
    ]
    (ax, ay, w, h), (bx, _, _, _), (_, cy, _, _) = rects
    assert lines[0] == (ax + w, ay + h / 2, bx, ay + h / 2)
    assert lines[1] == (ax + w / 2, cy, ax + w / 2, ay + h)
