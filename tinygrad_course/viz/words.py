"""The graph in words: an indented outline, and sentences for a picture's alternative text.

Whoever cannot see the picture reads these. Lesson 04.
"""

from __future__ import annotations

from .graph import Graph, Node, printable


def outline(graph: Graph, max_lines: int = 200) -> str:
    """The graph as indented text, inputs below and right of what uses them.

    A node met again is named and not repeated; after `max_lines` the rest is counted.
    """
    into = graph.incoming()
    lines: list[str] = []
    seen: set[str] = set()
    roots = [node.id for node in graph.nodes if node.kind in ("output", "failed")]
    stack = [(key, 0) for key in reversed(roots)]
    while stack:
        key, depth = stack.pop()
        if len(lines) == max_lines:
            lines.append(f"... {len(graph.nodes) - len(seen)} more nodes")
            break
        node = graph[key]
        text = "  " * depth + printable(node.title)
        if key in seen:
            lines.append(f"{text} ({key}, see above)")
            continue
        seen.add(key)
        lines.append(f"{text}{remark(node)} {node.signature} {key}{_extras(graph, node)}")
        stack += [(edge.source, depth + 1) for edge in reversed(into[key])]
    return "\n".join(lines)


def describe(graph: Graph, max_items: int = 12) -> str:
    """The graph in sentences, from the leaves to the results: a picture's alternative text."""
    into, names = graph.incoming(), graph.names()
    leaves = [node for node in graph.nodes if node.kind == "leaf"]
    ops = [node for node in reversed(graph.nodes) if node.kind == "op"]

    def inputs(node: Node) -> str:
        return " and ".join(names[edge.source] for edge in into[node.id])

    listed = ", ".join(f"{names[leaf.id]} {leaf.signature}" for leaf in leaves[:max_items])
    rest = f" and {len(leaves) - max_items} more" if len(leaves) > max_items else ""
    sentences = [
        f"Autograd graph of {count(len(ops), 'operation', 'operations')} on"
        f" {count(len(leaves), 'leaf', 'leaves')}{': ' if leaves else ''}{listed}{rest}."
    ]
    sentences += [f"{names[node.id]} takes {inputs(node)}." for node in ops[:max_items]]
    if len(ops) > max_items:
        sentences.append(f"{count(len(ops) - max_items, 'more operation', 'more operations')}.")
    for node in graph.nodes:
        if node.kind == "output":
            story = f"comes from {inputs(node)}" if into[node.id] else "requires no gradient"
            sentences.append(f"{names[node.id]} {node.signature} {story}.")
    if graph.failed:
        sentences.append(f"{names[graph.failed]}: {graph.error}")
    return " ".join(sentences)


def count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def remark(node: Node) -> str:
    """What stands in brackets after a tensor's name, so that no colour says it alone."""
    known = node.kind in ("op", "failed") or node.name.startswith(node.kind)
    words = [] if known else [f"{node.kind} {node.op}" if node.kind == "module" else node.kind]
    if not node.requires_grad and node.tensor is not None:
        words.append("volatile" if node.tensor.volatile else "requires no gradient")
    return f" ({', '.join(words)})" if words else ""


def _extras(graph: Graph, node: Node) -> str:
    """What a recording or an error added to a node, after its line of the outline."""
    words = [f"in {node.module}"] if node.module else []
    words += [f"input {b.slot} {b.why} {b.source}".rstrip() for b in node.borders]
    words += [
        f"clash: saved at version {s.version}, which is {s.now} now" for s in node.saved if s.clash
    ]
    words += [f"failed with {graph.error}"] if node.id == graph.failed else []
    return "".join(f" [{text}]" for text in map(printable, words))
