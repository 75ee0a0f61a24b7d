// The picture of the graph: boxes that can be selected, marks on them, zoom and pan.

import { drawn, el, foreign, parsed } from "./dom.js";

// A word over the upper corner of a box, on one side.
const corner = (shape, side) => {
  const points = [...shape.querySelectorAll("polygon")].flatMap((polygon) =>
    polygon.getAttribute("points").trim().split(/\s+/).map((point) => point.split(",").map(Number)));
  const xs = points.map(([x]) => x);
  const x = side === "end" ? Math.max(...xs) : Math.min(...xs);
  const y = Math.min(...points.map(([, y]) => y)) - 3;
  const mark = drawn("text", { class: `gv-mark gv-${side}`, x, y });
  shape.append(mark);
  return mark;
};

export const nodeId = (shape) => shape.dataset.node;

// The boxes of an SVG that Graphviz made, by node id; its tooltips ("n3->n1") become data.
export const boxes = (svg) => {
  const shapes = new Map();
  for (const shape of svg.querySelectorAll("g.node")) {
    shape.dataset.node = shape.querySelector("title").textContent;
    shapes.set(shape.dataset.node, shape);
  }
  for (const edge of svg.querySelectorAll("g.edge")) {
    edge.dataset.edge = edge.querySelector("title").textContent;
    edge.setAttribute("aria-hidden", "true");
  }
  for (const title of svg.querySelectorAll("title")) title.remove();
  for (const frame of svg.querySelectorAll("g.cluster")) {
    const words = frame.querySelector("text");
    words.classList.add("gv-frame");
    frame.parentNode.append(words); // over the arrows that cross it
  }
  return shapes;
};

export const markBoxes = (shapes, words) => {
  for (const [id, shape] of shapes) {
    const mark = shape.querySelector(".gv-mark.gv-start") || corner(shape, "start");
    mark.textContent = words[id] ? `≠ ${words[id]}` : "";
    shape.classList.toggle("gv-differs", Boolean(words[id]));
  }
};

export class Drawing {
  constructor(get, keysId, onSelect) {
    this.get = get;
    this.onSelect = onSelect;
    this.shapes = new Map();
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

  // Puts the present SVG in place of the one before. False when there was nothing to draw with.
  draw() {
    const about = new Map(this.get("nodes").map((node) => [node.id, node]));
    this.about = about;
    this.shapes = new Map();
    const svg = parsed(this.get("svg"));
    this.svg = svg;
    this.canvas.setAttribute("aria-label", this.get("label"));
    if (!svg) {
      this.canvas.textContent = "There is no program to draw the graph with: pip install graphviz-pure";
      return false;
    }
    // A wide graph shrinks with the cell, as far as its words stay legible; then it scrolls.
    this.points = parseFloat(svg.getAttribute("width"));
    svg.style.minWidth = `${0.75 * this.points}pt`;
    this.canvas.replaceChildren(svg);
    for (const [id, shape] of boxes(svg)) {
      if (!about.has(id)) continue; // a box that is no node: what was left out, kept, cut off
      this.shapes.set(id, shape);
      shape.setAttribute("role", "option");
      shape.dataset.lmSuppressShortcuts = "true"; // keeps JupyterLab from taking "c" to copy its cell
      shape.addEventListener("click", () => this.dragged || this.onSelect(id));
      corner(shape, "end");
      shape.parentNode.append(shape); // over the arrows, so that the mark stays legible
    }
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

  showSelection() {
    const wanted = this.get("selected");
    const selected = this.shapes.has(wanted) || !wanted ? wanted : this.get("highlight");
    const entry = this.shapes.has(selected) ? selected : this.shapes.keys().next().value;
    for (const [id, shape] of this.shapes) {
      shape.classList.toggle("gv-selected", id === selected);
      shape.setAttribute("aria-selected", id === selected);
      shape.setAttribute("tabindex", id === entry ? 0 : -1);
    }
  }

  showStep() {
    const [marks, active, differs] = [this.get("marks"), this.get("active"), this.get("reference").here || {}];
    for (const [id, shape] of this.shapes) {
      const mark = marks[id] || "";
      const words = [this.about.get(id).label, mark, differs[id]].filter(Boolean);
      shape.querySelector(".gv-mark.gv-end").textContent = mark;
      shape.setAttribute("aria-label", words.join(", "));
      for (const state of ["now", "done", "failed"]) shape.classList.toggle(`gv-${state}`, mark === state);
    }
    for (const edge of this.canvas.querySelectorAll("g.edge")) {
      edge.classList.toggle("gv-active", active.includes(edge.dataset.edge));
    }
  }
}
