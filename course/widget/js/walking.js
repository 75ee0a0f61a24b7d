// Walking along the edges with the keyboard.

import { foreign } from "./dom.js";
import { nodeId } from "./drawing.js";

// The walk selects in `drawing`, and calls `fold(box, collapse)` to fold or unfold.
export const letWalk = (drawing, fold) => {
  let via = ""; // the user that the walk came down from: its other inputs are the neighbours
  const seen = (ids) => ids.filter((id) => drawing.shapes.has(id));
  const neighbour = (node, direction) => {
    const users = seen(node.users);
    const user = users.includes(via) ? via : users[0];
    const row = user
      ? seen(drawing.about.get(user).inputs)
      : [...drawing.shapes.keys()].filter((id) => !seen(drawing.about.get(id).users).length);
    const ring = [...new Set(row)];
    return ring[(ring.indexOf(node.id) + direction + ring.length) % ring.length];
  };
  drawing.canvas.addEventListener("keydown", (event) => {
    const node = drawing.about.get(nodeId(event.target));
    if (!node || foreign(event)) return;
    const ids = [...drawing.shapes.keys()];
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
      c: () => fold(node.module, true),
      e: () => fold(node.box, false),
    }[event.key];
    if (!target) return;
    event.preventDefault();
    const id = target();
    if (event.key === "ArrowUp" && id) via = node.id;
    if (event.key === "Escape") drawing.onSelect("");
    else if (id) drawing.onSelect(id);
  });
};
