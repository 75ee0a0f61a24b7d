"""The glossary: the terms that the lessons introduce, with the Chinese word of the notes.

`course/content/glossary.toml` lists them; here they are put in order and shown. Lesson 00.
"""

import tomllib
from dataclasses import dataclass
from html import escape

from course.lesson import content_folder


@dataclass(frozen=True, slots=True)
class Term:
    """One term, and the lesson that explains it."""

    english: str
    chinese: str
    lesson: str


class Glossary:
    """The terms in alphabetical order, as a table in a notebook and as lines elsewhere."""

    def __init__(self) -> None:
        text = (content_folder() / "glossary.toml").read_text(encoding="utf-8")
        terms = [Term(**entry) for entry in tomllib.loads(text)["term"]]
        self.terms = sorted(terms, key=lambda term: term.english.lower())

    def __repr__(self) -> str:
        return "\n".join(f"{t.english} ({t.chinese}): {t.lesson}" for t in self.terms)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td>{escape(t.english)}</td><td lang="zh">{escape(t.chinese)}</td>'
            f"<td>{escape(t.lesson)}</td></tr>"
            for t in self.terms
        )
        head = (
            '<tr><th scope="col">term</th><th scope="col">中文</th><th scope="col">lesson</th></tr>'
        )
        return (
            f"<table><caption>Glossary</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"
        )


def glossary() -> Glossary:
    """The glossary of the course."""
    return Glossary()
