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

export const makePanels = (get) => {
  const panel = el("table", { class: "gv-panel" });
  const heats = el("div", { class: "gv-heats" });
  const lesson = el("p", { class: "gv-lesson" });
  const sums = el("table", { class: "gv-sums" });
  const gradients = el("table", { class: "gv-gradients" });
  const showPanel = () => {
    const rows = get("panel");
    table(panel, rows.length ? "Selected node" : "No node is selected", rows);
    heats.replaceChildren(...get("heat").map(heatMap));
    const name = get("lesson");
    lesson.hidden = !name;
    // The lessons lie in one folder, so the one beside this notebook.
    const link = { href: `${name}.ipynb`, target: "_blank", rel: "noopener" };
    lesson.replaceChildren("Its lesson: ", el("a", link, name));
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
