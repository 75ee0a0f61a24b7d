"""Programs to run and to read: `python -m tinygrad_course.examples.NAME`."""
