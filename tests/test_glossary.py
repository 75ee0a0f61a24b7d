"""Each term of the glossary is introduced, with its Chinese word, in the lesson that it names."""

import re
from collections import Counter

import pytest

from course.glossary import glossary
from course.lesson import content_folder

TERMS = glossary().terms


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.english)
def test_a_term_is_introduced_where_it_says(term) -> None:
    text = (content_folder() / term.lesson / "lesson.md").read_text(encoding="utf-8")
    assert re.search(rf"\([^()]*{term.chinese}", text)


def test_no_term_is_there_twice() -> None:
    for words in ([t.english.lower() for t in TERMS], [t.chinese for t in TERMS]):
        assert [word for word, count in Counter(words).items() if count > 1] == []


def test_it_is_shown_in_order_as_text_and_as_a_table() -> None:
    lines, html = repr(glossary()).splitlines(), glossary()._repr_html_()
    assert lines == sorted(lines, key=str.lower) and len(lines) == len(TERMS)
    assert html.count("<tr>") == len(TERMS) + 1
    assert "tensor (张量): 00_start" in lines
