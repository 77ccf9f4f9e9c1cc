// The playground: points, a kernel and a learner under one's fingers.

import { about, newest, planes, post } from "../api.js";
import { pack, unpack, whole, write } from "../address.js";
import { NAMES } from "../colours.js";
import { check, choice, declared, kernel, segments, sentence, slider } from "../controls.js";
import { facts, fill, h, number, percent } from "../dom.js";
import { contour, mark, regions, style } from "../draw.js";
import { plane } from "../plane.js";

/** @type {[string, string][]} */
const TASKS = [
  ["classification", "Classes"],
  ["regression", "A curve"],
  ["novelty", "Novelty"],
];
/** Data shapes by task: those with targets that fit it. @type {Record<string, string[]>} */
const SHAPES = { classification: ["banana", "disc", "ring", "spirals", "clusters", "clouds", "rings", "arms", "checks"], regression: ["sinc"], novelty: ["half-circle", "square", "ring", "parabola", "clusters"] };
const USUAL = { task: "classification", learner: "svc", kernel: "rbf(gamma=2)", shape: "banana", n: 300, seed: 1, classes: 4 };
const CELLS = 100;

/** @type {import("../main.js").Room} */
export const room = {
  title: "Playground",
  intro: "Click to add points, drag to move them, double-click to remove them. The machine is retrained with every change; the picture shows its decision boundary, its margin and its support vectors.",
  open,
};

/**
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 */
async function open(main, values) {
  const known = await about();
  const state = {
    task: values.get("task") ?? USUAL.task,
    learner: values.get("learner") ?? USUAL.learner,
    kernel: values.get("kernel") ?? USUAL.kernel,
    shape: values.get("shape") ?? USUAL.shape,
    n: whole(values.get("n"), 2, 1000, USUAL.n),
    seed: whole(values.get("seed"), 0, 1e9, USUAL.seed),
    classes: whole(values.get("classes"), 2, NAMES.length, USUAL.classes),
    /** @type {Record<string, any>} */
    params: safe(values.get("params")),
    vectors: whole(values.get("vectors"), 0, 1e6, 0),
    surface: values.get("surface") !== "no",
    held: values.get("held") === "yes",
    edited: values.has("points"),
  };
  if (!TASKS.some(([name]) => name === state.task)) state.task = USUAL.task;
  if (!SHAPES[state.task].includes(state.shape)) state.shape = SHAPES[state.task][0];
  let brush = 0;
  /** @type {number[]} */
  let heldX = [];
  /** @type {number[]} */
  let heldY = [];
  /** @type {any} */
  let last = null;
  /** @type {Float32Array} */
  let numbers = new Float32Array();
  /** @type {Set<number>} */
  let support = new Set();
  /** @type {Set<number>} */
  let bounded = new Set();
  let closed = false;

  const curve = () => state.task === "regression";
  /** Whether the shape has as many classes as are asked for. */
  const free = () => known.shapes.some((one) => one.name === state.shape && one.classes);
  const wanted = () => ({ name: state.shape, n: state.n, seed: state.seed, classes: free() ? state.classes : null });
  const view = plane({
    label: "Points. Arrow keys move the cursor, Enter adds a point of the chosen class, Delete removes the nearest point.",
    brush: () => (state.task === "classification" ? brush : 0),
    change: (kind) => {
      state.edited = true;
      ask();
      if (kind === "edit") settled();
      else view.draw();
    },
    ring: (i) => (support.has(i) && !state.vectors ? (bounded.has(i) ? 2 : 1) : 0),
    paint,
  });

  /** @param {CanvasRenderingContext2D} to @param {number} width @param {number} height */
  function paint(to, width, height) {
    if (!last) return;
    const [nx, ny] = last.cells;
    if (curve()) return line(to, width, height, nx);
    const cells = { nx, ny };
    const classOf = last.classes.map(Number);
    if (last.with_class) {
      const best = numbers.subarray(nx * ny);
      let most = 1e-9;
      for (let i = 0; i < nx * ny; i++) most = Math.max(most, numbers[i]);
      regions(to, width, height, cells, (cell) => [classOf[best[cell]] ?? 0, state.surface ? Math.min(1, (1.4 * numbers[cell]) / most) : 0.5]);
      to.strokeStyle = style.ink;
      to.lineWidth = 1.6;
      for (let k = 0; k < last.classes.length; k++) {
        const inside = new Float32Array(nx * ny);
        for (let i = 0; i < inside.length; i++) inside[i] = best[i] === k ? Math.max(numbers[i], 1e-6) : -Math.max(numbers[i], 1e-6);
        contour(to, width, height, cells, inside, 0);
      }
    } else {
      const novelty = last.task === "novelty";
      const [low, high] = novelty ? [1, 0] : [classOf[0] ?? 0, classOf[1] ?? 1];
      let most = 1e-9;
      for (const value of numbers) most = Math.max(most, Math.abs(value));
      const full = novelty ? most : Math.min(most, 2.5);
      regions(to, width, height, cells, (cell) => [numbers[cell] > 0 ? high : low, state.surface ? Math.min(1, Math.abs(numbers[cell]) / full) : 0.5]);
      to.strokeStyle = style.ink;
      to.lineWidth = 2.2;
      contour(to, width, height, cells, numbers, 0);
      if (["svc", "nu-svc", "hard-margin"].includes(state.learner)) {
        to.lineWidth = 1;
        to.setLineDash([5, 4]);
        contour(to, width, height, cells, numbers, 1);
        contour(to, width, height, cells, numbers, -1);
        to.setLineDash([]);
      }
    }
    if (state.held) {
      to.globalAlpha = 0.75;
      for (let i = 0; i < heldY.length; i++) mark(to, view.px(heldX[2 * i], width), view.py(heldX[2 * i + 1], height), heldY[i], 3, true);
      to.globalAlpha = 1;
    }
    vectors(to, width, height);
  }

  /** Where the vectors of the compressed machine are. @param {CanvasRenderingContext2D} to @param {number} width @param {number} height */
  function vectors(to, width, height) {
    if (!last?.vectors?.length) return;
    let most = 1e-9;
    for (const w of last.weights) most = Math.max(most, Math.abs(w));
    const d = curve() ? 1 : 2;
    for (let i = 0; i < last.weights.length; i++) {
      const x = view.px(last.vectors[d * i], width);
      const y = d === 2 ? view.py(last.vectors[2 * i + 1], height) : height - 14;
      const r = 7 + (9 * Math.abs(last.weights[i])) / most;
      to.beginPath();
      to.arc(x, y, r, 0, 2 * Math.PI);
      to.lineWidth = 3;
      to.strokeStyle = style.card;
      to.stroke();
      to.lineWidth = 2;
      to.strokeStyle = style.ink;
      to.stroke();
      to.beginPath();
      to.arc(x, y, 2.4, 0, 2 * Math.PI);
      to.fillStyle = style.ink;
      to.fill();
    }
  }

  /** The curve with its tube. @param {CanvasRenderingContext2D} to @param {number} width @param {number} height @param {number} nx */
  function line(to, width, height, nx) {
    const x = (/** @type {number} */ i) => ((i + 0.5) / nx) * width;
    const tube = last.epsilon ?? 0;
    if (tube > 0) {
      to.beginPath();
      for (let i = 0; i < nx; i++) to.lineTo(x(i), view.py(numbers[i] + tube, height));
      for (let i = nx - 1; i >= 0; i--) to.lineTo(x(i), view.py(numbers[i] - tube, height));
      to.globalAlpha = 0.16;
      to.fillStyle = style.accent;
      to.fill();
      to.globalAlpha = 1;
    }
    to.beginPath();
    for (let i = 0; i < nx; i++) to.lineTo(x(i), view.py(numbers[i], height));
    to.strokeStyle = style.accent;
    to.lineWidth = 2.5;
    to.stroke();
    if (state.held) for (let i = 0; i < heldY.length; i++) mark(to, view.px(heldX[i], width), view.py(heldY[i], height), 1, 2.5, true);
    vectors(to, width, height);
  }

  const told = h("div", { "aria-live": "off" });
  const problem = h("p", { class: "problem", role: "alert" });
  const legend = h("p", { class: "small" });

  function request(/** @type {boolean} */ span) {
    const { x, y } = view.drawn;
    const flat = curve();
    return {
      x: flat ? y.map((_, i) => x[2 * i]) : x,
      y: flat ? y.map((_, i) => x[2 * i + 1]) : state.task === "novelty" ? y.map(() => 0) : y,
      held_x: heldX,
      held_y: heldY,
      learner: state.learner,
      task: state.task,
      kernel: state.kernel,
      params: state.params,
      window: view.box,
      cells: flat ? [300, 1] : [CELLS, CELLS],
      vectors: state.vectors || null,
      span,
    };
  }

  /** One request in flight; the newest state wins. */
  const send = newest(async (/** @type {{ since: number, span: boolean }} */ { since, span }) => {
    try {
      const asked = performance.now();
      const found = await planes("plane", request(span));
      if (closed) return;
      const got = performance.now();
      last = found.facts;
      numbers = found.numbers;
      support = new Set(last.support);
      bounded = new Set(last.bounded);
      problem.textContent = last.stopped ? "Training was stopped after two seconds: the solution shown is not optimal." : "";
      view.draw();
      describe();
      const drawn = performance.now();
      // The frame with the new pixels is the one after this.
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const end = performance.now();
      performance.measure("slider to pixels", { start: since, end, detail: { request: got - asked, fit: last.fit_ms, grid: last.draw_ms, draw: drawn - got, frame: end - drawn, wait: asked - since } });
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  });
  function ask() {
    send({ since: performance.now(), span: false });
  }
  let idle = 0;
  /** After the last change: the address, and what takes longer. */
  function settled() {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (closed) return;
      send({ since: performance.now(), span: true });
      remember();
    }, 250);
  }
  function remember() {
    const points = state.edited ? pack(view.drawn.x, view.drawn.y, view.box) : null;
    const changed = Object.keys(state.params).length ? JSON.stringify(state.params) : null;
    write("playground", {
      task: state.task === USUAL.task ? null : state.task,
      learner: state.learner === USUAL.learner ? null : state.learner,
      kernel: state.kernel === USUAL.kernel ? null : state.kernel,
      shape: state.shape === USUAL.shape ? null : state.shape,
      n: state.n === USUAL.n ? null : state.n,
      seed: state.seed === USUAL.seed ? null : state.seed,
      classes: free() && state.classes !== USUAL.classes ? state.classes : null,
      params: changed,
      vectors: state.vectors || null,
      surface: state.surface ? null : "no",
      held: state.held ? "yes" : null,
      points,
      window: points ? view.box.map((v) => Number(v.toPrecision(6))).join(",") : null,
    });
  }

  function describe() {
    const error = (/** @type {number | null} */ value) => (curve() ? number(value) : percent(value));
    const name = curve() ? "root mean squared error" : state.task === "novelty" ? "share outside" : "error";
    const n = view.drawn.y.length;
    const spans = last.span ?? [];
    const span = spans.length === 1 ? percent(spans[0].rate) : spans.length ? `${percent(Math.min(...spans.map((/** @type {any} */ s) => s.rate)))} to ${percent(Math.max(...spans.map((/** @type {any} */ s) => s.rate)))}` : null;
    if (span) keptSpan = span;
    else if (last.span_note) keptSpan = null;
    fill(
      told,
      facts([
        heldY.length ? [`Held-out ${name}`, error(last.held_out), `on ${heldY.length} points`] : null,
        [`Training ${name}`, error(last.training), `on ${n} points`],
        last.support.length ? ["Support vectors", number(last.support.length), `${number(last.bounded.length)} at their bound`] : ["Centres", number(last.centres)],
        keptSpan && !curve() ? ["Span estimate", keptSpan, "of the leave-one-out error"] : null,
        last.kernel.startsWith("-1*") ? ["Kernel", "negative", "the kernel itself is conditionally negative definite"] : null,
        last.vectors.length ? ["Compressed to", number(last.weights.length), `${percent(last.agreement)} of predictions unchanged`] : null,
        ["Time", `${number(last.fit_ms + last.draw_ms)} ms`, `fit ${number(last.fit_ms)}, ${last.cells[0]} x ${last.cells[1]} cells ${number(last.draw_ms)}`],
      ]),
    );
    const most = Math.max(2, last.centres);
    if (most !== compressMost || state.vectors !== compressShown) compressor(most);
  }
  /** @type {string | null} */
  let keptSpan = null;
  let compressMost = 0;
  /** What the slider shows: a hand may have been on the one before it. */
  let compressShown = 0;
  let turn = 0;
  const compress = h("div", {});
  /** @param {number} most */
  function compressor(most) {
    // A slider under a hand stays; it is replaced once the hand has gone elsewhere.
    if (compress.contains(document.activeElement)) return;
    compressMost = most;
    compressShown = state.vectors;
    const own = ++turn;
    fill(
      compress,
      slider({
        label: "Compress to",
        name: "vectors",
        help: "Replace the support vectors by fewer points with new places. To the right: all of them.",
        low: 1,
        high: most,
        whole: true,
        value: state.vectors || most,
        show: (v) => (v >= most ? "all" : `${v} vectors`),
        change: (v) => {
          state.vectors = v >= most ? 0 : v;
          if (own === turn) compressShown = state.vectors;
          ask();
          settled();
        },
      }),
    );
  }

  const panel = h("form", { class: "card", "aria-label": "Settings", onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
  const brushes = h("div", {});
  function build() {
    const learners = known.learners.filter((one) => one.tasks.includes(state.task));
    if (!learners.some((one) => one.name === state.learner)) state.learner = learners[0].name;
    const entry = /** @type {import("../api.js").Learner} */ (learners.find((one) => one.name === state.learner));
    const own = entry.params.filter((param) => !["kernel", "seed", "virtual_vectors", "virtual_kernel", "virtual_rounds", "virtual_union", "class_weights", "kind", "loss", "form", "rule", "start"].includes(param.name));
    const first = own.filter((param) => entry.known.includes(param.name) && param.allowed.kind === "number").slice(0, 4);
    const change = (/** @type {string} */ name) => (/** @type {any} */ value) => {
      if (value === null) delete state.params[name];
      else state.params[name] = value;
      ask();
      settled();
    };
    const control = (/** @type {import("../api.js").Param} */ param) => declared(param, state.params[param.name] ?? param.value, change(param.name));
    const rest = own.filter((param) => !first.includes(param));
    fill(
      panel,
      segments({ label: "Task", options: TASKS, value: state.task, change: (task) => {
        state.task = task;
        state.learner = "";
        state.params = {};
        state.vectors = 0;
        state.shape = SHAPES[task][0];
        state.kernel = task === "regression" ? "rbf(gamma=0.2)" : task === "novelty" ? "rbf(gamma=3)" : USUAL.kernel;
        build();
        void shape();
      } }),
      kernel(known, { line: state.kernel, columns: curve() ? 1 : 2, change: (text) => {
        state.kernel = text;
        ask();
        settled();
      } }),
      h(
        "fieldset",
        {},
        h("legend", {}, "Learner"),
        choice({ label: "Name", name: "learner", help: `${entry.doc.charAt(0).toUpperCase()}${entry.doc.slice(1)}.`, options: learners.map((one) => [one.name, one.name]), value: state.learner, change: (name) => {
          state.learner = name;
          state.params = {};
          state.vectors = 0;
          build();
          ask();
          settled();
        } }),
        ...first.map(control),
        rest.length ? h("details", {}, h("summary", {}, "More parameters"), ...rest.map(control)) : null,
      ),
      h(
        "fieldset",
        {},
        h("legend", {}, "Data"),
        choice({ label: "Shape", help: sentence(known.shapes.find((one) => one.name === state.shape)?.doc ?? ""), options: SHAPES[state.task].map((name) => [name, name]), value: state.shape, change: (name) => {
          state.shape = name;
          build();
          void shape();
        } }),
        free() ? slider({ label: "Classes", name: "classes", help: "Number of classes.", low: 2, high: NAMES.length, whole: true, value: state.classes, change: (k) => {
          state.classes = k;
          void shape();
        } }) : null,
        slider({ label: "Points", help: "Number of points; the same number is held out to measure the error.", low: 10, high: 1000, log: true, whole: true, value: state.n, change: (n) => {
          state.n = n;
          void shape();
        } }),
        h("div", { class: "row" }, h("button", { type: "button", onclick: () => {
          state.seed += 1;
          void shape();
        } }, "Draw again"), h("button", { type: "button", onclick: () => {
          clear();
        } }, "Remove all points")),
      ),
      h(
        "fieldset",
        {},
        h("legend", {}, "Picture"),
        check({ label: "Decision surface", help: "Deeper colour: farther from the decision boundary.", value: state.surface, change: (yes) => {
          state.surface = yes;
          view.draw();
          settled();
        } }),
        check({ label: "Held-out points", help: "Show held-out points as hollow marks.", value: state.held, change: (yes) => {
          state.held = yes;
          view.draw();
          settled();
        } }),
      ),
    );
    fill(brushes, state.task === "classification" ? painter() : null);
    fill(legend, state.task === "novelty" ? "Blue: like the data. Orange: novel. Rings: support vectors." : curve() ? "Line: the regression; band: the tube of width epsilon. Rings: support vectors." : "Solid line: decision boundary; dashed: margin. Rings: support vectors, dashed if at their bound. Large rings: vectors of the compressed machine.");
  }
  function painter() {
    const name = "brush";
    return h("fieldset", { class: "brushes" }, h("legend", {}, "Class of new points"), ...NAMES.map((words, k) => {
      const picture = h("canvas", { width: 22, height: 22, "aria-hidden": "true" });
      const to = /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d"));
      mark(to, 11, 11, k, 7);
      picture.style.border = "0";
      return h("label", { title: words }, h("input", { type: "radio", name, value: String(k), checked: k === brush, "aria-label": words, onchange: () => {
        brush = k;
      } }), h("span", {}, picture));
    }));
  }
  /** A few points to begin with, so that there is something to train on. */
  function clear() {
    const [x0, x1, y0, y1] = view.box;
    const place = (/** @type {number} */ u, /** @type {number} */ v) => [x0 + u * (x1 - x0), y0 + v * (y1 - y0)];
    view.drawn.x.splice(0, Infinity, ...place(0.3, 0.4), ...place(0.7, 0.6));
    view.drawn.y.splice(0, Infinity, 0, state.task === "classification" ? 1 : 0);
    heldX = [];
    heldY = [];
    state.edited = true;
    state.vectors = 0;
    ask();
    settled();
  }

  /** New points from the server. */
  async function shape() {
    try {
      const found = await post("shape", wanted());
      if (closed) return;
      take(found);
      state.edited = false;
      ask();
      settled();
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  }
  /** @param {any} found */
  function take(found) {
    const flat = found.curve;
    const pairs = (/** @type {number[]} */ x, /** @type {number[]} */ y) => (flat ? x.flatMap((v, i) => [v, y[i]]) : x);
    const x = pairs(found.x, found.y);
    view.drawn.x.splice(0, Infinity, ...x);
    view.drawn.y.splice(0, Infinity, ...(flat || state.task === "novelty" ? found.y.map(() => 0) : found.y));
    heldX = flat ? found.held_x : found.held_x;
    heldY = state.task === "novelty" ? found.held_y.map(() => 0) : found.held_y;
    view.fit(x);
  }

  build();
  compressor(2);
  fill(
    main,
    h("div", { class: "room live" }, h("div", { class: "stack" }, h("div", { class: "stage" }, view.canvas), h("div", { class: "row" }, brushes), problem, h("section", { class: "card", "aria-label": "Results" }, told), h("section", { class: "card", "aria-label": "Compression" }, compress, legend)), panel),
  );
  const first = await post("shape", wanted());
  take(first);
  const window_ = values.get("window")?.split(",").map(Number) ?? [];
  if (state.edited && window_.length === 4 && window_.every(Number.isFinite)) {
    view.box.splice(0, 4, ...window_);
    const points = unpack(values.get("points") ?? "", view.box);
    if (points && points.y.length) {
      view.drawn.x.splice(0, Infinity, ...points.x);
      view.drawn.y.splice(0, Infinity, ...points.y);
    }
  }
  ask();
  settled();
  return {
    close() {
      closed = true;
      clearTimeout(idle);
    },
    redraw: () => {
      view.draw();
      fill(brushes, state.task === "classification" ? painter() : null);
    },
  };
}

/** Parameters of an address; whatever is not an object of plain values is none. @param {string | null} text */
function safe(text) {
  try {
    const found = JSON.parse(text ?? "{}");
    if (typeof found !== "object" || found === null || Array.isArray(found)) return {};
    return Object.fromEntries(Object.entries(found).filter(([, value]) => ["number", "string", "boolean"].includes(typeof value)));
  } catch {
    return {};
  }
}
