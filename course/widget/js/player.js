// The backward player: buttons, slider, playing by itself, undo, and the curve of memory.

import { button, drawn, el } from "./dom.js";

const HEIGHT = 48;

// A line through the numbers, `top` being the height.
const line = (numbers, top, kind) => {
  const x = (i) => (numbers.length > 1 ? (i * 100) / (numbers.length - 1) : 0);
  const points = numbers.map((n, i) => `${x(i)},${HEIGHT - 2 - ((HEIGHT - 4) * n) / top}`);
  return drawn("polyline", { class: kind, points: points.join(" "), "vector-effect": "non-scaling-stroke" });
};

const bytes = (n) =>
  n >= 1 << 20 ? `${(n / (1 << 20)).toFixed(1)} MiB` : n >= 1024 ? `${(n / 1024).toFixed(1)} KiB` : `${n} bytes`;

export const makePlayer = (get, set, send) => {
  const go = (step) => {
    set("playing", false);
    set("step", Math.min(Math.max(step, 0), get("last")));
  };
  const buttons = Object.fromEntries(
    [
      ["start", "|◂", "To the start", () => go(0)],
      ["back", "◂ Back", "Back one step", () => go(get("step") - 1)],
      ["next", "Next ▸", "Next step", () => go(get("step") + 1)],
      ["end", "▸|", "To the end", () => go(get("last"))],
      ["play", "Play", "Play", () => set("playing", !get("playing"))],
      ["undo", "Undo", "Undo: back to the step shown before", () => send({ do: "undo" })],
    ].map(([key, text, words, action]) => [
      key, button({ "data-step": key, "aria-label": words, title: words }, text, action),
    ]),
  );
  const slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Step of the backward pass" });
  slider.addEventListener("input", () => go(Number(slider.value)));
  const count = el("span", { class: "gv-count", "aria-hidden": "true" });
  const player = el(
    "div", { class: "gv-player", role: "group", "aria-label": "Backward pass" },
    ...Object.values(buttons), slider, count,
  );
  const curve = drawn("svg", { class: "gv-curve", viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  const now = drawn("line", { y1: 0, y2: HEIGHT, "vector-effect": "non-scaling-stroke" });
  const caption = el("figcaption", {});
  const memory = el("figure", { class: "gv-memory" }, curve, caption);

  let timer = null;
  const showPlaying = () => {
    clearTimeout(timer);
    const playing = get("playing") && get("last") > 0;
    buttons.play.textContent = playing ? "Pause" : "Play";
    buttons.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    buttons.play.title = playing ? "Pause" : "Play";
    if (!playing) return;
    timer = setTimeout(() => {
      const step = get("step");
      if (get("told") !== step) return; // Python's answer, once it is there, starts the clock anew
      if (step < get("last")) set("step", step + 1);
      else set("playing", false);
    }, 1000 * get("pace"));
  };
  const showStep = () => {
    const [step, last, pairs] = ["step", "last", "memory"].map(get);
    slider.max = last;
    slider.value = step;
    slider.setAttribute("aria-valuetext", get("status"));
    count.textContent = `${step} / ${last}`;
    player.hidden = memory.hidden = last === 0;
    // Not `disabled`, which would take the keyboard's focus away from who pressed it last.
    for (const key of ["start", "back"]) buttons[key].setAttribute("aria-disabled", step === 0);
    for (const key of ["next", "end"]) buttons[key].setAttribute("aria-disabled", step === last);
    if (last && pairs.length) {
      const [kept, gradients] = pairs[step];
      const words = `Memory at step ${step}: ${bytes(kept)} kept by forward (solid), ${bytes(gradients)} in gradients (dashed).`;
      caption.textContent = words;
      curve.setAttribute("aria-label", words);
      for (const end of ["x1", "x2"]) now.setAttribute(end, (step * 100) / last);
    }
    showPlaying();
  };
  const showMemory = () => {
    const pairs = get("memory");
    const top = Math.max(1, ...pairs.flat());
    curve.replaceChildren(
      line(pairs.map(([n]) => n), top, "gv-kept"), line(pairs.map(([, n]) => n), top, "gv-grads"), now);
  };
  return { player, memory, showStep, showPlaying, showMemory, stop: () => clearTimeout(timer) };
};
