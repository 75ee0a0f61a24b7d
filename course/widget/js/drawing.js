// One picture of a graph: boxes that can be selected, marks on them, zoom and pan.

import { drawn, el, foreign, parsed } from "./dom.js";

const numbers = (polygon) =>
  polygon.getAttribute("points").trim().split(/\s+/).map((point) => point.split(",").map(Number));

// A word outside a corner of a box: over its right end, or under its left start.
const corner = (shape, side) => {
  const points = [...shape.querySelectorAll("polygon")].flatMap(numbers);
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const place = side === "end" ? { x: Math.max(...xs), y: Math.min(...ys) - 3 } : { x: Math.min(...xs), y: Math.max(...ys) + 10 };
  const mark = drawn("text", { class: `gv-mark gv-${side}`, ...place });
  shape.append(mark);
  return mark;
};

const say = (shape, side, words) => {
  const mark = shape.querySelector(`.gv-mark.gv-${side}`) || (words && corner(shape, side));
  if (mark) mark.textContent = words;
};

export const nodeId = (shape) => shape.dataset.node;

// Graphviz's tooltips ("n3", "n3->n1") become data, its frames' titles come before the arrows.
const adopt = (svg) => {
  for (const each of svg.querySelectorAll("g.node, g.edge")) {
    each.dataset[each.classList.contains("node") ? "node" : "edge"] = each.querySelector("title").textContent;
  }
  for (const edge of svg.querySelectorAll("g.edge")) edge.setAttribute("aria-hidden", "true");
  for (const title of svg.querySelectorAll("title")) title.remove();
  for (const frame of svg.querySelectorAll("g.cluster")) {
    const words = frame.querySelector("text");
    words.classList.add("gv-frame");
    frame.parentNode.append(words);
  }
};

// `source` has functions that give what there is to show: svg, label, nodes, differs, selected (the
// boxes to select, the first one there is taken), marks, active.
export class Drawing {
  constructor(source, keysId) {
    this.source = source;
    this.forget();
    this.onSelect = () => {};
    this.canvas = el("div", { class: "gv-canvas", role: "listbox", "aria-describedby": keysId });
    this.letDrag();
    this.canvas.addEventListener("keydown", (event) => {
      if (foreign(event)) return;
      const by = { ArrowUp: [0, -60], ArrowDown: [0, 60], ArrowLeft: [-60, 0], ArrowRight: [60, 0] }[event.key];
      const zoom = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
      if (event.shiftKey && by) this.canvas.scrollBy(...by);
      else if (zoom) this.zoom(zoom);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    });
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.1 : 0.9);
    }, { passive: false });
  }

  // What is known of the SVG: its boxes by id, its arrows by their ends, and what has been done to
  // them, so that only changes have to be drawn.
  forget() {
    Object.assign(this, { shapes: new Map(), edges: new Map(), told: new Map(), lit: [], selected: null, entry: null });
  }

  // Puts the present SVG in place of the one before. False when there was nothing to draw with.
  draw() {
    const had = this.canvas.contains(document.activeElement);
    this.forget();
    this.about = new Map(this.source.nodes().map((node) => [node.id, node]));
    const svg = parsed(this.source.svg());
    this.svg = svg;
    this.canvas.setAttribute("aria-label", this.source.label());
    if (!svg) {
      this.canvas.textContent = "There is no program to draw the graph with: pip install graphviz graphviz-pure";
      return false;
    }
    // A wide graph shrinks with the cell, as far as its words stay legible; then it scrolls.
    svg.style.minWidth = `${0.75 * parseFloat(svg.getAttribute("width"))}pt`;
    adopt(svg);
    const differs = this.source.differs();
    const front = document.createDocumentFragment(); // over the arrows, so that marks stay legible
    for (const shape of svg.querySelectorAll("g.node")) {
      const id = nodeId(shape);
      if (!this.about.has(id)) continue; // a box that is no node: what was left out, kept, cut off
      this.shapes.set(id, shape);
      for (const [name, value] of [["role", "option"], ["aria-selected", false], ["tabindex", -1]]) shape.setAttribute(name, value);
      shape.dataset.lmSuppressShortcuts = "true"; // keeps JupyterLab from taking "c" to copy its cell
      if (differs[id]) say(shape, "start", `≠ ${differs[id]}`);
      shape.classList.toggle("gv-differs", Boolean(differs[id]));
      front.append(shape);
    }
    for (const edge of svg.querySelectorAll("g.edge")) {
      const key = edge.dataset.edge;
      this.edges.set(key, [...(this.edges.get(key) || []), edge]);
    }
    (svg.querySelector("g.graph") || svg).append(front);
    this.canvas.replaceChildren(svg);
    this.canvas.onclick = (event) => {
      const shape = event.target.closest("g.node");
      if (shape && this.shapes.has(nodeId(shape)) && !this.dragged) this.onSelect(nodeId(shape));
    };
    this.showSelection();
    this.showStep();
    if (had) this.shapes.get(this.entry)?.focus();
    return true;
  }

  zoom(factor) {
    if (!this.svg) return;
    const width = this.svg.getBoundingClientRect().width * factor;
    Object.assign(this.svg.style, { width: `${width}px`, minWidth: "0", maxWidth: "none" });
  }

  // The whole graph in sight.
  fit() {
    if (!this.svg) return;
    const { width, height } = this.svg.getBoundingClientRect();
    const room = Math.min((this.canvas.clientWidth - 12) / width, (this.canvas.clientHeight - 26) / height);
    this.zoom(room);
  }

  letDrag() {
    let from = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (event.button === 0) from = [event.clientX, event.clientY];
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const [x, y] = [event.clientX - from[0], event.clientY - from[1]];
      if (!this.dragged && Math.hypot(x, y) < 5) return;
      this.dragged = true;
      this.canvas.scrollBy(-x, -y);
      from = [event.clientX, event.clientY];
    });
    this.canvas.addEventListener("pointerup", () => { from = null; });
  }

  // Moves the picture, and nothing around it, until the box can be seen.
  reveal(id) {
    const [shape, frame] = [this.shapes.get(id), this.canvas].map((each) => each?.getBoundingClientRect());
    if (!shape) return;
    const past = (low, high, from, to) => Math.min(low - from, 0) || Math.max(high - to, 0);
    this.canvas.scrollBy(past(shape.left, shape.right, frame.left, frame.right),
      past(shape.top - 18, shape.bottom + 18, frame.top, frame.bottom));
  }

  showSelection() {
    const selected = this.source.selected().find((id) => this.shapes.has(id));
    const entry = selected || this.shapes.keys().next().value; // where Tab arrives
    const change = (before, now, on, off) => {
      if (before === now) return;
      if (this.shapes.has(before)) off(this.shapes.get(before));
      if (this.shapes.has(now)) on(this.shapes.get(now));
    };
    const mark = (on) => (shape) => {
      shape.classList.toggle("gv-selected", on);
      shape.setAttribute("aria-selected", on);
    };
    change(this.selected, selected, mark(true), mark(false));
    change(this.entry, entry, (shape) => shape.setAttribute("tabindex", 0), (shape) => shape.setAttribute("tabindex", -1));
    Object.assign(this, { selected, entry });
  }

  showStep() {
    const [marks, active, differs] = ["marks", "active", "differs"].map((name) => this.source[name]());
    for (const [id, shape] of this.shapes) {
      const mark = marks[id] || "";
      if (this.told.get(id) === mark) continue;
      this.told.set(id, mark);
      say(shape, "end", mark);
      shape.setAttribute("aria-label", [this.about.get(id).label, mark, differs[id]].filter(Boolean).join(", "));
      for (const state of ["now", "done", "failed"]) shape.classList.toggle(`gv-${state}`, mark === state);
    }
    for (const edge of this.lit) edge.classList.remove("gv-active");
    this.lit = active.flatMap((key) => this.edges.get(key) || []);
    for (const edge of this.lit) edge.classList.add("gv-active");
  }
}
