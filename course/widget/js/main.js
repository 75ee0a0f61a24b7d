// The browser's half of GraphView: shows what Python sends and reports what the learner does. It
// computes no gradient, loads nothing and lays nothing out.

import { el, parsed } from "./dom.js";
import { Drawing, boxes, markBoxes } from "./drawing.js";
import { letWalk } from "./walking.js";
import { makePlayer } from "./player.js";
import { makePanels } from "./panels.js";
import { makeQuestion, makeTools } from "./tools.js";

let views = 0; // every view of a notebook needs an id of its own

const KEYS =
  "Arrows point where the data goes; gradients go the other way. Click a node, or walk: ↑ to its " +
  "inputs, ↓ to its users, ← → to its neighbours, Home, End, Esc. Drag or Shift+arrows move the " +
  "picture, + − 0 zoom, c and e collapse and expand modules.";

const reference = ({ svg, label, there, words }) => {
  const drawing = parsed(svg) || el("span", {}, "No program to draw with: pip install graphviz-pure");
  markBoxes(boxes(drawing), there);
  const canvas = el("div", { class: "gv-canvas", role: "img", "aria-label": label, tabindex: 0 }, drawing);
  return el("section", { class: "gv-reference", "aria-label": "Beside the reference" },
    el("p", { class: "gv-title" }, "The reference"), canvas, el("pre", { class: "gv-differences", tabindex: 0 }, words));
};

function render({ model, el: root }) {
  const get = (name) => model.get(name);
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const send = (content) => model.send(content);
  const keysId = `graph-view-${(views += 1)}-keys`;

  // ---------------------------------------------------------------- the parts

  const select = (id, focus = true) => {
    set("selected", id);
    if (id && focus) drawing.shapes.get(id).focus();
    else if (id) drawing.shapes.get(id).scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const drawing = new Drawing(get, keysId, select);
  const player = makePlayer(get, set, send);
  const panels = makePanels(get);
  const tools = makeTools(get, set, drawing, select);
  const question = makeQuestion(get, send);
  letWalk(drawing, select, tools.fold);
  const status = el("p", { class: "gv-status", role: "status", "aria-live": "polite" });
  const clashes = el("ul", { class: "gv-clashes", "aria-label": "In-place clashes" });
  const keys = el("p", { class: "gv-keys", id: keysId }, KEYS);
  const outline = el("pre", { tabindex: 0, role: "region", "aria-label": "The graph as text" }, get("outline"));
  const text = el("details", { class: "gv-text" }, el("summary", {}, "The graph as text"), outline);
  root.classList.add("graph-view");
  // JupyterLab would take arrows, Enter and Escape for its cells. With Ctrl and the like they stay its.
  root.addEventListener("keydown", (event) => {
    if (!event.altKey && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  const beside = get("reference").svg === undefined ? [] : [reference(get("reference"))];
  root.append(
    player.player, player.memory, status, clashes, question.form, question.verdict,
    tools.tools, tools.modules,
    el("div", { class: "gv-body" },
      el("div", { class: "gv-left" }, drawing.canvas, keys),
      ...beside,
      el("div", { class: "gv-right" }, ...panels.parts, text)),
  );
  clashes.replaceChildren(...get("clashes").map((words) => el("li", {}, `In-place clash: ${words}`)));
  clashes.hidden = get("clashes").length === 0;

  // ---------------------------------------------------------------- showing the state

  const showStep = () => {
    status.textContent = get("status");
    player.showStep();
    drawing.showStep();
  };
  const showDrawing = () => {
    const had = drawing.canvas.contains(document.activeElement);
    if (!drawing.draw()) text.open = true;
    markBoxes(drawing.shapes, get("reference").here || {});
    tools.showFound();
    drawing.showSelection();
    drawing.showStep();
    if (had) drawing.canvas.querySelector("[tabindex='0']")?.focus();
  };
  const watch = {
    svg: showDrawing,
    highlight: drawing.showSelection.bind(drawing),
    selected: () => { drawing.showSelection(); question.take(); },
    panel: panels.showPanel, heat: panels.showPanel, lesson: panels.showPanel,
    sums: panels.showSums,
    gradients: panels.showGradients, listing: () => { panels.showGradients(); tools.showFlips(); },
    playing: player.showPlaying,
    modules: tools.showModules,
    question: question.show, verdict: question.show,
    predicting: () => { question.show(); tools.showFlips(); },
  };
  for (const trait of ["step", "last", "status", "marks", "active"]) watch[trait] = showStep;
  for (const [trait, show] of Object.entries(watch)) model.on(`change:${trait}`, show);
  showDrawing();
  for (const show of new Set(Object.values(watch))) if (show !== showDrawing) show();
  return () => {
    player.stop();
    for (const [trait, show] of Object.entries(watch)) model.off(`change:${trait}`, show);
  };
}

export default { render };
