// The browser's half of GraphView: shows what Python sends and reports what the learner does. It
// computes no gradient, loads nothing and lays nothing out.

import { el } from "./dom.js";
import { Drawing } from "./drawing.js";
import { letWalk } from "./walking.js";
import { makePlayer } from "./player.js";
import { makePanels } from "./panels.js";
import { makeQuestion, makeTools } from "./tools.js";

let views = 0; // every view of a notebook needs an id of its own

const KEYS =
  "Arrows point where the data goes; gradients go the other way. Click a node, or walk: ↑ to its " +
  "inputs, ↓ to its users, ← → to its neighbours, Home, End, Esc. Drag or Shift+arrows move the " +
  "picture, + − 0 zoom, c and e collapse and expand modules.";

// `show` once after several traits have changed at the same time.
const once = (show) => {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    queueMicrotask(() => { due = false; show(); });
  };
};

function render({ model, el: root }) {
  const get = (name) => model.get(name);
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const send = (content) => model.send(content);
  const keysId = `graph-view-${(views += 1)}-keys`;
  const beside = get("reference").svg !== undefined;

  // ---------------------------------------------------------------- the parts

  const mine = new Drawing({
    ...Object.fromEntries(["svg", "label", "nodes", "differs", "marks", "active"].map((name) => [name, () => get(name)])),
    selected: () => [get("selected"), get("highlight")],
  }, keysId);
  const theirs = new Drawing({
    ...Object.fromEntries(["svg", "label", "nodes", "differs"].map((name) => [name, () => get("reference")[name]])),
    selected: () => [get("twin"), get("twin_highlight")],
    marks: () => ({}),
    active: () => [],
  }, keysId);
  const drawings = beside ? [mine, theirs] : [mine];
  const player = makePlayer(get, set, send);
  const panels = makePanels(get, beside);
  const tools = makeTools(get, set, drawings);
  const question = makeQuestion(get, send);
  for (const [drawing, trait] of [[mine, "selected"], [theirs, "twin"]]) {
    drawing.onSelect = (id) => {
      if (id) drawing.shapes.get(id).focus();
      else for (const each of ["selected", "twin"]) model.set(each, "");
      set(trait, id); // Python lets the other side follow
    };
    letWalk(drawing, tools.fold);
  }
  const status = el("p", { class: "gv-status", role: "status", "aria-live": "polite" });
  const clashes = el("ul", { class: "gv-clashes", "aria-label": "In-place clashes" });
  const keys = el("p", { class: "gv-keys", id: keysId }, KEYS);
  const outline = el("pre", { tabindex: 0, role: "region", "aria-label": "The graph as text" }, get("outline"));
  const text = el("details", { class: "gv-text" }, el("summary", {}, "The graph as text"), outline);
  root.classList.add("graph-view");
  root.classList.toggle("gv-two", beside);
  // JupyterLab would take arrows, Enter and Escape for its cells. With Ctrl and the like they stay its.
  root.addEventListener("keydown", (event) => {
    if (!event.altKey && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  const title = (words) => (beside ? [el("p", { class: "gv-title" }, words)] : []);
  const reference = beside ? [
    el("section", { class: "gv-reference", "aria-label": "The reference" },
      ...title("The reference"), theirs.canvas,
      el("pre", { class: "gv-differences", tabindex: 0, role: "region", "aria-label": "Differences" }, get("reference").words)),
  ] : [];
  root.append(
    player.player, player.memory, status, clashes, question.form, question.verdict,
    tools.tools, tools.modules,
    el("div", { class: "gv-body" },
      el("div", { class: "gv-left" }, ...title("Yours"), mine.canvas, keys),
      ...reference,
      el("div", { class: "gv-right" }, ...panels.parts, text)),
  );
  clashes.replaceChildren(...get("clashes").map((words) => el("li", {}, `In-place clash: ${words}`)));
  clashes.hidden = get("clashes").length === 0;

  // ---------------------------------------------------------------- showing the state

  const showStep = once(() => {
    // Not the same words again, which a screen reader would say again.
    if (status.textContent !== get("status")) status.textContent = get("status");
    player.showStep();
    mine.showStep();
  });
  const showDrawing = once(() => {
    if (!mine.draw()) text.open = true;
    if (beside) theirs.draw();
    tools.showFound();
  });
  const showSelection = once(() => {
    for (const drawing of drawings) drawing.showSelection();
    for (const drawing of drawings) drawing.reveal(drawing.selected);
    question.take();
    tools.showFound();
  });
  const showPanel = once(panels.showPanel);
  const showQuestion = once(question.show);
  const showGradients = once(() => { panels.showGradients(); tools.showFlips(); });
  const watch = {
    playing: player.showPlaying, pace: player.showPlaying, memory: player.showMemory,
    modules: once(tools.showModules), sums: once(panels.showSums),
    gradients: showGradients, listing: showGradients,
    predicting: once(() => { question.show(); tools.showFlips(); }),
    found: once(tools.showFound), search: once(tools.showFound),
  };
  for (const [show, traits] of [
    [showStep, ["step", "last", "status", "told", "marks", "active"]],
    [showDrawing, ["svg", "reference"]],
    [showSelection, ["selected", "highlight", "twin", "twin_highlight"]],
    [showPanel, ["panel", "twin_panel", "heat", "lesson", "lesson_file"]],
    [showQuestion, ["question", "verdict"]],
  ]) for (const trait of traits) watch[trait] = show;
  for (const [trait, show] of Object.entries(watch)) model.on(`change:${trait}`, show);
  for (const show of new Set(Object.values(watch))) show();
  return () => {
    player.stop();
    for (const [trait, show] of Object.entries(watch)) model.off(`change:${trait}`, show);
  };
}

export default { render };
