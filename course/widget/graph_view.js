// The browser's half of GraphView: shows what Python sends and reports two things back, the selected
// node and the wanted step. It computes nothing, loads nothing and lays nothing out.

const el = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

// The lines of `text` under one another, right of `before`.
const indented = (before, text) => before + text.replaceAll("\n", "\n" + " ".repeat(before.length));

let views = 0; // every view of a notebook needs an id of its own

function render({ model, el: root }) {
  const get = (name) => model.get(name);
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const keysId = `graph-view-${(views += 1)}-keys`;

  // ---------------------------------------------------------------- the parts

  const buttons = Object.fromEntries(
    [
      ["start", "|◂", "To the start", () => 0],
      ["back", "◂ Back", "Back one step", () => get("step") - 1],
      ["next", "Next ▸", "Next step", () => get("step") + 1],
      ["end", "▸|", "To the end", () => get("last")],
    ].map(([key, text, words, target]) => {
      const button = el("button", { type: "button", "data-step": key, "aria-label": words, title: words }, text);
      button.addEventListener("click", () => set("step", Math.min(Math.max(target(), 0), get("last"))));
      return [key, button];
    }),
  );
  const slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Step of the backward pass" });
  slider.addEventListener("input", () => set("step", Number(slider.value)));
  const count = el("span", { class: "gv-count", "aria-hidden": "true" });
  const player = el(
    "div", { class: "gv-player", role: "group", "aria-label": "Backward pass" },
    buttons.start, buttons.back, buttons.next, buttons.end, slider, count,
  );
  const status = el("p", { class: "gv-status", role: "status", "aria-live": "polite" });
  const canvas = el("div", { class: "gv-canvas", role: "listbox", "aria-describedby": keysId });
  const keys = el(
    "p", { class: "gv-keys", id: keysId },
    "Arrows point where the data goes; gradients go the other way. Click a node, or walk: ↑ to its " +
      "inputs, ↓ to its users, ← → to its neighbours, Home, End, Esc.",
  );
  const panel = el("table", { class: "gv-panel" });
  const sums = el("table", { class: "gv-sums" });
  const outline = el("pre", { tabindex: 0, role: "region", "aria-label": "The graph as text" });
  const text = el("details", {}, el("summary", {}, "The graph as text"), outline);
  root.classList.add("graph-view");
  // JupyterLab would take arrows, Enter and Escape for its cells. With Ctrl and the like they stay its.
  root.addEventListener("keydown", (event) => {
    if (!event.altKey && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  root.append(
    player, status,
    el("div", { class: "gv-body" },
      el("div", { class: "gv-left" }, canvas, keys),
      el("div", { class: "gv-right" }, panel, sums, text)),
  );

  // ---------------------------------------------------------------- the drawing

  const shapes = new Map(); // node id -> its <g>
  const about = new Map(get("nodes").map((node) => [node.id, node]));
  const svg = new DOMParser().parseFromString(get("svg"), "image/svg+xml").documentElement;
  if (svg.tagName === "svg") {
    canvas.append(document.importNode(svg, true));
    // A wide graph shrinks with the cell, as far as its words stay legible; then it scrolls.
    canvas.firstChild.style.minWidth = `${0.75 * parseFloat(svg.getAttribute("width"))}pt`;
  } else {
    canvas.textContent = "There is no program to draw the graph with: pip install graphviz-pure";
    text.open = true;
  }
  canvas.setAttribute("aria-label", get("label"));
  outline.textContent = get("outline");

  const edges = [...canvas.querySelectorAll("g.edge")].map((edge) => [
    edge.querySelector("title").textContent, edge,
  ]);
  for (const [, edge] of edges) edge.setAttribute("aria-hidden", "true");
  for (const shape of canvas.querySelectorAll("g.node")) {
    const id = shape.querySelector("title").textContent;
    if (!about.has(id)) continue; // the box that counts what was left out
    shapes.set(id, shape);
    shape.dataset.node = id;
    shape.setAttribute("role", "option");
    shape.addEventListener("click", () => walk(id));
    const corners = shape.querySelector("polygon").getAttribute("points").trim().split(/\s+/)
      .map((point) => point.split(",").map(Number));
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "text");
    mark.setAttribute("class", "gv-mark");
    mark.setAttribute("x", Math.max(...corners.map(([x]) => x)));
    mark.setAttribute("y", Math.min(...corners.map(([, y]) => y)) - 3);
    shape.append(mark);
    shape.parentNode.append(shape); // over the arrows, so that the mark stays legible
  }
  for (const title of canvas.querySelectorAll("title")) title.remove(); // tooltips like "n3->n1"

  // ---------------------------------------------------------------- walking

  let via = ""; // the user that the walk came down from: its other inputs are the neighbours
  const seen = (ids) => ids.filter((id) => shapes.has(id));
  const walk = (id) => {
    set("selected", id);
    shapes.get(id).focus();
  };
  const neighbour = (node, direction) => {
    const users = seen(node.users);
    const user = users.includes(via) ? via : users[0];
    const row = user
      ? seen(about.get(user).inputs)
      : [...shapes.keys()].filter((id) => !seen(about.get(id).users).length);
    const ring = [...new Set(row)];
    return ring[(ring.indexOf(node.id) + direction + ring.length) % ring.length];
  };
  canvas.addEventListener("keydown", (event) => {
    const node = about.get(event.target.dataset.node);
    if (!node || event.altKey || event.ctrlKey || event.metaKey) return;
    const ids = [...shapes.keys()];
    const target = {
      ArrowUp: () => seen(node.inputs)[0],
      ArrowDown: () => (seen(node.users).includes(via) ? via : seen(node.users)[0]),
      ArrowLeft: () => neighbour(node, -1),
      ArrowRight: () => neighbour(node, 1),
      Home: () => ids[0],
      End: () => ids[ids.length - 1],
      Enter: () => node.id,
      " ": () => node.id,
      Escape: () => "",
    }[event.key];
    if (!target) return;
    event.preventDefault();
    const id = target();
    if (event.key === "ArrowUp" && id) via = node.id;
    if (event.key === "Escape") set("selected", "");
    else if (id) walk(id);
  });

  // ---------------------------------------------------------------- showing the state

  const showSelection = () => {
    const selected = get("selected");
    const entry = shapes.has(selected) ? selected : shapes.keys().next().value;
    for (const [id, shape] of shapes) {
      shape.classList.toggle("gv-selected", id === selected);
      shape.setAttribute("aria-selected", id === selected);
      shape.setAttribute("tabindex", id === entry ? 0 : -1);
    }
  };
  const showPanel = () => {
    const rows = get("panel");
    panel.replaceChildren(
      el("caption", {}, rows.length ? "Selected node" : "No node is selected"),
      ...rows.map(([key, value]) =>
        el("tr", {}, el("th", { scope: "row" }, key), el("td", { "data-row": key }, value))),
    );
  };
  const showStep = () => {
    const [step, last, marks, active] = ["step", "last", "marks", "active"].map(get);
    slider.max = last;
    slider.value = step;
    slider.setAttribute("aria-valuetext", get("status"));
    count.textContent = `${step} / ${last}`;
    player.hidden = last === 0;
    // Not `disabled`, which would take the keyboard's focus away from who pressed it last.
    for (const key of ["start", "back"]) buttons[key].setAttribute("aria-disabled", step === 0);
    for (const key of ["next", "end"]) buttons[key].setAttribute("aria-disabled", step === last);
    status.textContent = get("status");
    for (const [id, shape] of shapes) {
      const mark = marks[id] || "";
      shape.querySelector(".gv-mark").textContent = mark;
      shape.setAttribute("aria-label", about.get(id).label + (mark && `, ${mark}`));
      shape.classList.toggle("gv-now", mark === "now");
      shape.classList.toggle("gv-done", mark === "done");
    }
    for (const [title, edge] of edges) edge.classList.toggle("gv-active", active.includes(title));
    const rows = get("sums");
    sums.hidden = rows.length === 0;
    sums.replaceChildren(
      el("caption", {}, "This step adds"),
      ...rows.flatMap(([where, value, sum, arrived]) => [
        `to ${where} (${arrived})`,
        indented("+= ", value) + (sum === value ? "" : "\n" + indented("=  ", sum)),
      ].map((text) => el("tr", {}, el("td", {}, text)))),
    );
  };

  const watch = { selected: showSelection, panel: showPanel };
  for (const trait of ["step", "last", "status", "marks", "active", "sums"]) watch[trait] = showStep;
  for (const [trait, show] of Object.entries(watch)) model.on(`change:${trait}`, show);
  showSelection();
  showPanel();
  showStep();
  return () => {
    for (const [trait, show] of Object.entries(watch)) model.off(`change:${trait}`, show);
  };
}

export default { render };
