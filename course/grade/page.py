"""One static HTML page for each learner, with points and feedback, and a list of all learners.

No script, no request to anywhere; all text of a learner's is escaped. It knows rows and decides
nothing. Lesson 00.
"""

from html import escape
from typing import TYPE_CHECKING

from course.files import plain

if TYPE_CHECKING:
    from course.grade.report import Row

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid #8886; }
pre { overflow-x: auto; padding: 0.6rem; border: 1px solid #8886; }
"""


def learner_page(learner: str, rows: "list[Row]") -> str:
    """What a learner gets back: each lesson with its exercises, points and feedback."""
    total = f"{sum(r.earned for r in rows):g} of {sum(r.points for r in rows):g} points"
    parts = [f"<h1>{_text(learner)}</h1>", f"<p>{total}</p>"]
    for row in rows:
        late = " · handed in late" if row.late else ""
        parts.append(f"<h2>{_text(row.lesson or row.file)}</h2>")
        if row.problem:
            parts.append(f"<p>{_text(row.problem)}</p>")
            continue
        parts.append(f"<p>{row.earned:g} of {row.points:g} points{late}</p>")
        for found in row.exercises:
            done = "right" if found["earned"] == found["points"] else "not right yet"
            points = f"{found['earned']:g} of {found['points']:g} points, {done}"
            parts += [
                f"<h3>{_text(found['title'])}</h3>",
                f"<p>{points}</p>",
                f"<pre>{_text(found['feedback'])}</pre>",
            ]
    return _page(learner, "\n".join(parts))


def overview(rows: "list[Row]", pages: dict[str, str]) -> str:
    """The teacher's list: each submission, with a link to the page of its learner."""
    lines = ["<tr><th>learner</th><th>lesson</th><th>points</th><th></th></tr>"]
    for row in rows:
        link = f'<a href="{escape(pages[row.learner])}">{_text(row.learner)}</a>'
        points = "–" if row.problem else f"{row.earned:g}/{row.points:g}"
        note = row.problem or ("late" if row.late else "")
        cells = (link, _text(row.lesson), points, _text(note))
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return _page("Grades", "<h1>Grades</h1>\n<table>\n" + "\n".join(lines) + "\n</table>")


def _text(text: str) -> str:
    return escape(plain(text, 30_000))


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
