// What stands beside the picture: the selected node, what the step adds, running gradients.

import { el, indented, table } from "./dom.js";

// A heat map: cells darker for larger magnitudes, with a minus sign below zero.
const heatMap = ({ name, cells, words }) => {
  const grid = el("div", { class: "gv-heat", role: "img", "aria-label": words, title: words });
  grid.style.gridTemplateColumns = `repeat(${cells[0].length}, 18px)`;
  for (const value of cells.flat()) {
    const cell = el("span", { "aria-hidden": "true" }, value < 0 ? "−" : "");
    cell.style.setProperty("--gv-share", `${Math.round(Math.abs(value) * 40)}%`);
    grid.append(cell);
  }
  return el("div", {}, el("div", {}, `${name}, small heat map`), grid);
};

// The rows of both sides under one another's names, in the order of either.
const merged = (mine, theirs) => {
  const sides = [mine, theirs].map((rows) => new Map(rows));
  const names = mine.map(([name]) => name);
  theirs.forEach(([name], at) => {
    const before = names.indexOf(theirs[at - 1]?.[0]);
    if (!names.includes(name)) names.splice(before + 1, 0, name);
  });
  return names.map((name) => [name, ...sides.map((rows) => rows.get(name) ?? "–")]);
};

// With `beside`, the panel has a second column for the reference.
export const makePanels = (get, beside) => {
  const panel = el("table", { class: "gv-panel" });
  const heats = el("div", { class: "gv-heats" });
  const lesson = el("p", { class: "gv-lesson" });
  const sums = el("table", { class: "gv-sums" });
  const gradients = el("table", { class: "gv-gradients" });
  const showPanel = () => {
    const rows = beside ? merged(get("panel"), get("twin_panel")) : get("panel");
    const heads = beside && rows.length ? ["", "yours", "the reference"] : [];
    table(panel, rows.length ? "Selected node" : "No node is selected", rows, heads);
    heats.replaceChildren(...get("heat").map(heatMap));
    const name = get("lesson");
    lesson.hidden = !name;
    const href = get("lesson_file");
    lesson.replaceChildren("Its lesson: ", href ? el("a", { href, target: "_blank", rel: "noopener" }, name) : name);
  };
  const showSums = () => {
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
  const showGradients = () => {
    const rows = get("gradients");
    gradients.hidden = !get("listing");
    table(gradients, rows.length ? "All running gradients" : "No gradient has arrived yet", rows);
  };
  return { parts: [panel, heats, lesson, sums, gradients], showPanel, showSums, showGradients };
};
