"""The command `course`: the learner's, the teacher's and the author's side of the course.

Every command ends with status 0 when all is well, 1 when something was found wanting, and 2 with
one line of explanation when it could not do its work. It only talks; others do the work. Lesson 00.
"""

from course.cli.base import app

# isort: off
# Each module adds its commands to `app`, in the order in which `course --help` lists them.
from course.cli import learner, teacher, author

__all__ = ["app"]
