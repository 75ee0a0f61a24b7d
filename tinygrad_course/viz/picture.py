"""Pictures for a notebook and files for everything else: SVG, PNG, DOT, JSON, text.

A `Picture` is an image with alternative text, which untrusted notebooks show too. Without a program
to draw with, the words and the DOT text stand in its place. Lesson 04.
"""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import Any

from .dot import digraph, laid_out, svg
from .graph import Graph, Params, trace
from .words import describe, outline

FORMATS = ("svg", "png", "dot", "json", "txt")
NO_PROGRAM = "No program to draw with: pip install graphviz graphviz-pure"


class Picture:
    """A drawn graph: an `<img>`, which untrusted notebooks show too, and an outline in text."""

    def __init__(self, graph: Graph, alt: str | None, drawing: str | None) -> None:
        self.graph = graph
        self.alt = describe(graph) if alt is None else alt
        self.svg = drawing

    def __repr__(self) -> str:
        return f"Picture({len(self.graph.nodes)} nodes)"

    def _repr_html_(self) -> str:
        if self.svg is None:
            try:
                source = f"\n\n{digraph(self.graph).source}"
            except ImportError:
                source = ""
            text = html.escape(f"{outline(self.graph)}\n\n{NO_PROGRAM}{source}")
            return f"<pre>{text}</pre>"
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(self.alt)}">'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": outline(self.graph)}


def picture(out: Any, params: Params = None, alt: str | None = None, **options: Any) -> Picture:
    """The graph behind `out` as an image with alternative text (`alt`, or the graph in words).
    `options` are those of `make_dot`.

    >>> import tinygrad_course as tg
    >>> picture(tg.ones(3, requires_grad=True).sum())
    Picture(3 nodes)
    """
    graph = trace(out, params)
    return Picture(graph, alt, svg(graph, **options))


def render(out: Any, format: str = "svg", params: Params = None, **options: Any) -> bytes:
    """The graph behind `out` as the bytes of a file: "svg", "png", "dot", "json" (nodes and edges)
    or "txt" (the outline), the same bytes for the same program. `options` are those of `make_dot`.

    ValueError for another format; RuntimeError for svg and png without a program to draw with.

    >>> import tinygrad_course as tg
    >>> render(tg.ones(3, requires_grad=True).sum(), "txt").splitlines()[0]
    b'output () float32 n0'
    """
    graph = trace(out, params)
    if format == "json":
        return (json.dumps(as_dict(graph), ensure_ascii=False, indent=1) + "\n").encode()
    if format == "txt":
        return (outline(graph) + "\n").encode()
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    if format == "dot":
        source: str = digraph(graph, **options).source
        return source.encode()
    drawn = (svg(graph, **options) or "").encode() if format == "svg" else (
        laid_out(digraph(graph, **options).source, format))  # fmt: skip
    if not drawn:
        raise RuntimeError(
            f"there is no program that draws {format} here: pip install graphviz graphviz-pure"
        )
    return drawn


def save(out: Any, path: str | Path, params: Params = None, **options: Any) -> Path:
    """Writes the graph behind `out` to `path`, whose ending says how: .svg, .png, .dot (or .gv),
    .json, .txt. Returns the path; errors are those of `render`."""
    path = Path(path)
    format = path.suffix.removeprefix(".").lower()
    path.write_bytes(render(out, {"gv": "dot"}.get(format, format), params, **options))
    return path


def as_dict(graph: Graph) -> dict[str, Any]:
    """The graph in plain lists and dicts, for JSON."""
    nodes = []
    for node in graph.nodes:
        saved = [
            {"shape": list(s.shape), "dtype": s.dtype, "bytes": s.nbytes, "version": s.version}
            if s.dtype
            else {"value": s.text}
            for s in node.saved
        ]
        entry: dict[str, Any] = {
            "id": node.id,
            "kind": node.role,
            "op": node.op,
            "name": node.name,
            "shapes": [list(shape) for shape in node.shapes],
            "dtypes": list(node.dtypes),
            "requires_grad": node.requires_grad,
            "saved": saved,
            "hooks": list(node.hooks),
            "module": [f"{scope.path} #{scope.call}" for scope in node.scopes],
            "line": node.line,
        }
        nodes.append({key: value for key, value in entry.items() if value not in ([], "")})
    edges = [
        {"source": e.source, "target": e.target, "output": e.output, "input": e.input}
        for e in graph.edges
    ]
    failed = {"failed": graph.failed, "error": graph.error} if graph.failed else {}
    return {"nodes": nodes, "edges": edges} | failed
