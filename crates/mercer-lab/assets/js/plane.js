// The plane: points that can be added, dragged and removed by mouse, finger and keyboard.

import { h } from "./dom.js";
import { mark, sized, style } from "./draw.js";

/** @typedef {{ x: number[], y: number[] }} Drawn coordinates, two a point, and classes */

const RADIUS = 5;
const GRIP = 14;

/**
 * @param {{ label: string, ratio?: number, change: (kind: "drag" | "edit") => void, paint: (to: CanvasRenderingContext2D, width: number, height: number) => void,
 *   brush: () => number, ring?: (point: number) => number, hollow?: (point: number) => boolean, keep?: number }} spec
 */
export function plane(spec) {
  const ratio = spec.ratio ?? 0.72;
  /** @type {Drawn} */
  const drawn = { x: [], y: [] };
  /** @type {[number, number, number, number]} */
  const box = [-1, 1, -1, 1];
  const canvas = h("canvas", { tabIndex: 0, role: "application", "aria-label": spec.label, "data-plane": "" });
  let cursor = [0.5, 0.5];
  let keyboard = false;
  let held = -1;
  let moved = false;

  const px = (/** @type {number} */ x, /** @type {number} */ width) => ((x - box[0]) / (box[1] - box[0])) * width;
  const py = (/** @type {number} */ y, /** @type {number} */ height) => (1 - (y - box[2]) / (box[3] - box[2])) * height;
  const at = (/** @type {PointerEvent | MouseEvent} */ event) => {
    const place = canvas.getBoundingClientRect();
    const u = Math.min(1, Math.max(0, (event.clientX - place.left) / place.width));
    const v = Math.min(1, Math.max(0, (event.clientY - place.top) / place.height));
    return [box[0] + (box[1] - box[0]) * u, box[3] - (box[3] - box[2]) * v, u * place.width, v * place.height];
  };
  const near = (/** @type {number} */ u, /** @type {number} */ v, /** @type {number} */ grip) => {
    const { width, height } = canvas.getBoundingClientRect();
    let best = -1;
    let least = grip * grip;
    for (let i = 0; i < drawn.y.length; i++) {
      const [dx, dy] = [px(drawn.x[2 * i], width) - u, py(drawn.x[2 * i + 1], height) - v];
      const d2 = dx * dx + dy * dy;
      if (d2 < least) {
        least = d2;
        best = i;
      }
    }
    return best;
  };
  const remove = (/** @type {number} */ i) => {
    if (i < 0 || drawn.y.length <= (spec.keep ?? 1)) return;
    drawn.x.splice(2 * i, 2);
    drawn.y.splice(i, 1);
    spec.change("edit");
  };
  const add = (/** @type {number} */ x, /** @type {number} */ y) => {
    drawn.x.push(x, y);
    drawn.y.push(spec.brush());
    return drawn.y.length - 1;
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 2) return;
    keyboard = false;
    const [x, y, u, v] = at(event);
    held = near(u, v, GRIP);
    moved = false;
    if (held < 0) {
      held = add(x, y);
      moved = true;
      spec.change("drag");
    }
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held < 0) return;
    const [x, y] = at(event);
    drawn.x[2 * held] = x;
    drawn.x[2 * held + 1] = y;
    moved = true;
    spec.change("drag");
  });
  const release = () => {
    if (held >= 0 && moved) spec.change("edit");
    held = -1;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    const [, , u, v] = at(event);
    remove(near(u, v, GRIP));
  });
  canvas.addEventListener("dblclick", (event) => {
    const [, , u, v] = at(event);
    remove(near(u, v, GRIP));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.05 : 0.015;
    const moves = /** @type {Record<string, number[]>} */ ({ ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] });
    const { width, height } = canvas.getBoundingClientRect();
    if (moves[event.key]) {
      cursor = cursor.map((c, k) => Math.min(1, Math.max(0, c + moves[event.key][k])));
    } else if (event.key === "Enter" || event.key === " ") {
      add(box[0] + (box[1] - box[0]) * cursor[0], box[3] - (box[3] - box[2]) * cursor[1]);
      spec.change("edit");
    } else if (event.key === "Delete" || event.key === "Backspace") {
      remove(near(cursor[0] * width, cursor[1] * height, 30));
    } else return;
    keyboard = true;
    event.preventDefault();
    self.draw();
  });
  canvas.addEventListener("blur", () => {
    keyboard = false;
    self.draw();
  });

  const self = {
    canvas,
    drawn,
    box,
    ratio,
    px,
    py,
    /** The window around points, with room around them. @param {ArrayLike<number>} x */
    fit(x) {
      for (const axis of [0, 1]) {
        let [low, high] = [Infinity, -Infinity];
        for (let i = axis; i < x.length; i += 2) {
          low = Math.min(low, x[i]);
          high = Math.max(high, x[i]);
        }
        if (!(high > low)) [low, high] = [low - 1 || -1, high + 1 || 1];
        const room = 0.12 * (high - low);
        box[2 * axis] = low - room;
        box[2 * axis + 1] = high + room;
      }
    },
    /** Draws everything. */
    draw() {
      const { to, width, height } = sized(canvas, ratio);
      to.clearRect(0, 0, width, height);
      spec.paint(to, width, height);
      const r = drawn.y.length > 600 ? 3 : width < 500 ? 4 : RADIUS;
      for (let i = 0; i < drawn.y.length; i++) {
        const [x, y] = [px(drawn.x[2 * i], width), py(drawn.x[2 * i + 1], height)];
        const ring = spec.ring?.(i) ?? 0;
        if (ring) {
          to.beginPath();
          to.arc(x, y, r + 3.2, 0, 2 * Math.PI);
          to.strokeStyle = style.ink;
          to.lineWidth = ring === 1 ? 1.8 : 1;
          to.setLineDash(ring === 1 ? [] : [2, 2]);
          to.stroke();
          to.setLineDash([]);
        }
        mark(to, x, y, drawn.y[i], r, spec.hollow?.(i) ?? false);
      }
      if (keyboard && document.activeElement === canvas) {
        const [u, v] = [cursor[0] * width, cursor[1] * height];
        to.strokeStyle = style.ink;
        to.lineWidth = 1.5;
        to.beginPath();
        to.moveTo(u - 9, v);
        to.lineTo(u + 9, v);
        to.moveTo(u, v - 9);
        to.lineTo(u, v + 9);
        to.stroke();
      }
    },
  };
  return self;
}
