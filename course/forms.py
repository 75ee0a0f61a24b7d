"""What can be asked in a form: a choice, a shape, a dtype, a number, an order, any plain value.

A question turns what was typed or chosen into the value that a learner would write in the cell. It
draws nothing; `course.asking` does. Lesson 00.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Question:
    """One field, or several in a row: `lists` has the values to choose from for each field.

    A field without such a list is typed, and `read` makes a value of its text.
    """

    lists: tuple[tuple[Any, ...], ...]
    read: Callable[[str], Any] = str
    words: tuple[Any, ...] = ()
    example: str = ""
    join: Callable[[list[Any]], Any] = lambda values: values[0]

    def value(self, fields: list[Any]) -> Any:
        """The answer in these fields; ValueError says what a typed text should look like."""
        parts = []
        for listed, field in zip(self.lists, fields, strict=True):
            parts.append(field if listed else self._typed(str(field).strip()))
        return self.join(parts)

    def _typed(self, text: str) -> Any:
        for word in self.words:
            if text.lower() == str(word).lower():
                return word
        try:
            return self.read(text)
        except (ValueError, SyntaxError, TypeError):
            words = "".join(f" or {word}" for word in self.words)
            raise ValueError(f"write it like {self.example}{words}") from None


Form = Question | Mapping[str, Question]
"""One question for every entry of the answer, or one for each by name."""


def choice(*values: Any) -> Question:
    """One of these values."""
    return Question((values,))


def dtype() -> Question:
    """The name of a dtype."""
    return choice(*DTYPES)


def shape_and_dtype() -> Question:
    """A pair of a shape and the name of a dtype.

    >>> shape_and_dtype().value(["2, 3", "int64"])
    ((2, 3), 'int64')
    """
    return Question(((), DTYPES), _shape, (), "2, 3", join=tuple)


def order(*values: Any) -> Question:
    """All of these values in some order, as a list.

    >>> order("a", "b").value(["b", "a"])
    ['b', 'a']
    """
    return Question((values,) * len(values), join=list)


def shape(*words: Any) -> Question:
    """A shape or another tuple of whole numbers, or one of the words.

    >>> shape("error").value(["2, 3"]), shape().value(["()"]), shape("error").value(["Error"])
    ((2, 3), (), 'error')
    >>> shape().value(["[1]"]), shape().value(["torch.Size([2, 3])"])
    ((1,), (2, 3))
    """
    return Question(((),), _shape, words, "2, 3")


def number(*words: Any) -> Question:
    """A number, or one of the words.

    >>> number(None).value(["1.5"]), number(None).value(["none"])
    (1.5, None)
    """
    return Question(((),), _number, words, "3")


def plain_value(*words: Any) -> Question:
    """Anything that Python writes without names, such as nested lists; or one of the words."""
    return Question(((),), ast.literal_eval, words, "[[1, 2], [3, 4]]")


def _shape(text: str) -> tuple[int, ...]:
    """Sizes in brackets of any kind, or none; without axes it takes brackets to say so."""
    sizes = re.fullmatch(r"torch\.Size\((.*)\)|(.*)", text)
    inner = re.fullmatch(r"\((.*)\)|\[(.*)\]|(.+)", sizes[1] or sizes[2]) if sizes else None
    if inner is None:
        raise ValueError(text)
    parts = (inner[1] or inner[2] or inner[3] or "").strip().removesuffix(",")
    return tuple(int(part) for part in parts.split(",")) if parts else ()


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


# ------------------------------------------------------------------ the answer's cell


def is_open(value: Any) -> bool:
    """Whether an entry is as it was given: `...`, or a tuple of them."""
    return value is ... or (isinstance(value, tuple) and any(part is ... for part in value))


def open_entries(answer: Any) -> list[str]:
    """The entries that nobody has answered yet; `""` stands for an answer that is no dict."""
    if isinstance(answer, dict):
        return [str(key) for key, value in answer.items() if is_open(value)]
    return [""] if answer is None or is_open(answer) else []


def written(source: str, name: str, chosen: Mapping[str, Any]) -> str:
    """A cell's text with the chosen values in place of what `name` is assigned there.

    >>> written("x = {'a': ..., 'b': ...}  # two", "x", {"b": (2, 3)})
    "x = {'a': ..., 'b': (2, 3)}  # two"
    """
    lines = source.encode().splitlines(keepends=True)
    places: list[tuple[ast.expr, Any]] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign) or [name] != [
            target.id for target in node.targets if isinstance(target, ast.Name)
        ]:
            continue
        if "" in chosen:
            places.append((node.value, chosen[""]))
        elif isinstance(node.value, ast.Dict):
            pairs = zip(node.value.keys, node.value.values, strict=True)
            places += [
                (value, chosen[str(key.value)])
                for key, value in pairs
                if isinstance(key, ast.Constant) and str(key.value) in chosen
            ]
    # From the end, so that what comes before keeps its place; the columns count bytes.
    for node, value in sorted(places, key=lambda p: (p[0].lineno, p[0].col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [before + repr(value).encode() + after]
    return b"".join(lines).decode()
