// Digits: draw one; see who votes for it.

import { get, newest, post } from "../api.js";
import { write } from "../address.js";
import { segments, slider } from "../controls.js";
import { facts, fill, h, number, percent } from "../dom.js";
import { grey } from "../draw.js";
import { bar, start } from "../jobs.js";

const SIDE = 32;
const INK = 16;
/** Width of a pen in the digits of the set, in pixels of 32 x 32. */
const PEN = 5;

/** @type {import("../main.js").Room} */
export const room = {
  title: "Digits",
  intro: "Draw a digit. Two machines trained on handwritten digits classify it and show probabilities and the support vectors that decided.",
  open,
};

/**
 * Waits until the machines are trained; the job is the same for all pages.
 * @param {HTMLElement} main
 * @returns {Promise<any>}
 */
export async function trained(main) {
  try {
    return await get("digits");
  } catch {
    // Not yet.
  }
  const job = await start("digits", {});
  return new Promise((resolve, reject) => {
    const { element } = bar(job, (event) => {
      if (event.event === "done") resolve(get("digits"));
      if (event.event === "failed" || event.event === "cancelled") reject(new Error("training on the digits failed; open the room again to retry"));
    });
    fill(main, h("div", { class: "card" }, element));
  });
}

/**
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 */
async function open(main, values) {
  const facts_ = await trained(main);
  const state = {
    virtual: values.get("machine") === "virtual",
    wanted: Number(values.get("error") ?? 0.005),
    /** @type {number | null} */
    row: values.has("row") ? Number(values.get("row")) : null,
    drawn: values.get("ink") ?? "",
  };
  let closed = false;
  const pad = h("canvas", { width: 320, height: 320, class: "pad", tabIndex: 0, role: "application", "aria-label": "Draw a digit here with mouse or finger; with the keyboard, choose one of the test digits below instead." });
  const to = /** @type {CanvasRenderingContext2D} */ (pad.getContext("2d", { willReadFrequently: true }));
  const problem = h("p", { class: "problem", role: "alert" });
  const verdicts = h("div", { class: "columns" });
  const bars = h("div", {});
  const voters = h("div", {});
  const seen = h("div", { class: "row" });

  /** @type {number[][]} */
  let strokes = [];
  function blank() {
    to.fillStyle = "#fff";
    to.fillRect(0, 0, 320, 320);
    to.strokeStyle = "#14161c";
    to.lineWidth = 34;
    to.lineCap = "round";
    to.lineJoin = "round";
  }
  /**
   * What was drawn, brought to 32 x 32 as the digits of the set were: they fill their square, and pens were about as wide as
   * this whatever the size of the digit.
   * @returns {number[] | null}
   */
  function ink() {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const stroke of strokes) {
      for (let i = 0; i + 1 < stroke.length; i += 2) {
        x0 = Math.min(x0, stroke[i]);
        x1 = Math.max(x1, stroke[i]);
        y0 = Math.min(y0, stroke[i + 1]);
        y1 = Math.max(y1, stroke[i + 1]);
      }
    }
    if (x1 < x0) return null;
    const small = h("canvas", { width: SIDE, height: SIDE });
    const on = /** @type {CanvasRenderingContext2D} */ (small.getContext("2d", { willReadFrequently: true }));
    on.fillStyle = "#fff";
    on.fillRect(0, 0, SIDE, SIDE);
    on.lineWidth = PEN;
    on.lineCap = "round";
    on.lineJoin = "round";
    const room_ = SIDE - PEN;
    const scale = Math.min(room_ / Math.max(1, y1 - y0), room_ / Math.max(1, x1 - x0));
    for (const stroke of strokes) {
      on.beginPath();
      for (let i = 0; i + 1 < stroke.length; i += 2) on.lineTo(SIDE / 2 + scale * (stroke[i] - (x0 + x1) / 2), SIDE / 2 + scale * (stroke[i + 1] - (y0 + y1) / 2));
      if (stroke.length === 2) on.lineTo(SIDE / 2 + scale * (stroke[0] - (x0 + x1) / 2) + 0.1, SIDE / 2 + scale * (stroke[1] - (y0 + y1) / 2));
      on.stroke();
    }
    const pixels = on.getImageData(0, 0, SIDE, SIDE).data;
    return Array.from({ length: SIDE * SIDE }, (_, i) => (INK * (255 - pixels[4 * i])) / 255);
  }
  /** @type {number[] | null} */
  let current = null;
  const send = newest(async (/** @type {null} */ _) => {
    if (!current) return;
    try {
      const found = await post("digits/vote", { pixels: current, virtual_vectors: state.virtual, wanted: state.wanted });
      if (!closed) show(found);
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  });
  function remember() {
    write("digits", { machine: state.virtual ? "virtual" : null, error: state.wanted === 0.005 ? null : state.wanted, row: state.row, ink: state.row === null && state.drawn ? state.drawn : null });
  }
  /** @param {any} found */
  function show(found) {
    problem.textContent = "";
    const names = ["Trained on the digits", `With virtual support vectors (${facts_.virtual})`];
    fill(
      verdicts,
      ...found.machines.map((/** @type {any} */ machine, /** @type {number} */ k) =>
        h("section", { class: "card", "aria-label": names[k] }, h("h2", {}, names[k]), h("div", { class: `verdict${machine.rejected ? " rejected" : ""}` }, h("b", { "data-verdict": k }, machine.rejected ? "?" : machine.class), h("div", {}, machine.rejected ? `Rejected: ${machine.class} leads by ${number(machine.gap)} only, and ${number(machine.rule.gap)} is required` : `Leads by ${number(machine.gap)}; ${number(machine.rule.gap)} is required`, h("p", { class: "small" }, `The rule rejects ${percent(machine.rule.rejected)} of the test digits and leaves ${percent(machine.rule.error)} errors.`)))),
      ),
    );
    const chosen = found.machines[state.virtual ? 1 : 0];
    // Virtual support vectors come without calibrated probabilities: those of the plain machine are shown.
    const { probabilities } = found.machines[0];
    fill(
      bars,
      ...found.classes.map((/** @type {string} */ name, /** @type {number} */ k) => {
        const fillBar = h("i", {});
        fillBar.style.width = `${100 * probabilities[k]}%`;
        return h("div", { class: `bar${name === chosen.class ? " best" : ""}` }, h("span", {}, name), h("span", { class: "track" }, fillBar), h("span", {}, percent(probabilities[k])));
      }),
    );
    const tile = (/** @type {any} */ one) => h("li", {}, grey(one.pixels, 8, 8, 7, one.label === null ? "support vector" : `support vector of class ${one.label}`, { low: 0, high: INK }), one.label === null ? "" : `${one.label}: `, `${one.adds > 0 ? "+" : ""}${number(one.adds)}`);
    fill(
      voters,
      h("h3", {}, `For ${chosen.class}`),
      h("ul", { class: "tiles" }, ...found.for.map(tile)),
      found.against.length ? h("h3", {}, "Against") : null,
      h("ul", { class: "tiles" }, ...found.against.map(tile)),
      h("p", { class: "small" }, "Each number is the contribution of the support vector to the output of the predicted class: its coefficient times the kernel value."),
    );
    fill(seen, grey(found.pixels, 8, 8, 6, "The drawing as the machine sees it: 8 x 8 pixels", { low: 0, high: INK }), h("span", { class: "small" }, "What the machine sees: 8 x 8 pixels"));
  }

  let down = false;
  const place = (/** @type {PointerEvent} */ event) => {
    const box = pad.getBoundingClientRect();
    return [Math.round(((event.clientX - box.left) / box.width) * 320), Math.round(((event.clientY - box.top) / box.height) * 320)];
  };
  function redrawInk() {
    blank();
    for (const stroke of strokes) {
      to.beginPath();
      for (let i = 0; i + 1 < stroke.length; i += 2) to.lineTo(stroke[i], stroke[i + 1]);
      if (stroke.length === 2) to.lineTo(stroke[0] + 0.1, stroke[1]);
      to.stroke();
    }
  }
  function told() {
    current = ink();
    state.row = null;
    state.drawn = strokes.map((stroke) => stroke.join(",")).join(";");
    pressed();
    send(null);
  }
  pad.addEventListener("pointerdown", (event) => {
    if (state.row !== null) strokes = [];
    down = true;
    pad.setPointerCapture(event.pointerId);
    strokes.push(place(event));
    redrawInk();
    told();
  });
  pad.addEventListener("pointermove", (event) => {
    if (!down) return;
    strokes[strokes.length - 1].push(...place(event));
    redrawInk();
    told();
  });
  const up = () => {
    if (down) remember();
    down = false;
  };
  pad.addEventListener("pointerup", up);
  pad.addEventListener("pointercancel", up);

  const some = h("ul", { class: "tiles" });
  function pressed() {
    for (const button of some.querySelectorAll("button")) button.setAttribute("aria-pressed", String(Number(button.dataset.row) === state.row));
  }
  /** @param {any} one */
  function pick(one) {
    state.row = one.row;
    strokes = [];
    blank();
    const image = grey(one.pixels, 8, 8, 1, "", { low: 0, high: INK });
    to.imageSmoothingEnabled = false;
    to.drawImage(image, 0, 0, 320, 320);
    current = one.pixels;
    pressed();
    send(null);
    remember();
  }
  some.append(...facts_.some.slice(0, 30).map((/** @type {any} */ one) => h("li", {}, h("button", { type: "button", "data-row": one.row, "aria-pressed": "false", "aria-label": `Test digit ${one.row + 1}, a ${one.label}`, onclick: () => pick(one) }, grey(one.pixels, 8, 8, 4, "", { low: 0, high: INK })))));
  const panel = h(
    "form",
    { class: "card", "aria-label": "Settings", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    segments({ label: "Show the votes of", options: [["plain", "Plain"], ["virtual", "Virtual"]], value: state.virtual ? "virtual" : "plain", help: "Retrain the machine on its support vectors shifted by one pixel in each direction.", change: (v) => {
      state.virtual = v === "virtual";
      send(null);
      remember();
    } }),
    slider({ label: "Error wanted", name: "error", help: "Target error rate on the digits that are not rejected. The lower it is, the more digits are rejected.", low: 0, high: 0.03, value: state.wanted, show: percent, change: (v) => {
      state.wanted = v;
      send(null);
      remember();
    } }),
    h("h2", {}, "Probabilities"),
    h("p", { class: "small" }, "Calibrated by cross-validation; for the machine without virtual support vectors."),
    bars,
  );
  const [plain, virtual] = facts_.machines;
  fill(
    main,
    h(
      "div",
      { class: "room" },
      h(
        "div",
        { class: "stack" },
        h("div", { class: "columns" }, h("section", { class: "card stage", "aria-label": "Drawing" }, pad, h("div", { class: "row" }, h("button", { type: "button", onclick: () => {
          strokes = [];
          state.drawn = "";
          state.row = null;
          current = null;
          blank();
          pressed();
          remember();
        } }, "Clear"), seen)), h("section", { class: "card", "aria-label": "Votes" }, h("h2", {}, "The support vectors that decided"), voters)),
        problem,
        verdicts,
        h("section", { class: "card" }, h("h2", {}, "Test digits, not used in training"), some, h("div", { class: "row" })),
        h("section", { class: "card", "aria-label": "Facts" }, facts([["Test error", percent(plain.error), `of ${facts_.test} digits`], ["With virtual vectors", percent(virtual.error), facts_.virtual], ["Support vectors", number(plain.centres), `${number(virtual.centres)} with virtual ones`], ["Trained on", number(facts_.train), "digits of 8 x 8 pixels"]])),
      ),
      panel,
    ),
  );
  blank();
  const known = facts_.some.find((/** @type {any} */ one) => one.row === state.row);
  if (state.drawn) {
    strokes = state.drawn.split(";").map((stroke) => stroke.split(",").map(Number).filter(Number.isFinite)).filter((stroke) => stroke.length >= 2);
    redrawInk();
    const kept = state.drawn;
    told();
    state.drawn = kept;
  } else pick(known ?? facts_.some[0]);
  return { close: () => { closed = true; } };
}
