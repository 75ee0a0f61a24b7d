"""The engine's drawings, under the name by which lessons import them."""

from tinygrad_course.drawing import Drawing, curves, diagram, images, memory, numbers

__all__ = ["Drawing", "curves", "diagram", "images", "memory", "numbers"]
