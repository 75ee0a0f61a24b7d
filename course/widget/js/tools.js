// The tools above the picture: zoom, search, what is folded, and the two switches; and the question
// of the mode "predict first".

import { button, el } from "./dom.js";

export const makeTools = (get, set, drawings) => {
  const search = el("input", { type: "search", placeholder: "Find a node", "aria-label": "Find a node" });
  const count = el("span", { class: "gv-found-count", role: "status" });
  // Python searches, since most nodes of a big graph are inside boxes. It answers with the text that
  // it searched and pairs of a node and its box.
  const found = () => (get("found").text === get("search") ? get("found").nodes : []);
  let waiting = false; // whether Enter came before the answer
  const next = () => {
    const pairs = found();
    waiting = pairs.length === 0;
    if (waiting) return;
    const [id, box] = pairs[(pairs.findIndex(([id]) => id === get("selected")) + 1) % pairs.length];
    set("selected", id);
    drawings[0].reveal(box);
  };
  const showFound = () => {
    if (waiting) next();
    const pairs = found();
    const boxes = new Set(pairs.map(([, box]) => box));
    for (const [id, shape] of drawings[0].shapes) shape.classList.toggle("gv-found", boxes.has(id));
    if (search !== document.activeElement) search.value = get("search");
    const at = pairs.findIndex(([id]) => id === get("selected"));
    const many = `${pairs.length}${pairs.length < 1000 ? "" : " or more"} found`;
    count.textContent = get("search") ? (at < 0 ? many : `${at + 1} of ${many}`) : "";
  };
  const seek = () => {
    waiting = false;
    set("search", search.value.trim());
  };
  search.addEventListener("input", seek);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      search.value = "";
      seek();
    } else if (event.key === "Enter") next();
    else return;
    event.preventDefault();
  });
  const flip = (key, text) => button({ "data-flip": key }, text, () => set(key, !get(key)));
  const flips = { predicting: flip("predicting", "Predict first"), listing: flip("listing", "All gradients") };
  const tools = el(
    "div", { class: "gv-tools", role: "group", "aria-label": "Picture" },
    button({ "aria-label": "Zoom out", title: "Zoom out" }, "−", () => drawings.forEach((drawing) => drawing.zoom(0.8))),
    button({ "aria-label": "Zoom in", title: "Zoom in" }, "+", () => drawings.forEach((drawing) => drawing.zoom(1.25))),
    button({ title: "The whole graph in sight", "data-tool": "fit" }, "Fit", () => drawings.forEach((drawing) => drawing.fit())),
    search, count, flips.predicting, flips.listing,
  );
  const list = el("ul", {});
  const modules = el("details", { class: "gv-modules" }, el("summary", {}, "Modules and loops: collapse, expand"), list);
  const fold = (path, collapse) => {
    if (!path) return;
    const rest = get("collapsed").filter((name) => name !== path);
    set("collapsed", collapse ? [...rest, path] : rest);
  };
  const showModules = () => {
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.path : "";
    modules.hidden = get("modules").length === 0;
    list.replaceChildren(...get("modules").map(({ path, words, collapsed }) =>
      el("li", {}, button({ "data-path": path, "aria-expanded": !collapsed }, `${collapsed ? "▸" : "▾"} ${words}`,
        () => fold(path, !collapsed)))));
    for (const each of list.querySelectorAll("button")) if (focused && each.dataset.path === focused) each.focus();
  };
  const showFlips = () => {
    for (const [key, each] of Object.entries(flips)) {
      each.setAttribute("aria-pressed", get(key));
      each.hidden = get("last") === 0;
    }
  };
  return { tools, modules, fold, showFound, showModules, showFlips };
};

export const makeQuestion = (get, send) => {
  const node = el("select", {});
  const shape = el("input", { type: "text", autocomplete: "off", placeholder: "(2, 3)" });
  const form = el(
    "form", { class: "gv-question", "aria-label": "Predict the next step" },
    el("label", {}, "Which node fires next? ", node),
    el("label", {}, "The shape of its gradient? ", shape),
    el("button", { type: "submit" }, "Check"),
  );
  const verdict = el("p", { class: "gv-verdict", role: "status" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send({ do: "predict", node: node.value, shape: shape.value });
    shape.value = "";
  });
  const show = () => {
    const asked = get("question");
    form.hidden = asked.length === 0;
    node.replaceChildren(...asked.map(([id, name]) => el("option", { value: id }, name)));
    verdict.textContent = get("verdict") ||
      (get("predicting") && !asked.length ? "Go one step on: there is nothing to ask here." : "");
  };
  // A click on a box answers, too.
  const take = () => {
    if ([...node.options].some((option) => option.value === get("selected"))) node.value = get("selected");
  };
  return { form, verdict, show, take };
};
