"""Every name of the notes is shown by a cell of the lesson that stands for it."""

import pytest

from course.lesson import content_folder, lesson_folders, load_lesson
from course.syllabus import BOX, sections, shown_by, table

LESSONS = [load_lesson(folder.name) for folder in lesson_folders()]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_nothing_is_left_out(lesson) -> None:
    assert [f"{s.notes} {s.about}: {s.item}" for s in shown_by(lesson) if not s.cell] == []


def test_sections_name_lessons_that_are_there() -> None:
    names = {lesson.name for lesson in LESSONS}
    assert {section["lesson"] for section in sections()} - names == set()


def test_a_box_begins_as_it_should() -> None:
    assert BOX.search("text\n\n> **The notes say** that 2 is 3.\n>\n> **What happens.** …")
    assert not BOX.search("The notes say that 2 is 3.")


def test_the_table_is_what_the_lessons_make() -> None:
    assert (content_folder() / "syllabus.md").read_text(encoding="utf-8") == table(LESSONS)
