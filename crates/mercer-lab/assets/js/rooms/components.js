// Components: contour maps of kernel principal components over the plane, whitening, clusters.

import { about, newest, planes, post } from "../api.js";
import { whole, write } from "../address.js";
import { check, choice, kernel, slider } from "../controls.js";
import { facts, fill, h, number, percent } from "../dom.js";
import { contour, diverging, mark, regions, sized, style } from "../draw.js";
import { plane } from "../plane.js";

const CELLS = [64, 48];
const SHAPES = ["parabola", "clusters", "half-circle", "square", "ring", "banana", "spirals"];

/** @type {import("../main.js").Room} */
export const room = {
  title: "Components",
  intro: "Kernel PCA finds the directions of feature space along which the data vary most. Each map shows one of them over the plane: lines of equal value, blue where it is positive, orange where it is negative.",
  open,
};

/**
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 */
async function open(main, values) {
  const known = await about();
  const state = {
    kernel: values.get("kernel") ?? "rbf(gamma=5)",
    shape: values.get("shape") ?? "clusters",
    n: whole(values.get("n"), 2, 500, 120),
    components: whole(values.get("components"), 1, 16, 6),
    whiten: values.get("whiten") === "yes",
    centred: values.get("centred") !== "no",
    clusters: whole(values.get("clusters"), 0, 6, 0),
  };
  if (!SHAPES.includes(state.shape)) state.shape = "clusters";
  let closed = false;
  /** @type {any} */
  let last = null;
  /** @type {Float32Array} */
  let numbers = new Float32Array();
  const problem = h("p", { class: "problem", role: "alert" });
  const maps = h("ul", { class: "grid-maps", "aria-label": "Maps of the components" });
  const told = h("div", {});
  const view = plane({
    label: "Points. Arrow keys move the cursor, Enter adds a point, Delete removes the nearest point.",
    ratio: 0.6,
    keep: 3,
    brush: () => 0,
    change: () => ask(),
    paint(to, width, height) {
      if (!last || !last.clusters.length) return;
      const cells = { nx: last.cells[0], ny: last.cells[1] };
      const at = last.components * cells.nx * cells.ny;
      regions(to, width, height, cells, (cell) => [numbers[at + cell], 0.35]);
    },
  });
  const send = newest(async (/** @type {null} */ _) => {
    try {
      const found = await planes("components", { x: view.drawn.x, kernel: state.kernel, components: state.components, whiten: state.whiten, centred: state.centred, clusters: state.clusters || null, window: view.box, cells: CELLS });
      if (closed) return;
      last = found.facts;
      numbers = found.numbers;
      problem.textContent = "";
      view.drawn.y.forEach((_k, i) => { view.drawn.y[i] = last.clusters[i] ?? 0; });
      draw();
      write("components", { kernel: state.kernel, shape: state.shape, n: state.n, components: state.components, whiten: state.whiten ? "yes" : null, centred: state.centred ? null : "no", clusters: state.clusters || null });
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  });
  const ask = () => send(null);

  function draw() {
    view.draw();
    if (!last) return;
    const [nx, ny] = last.cells;
    const cells = { nx, ny };
    while (maps.children.length > last.components) maps.lastElementChild?.remove();
    while (maps.children.length < last.components) maps.append(h("li", {}, h("canvas", { role: "img" }), h("span", {})));
    [...maps.children].forEach((item, k) => {
      const canvas = /** @type {HTMLCanvasElement} */ (item.firstElementChild);
      const { to, width, height } = sized(canvas, view.ratio);
      const part = numbers.subarray(k * nx * ny, (k + 1) * nx * ny);
      diverging(to, width, height, cells, part);
      let [low, high] = [Infinity, -Infinity];
      for (const value of part) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      to.strokeStyle = style.ink;
      to.globalAlpha = 0.45;
      to.lineWidth = 0.8;
      for (let level = 1; level < 10; level++) contour(to, width, height, cells, part, low + ((high - low) * level) / 10);
      to.globalAlpha = 1;
      to.lineWidth = 1.6;
      if (low < 0 && high > 0) contour(to, width, height, cells, part, 0);
      for (let i = 0; i < view.drawn.y.length; i++) mark(to, view.px(view.drawn.x[2 * i], width), view.py(view.drawn.x[2 * i + 1], height), view.drawn.y[i] % 6, 1.8);
      const words = `Component ${k + 1}: ${percent(last.shares[k])} of the variance, values from ${number(low)} to ${number(high)}`;
      canvas.setAttribute("aria-label", words);
      /** @type {Element} */ (item.lastElementChild).textContent = words;
    });
    const first = last.shares.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
    fill(told, facts([["Components that are not zero", number(last.all)], [`Variance in the first ${last.components}`, percent(first)], ["Time", `${number(last.ms)} ms`]]));
  }
  async function shape() {
    try {
      const found = await post("shape", { name: state.shape, n: state.n, seed: 1 });
      if (closed) return;
      view.drawn.x.splice(0, Infinity, ...found.x);
      view.drawn.y.splice(0, Infinity, ...found.y.map(() => 0));
      view.fit(found.x);
      ask();
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  }
  const panel = h(
    "form",
    { class: "card", "aria-label": "Settings", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    kernel(known, { line: state.kernel, change: (text) => { state.kernel = text; ask(); } }),
    h(
      "fieldset",
      {},
      h("legend", {}, "Components"),
      slider({ label: "Shown", name: "components", help: "Number of components, those with the most variance first.", low: 1, high: 16, whole: true, value: state.components, change: (v) => { state.components = v; ask(); } }),
      check({ label: "Whiten", help: "Scale features to unit variance: the values of all maps then have about the same range.", value: state.whiten, change: (v) => { state.whiten = v; ask(); } }),
      check({ label: "Centre", help: "Centre in feature space.", value: state.centred, change: (v) => { state.centred = v; ask(); } }),
      slider({ label: "Clusters", help: "Kernel k-means: points whose images lie together. 0 shows none.", low: 0, high: 6, whole: true, value: state.clusters, change: (v) => { state.clusters = v; ask(); } }),
    ),
    h(
      "fieldset",
      {},
      h("legend", {}, "Data"),
      choice({ label: "Shape", help: "Points can also be added, dragged and removed in the picture.", options: SHAPES.map((name) => [name, name]), value: state.shape, change: (v) => { state.shape = v; void shape(); } }),
      slider({ label: "Points", help: "Number of points.", low: 10, high: 500, log: true, whole: true, value: state.n, change: (v) => { state.n = v; void shape(); } }),
    ),
  );
  fill(main, h("div", { class: "room live" }, h("div", { class: "stack" }, h("div", { class: "stage" }, view.canvas), problem, h("section", { class: "card", "aria-label": "Results" }, told), maps), panel));
  await shape();
  return { close: () => { closed = true; }, redraw: draw };
}
