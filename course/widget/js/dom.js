// Small helpers for elements, in HTML and in SVG.

const attach = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

export const el = (tag, attributes = {}, ...children) =>
  attach(document.createElement(tag), attributes, children);

export const drawn = (tag, attributes = {}, ...children) =>
  attach(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export const button = (attributes, text, action) => {
  const element = el("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", action);
  return element;
};

// A table under a caption: rows of a name and texts, `heads` over the columns.
export const table = (element, caption, rows, heads = []) =>
  element.replaceChildren(
    el("caption", {}, caption),
    ...(heads.length ? [el("tr", {}, ...heads.map((head) => el(head ? "th" : "td", head ? { scope: "col" } : {}, head)))] : []),
    ...rows.map(([key, ...texts]) =>
      el("tr", {}, el("th", { scope: "row" }, key), ...texts.map((text) => el("td", { "data-row": key }, text)))),
  );

export const parsed = (svg) => {
  const element = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return element.tagName === "svg" ? document.importNode(element, true) : null;
};

// The lines of `text` under one another, right of `before`.
export const indented = (before, text) =>
  before + text.replaceAll("\n", "\n" + " ".repeat(before.length));

// Whether a key came with one that makes it the front end's, not ours.
export const foreign = (event) => event.altKey || event.ctrlKey || event.metaKey;
