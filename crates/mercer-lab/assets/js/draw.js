// Pictures on canvases: values on cells as colours, contour lines, points with a shape for each class, grey images.

import { CLASSES, css, dark, paper, variable } from "./colours.js";

/** @typedef {{ nx: number, ny: number }} Cells */

const sheet = document.createElement("canvas");

/**
 * Colours the cells: the class by its colour, deeper the larger the value.
 * @param {CanvasRenderingContext2D} to
 * @param {number} width
 * @param {number} height
 * @param {Cells} cells
 * @param {(cell: number) => [number, number]} of class and depth from 0 to 1 of a cell
 */
export function regions(to, width, height, { nx, ny }, of) {
  const image = to.createImageData(nx, ny);
  const [pr, pg, pb] = paper();
  const strong = dark() ? 0.62 : 0.5;
  for (let cell = 0; cell < nx * ny; cell++) {
    const [k, depth] = of(cell);
    const [r, g, b] = CLASSES[k % CLASSES.length];
    const share = 0.1 + strong * depth;
    const at = 4 * cell;
    image.data[at] = pr + (r - pr) * share;
    image.data[at + 1] = pg + (g - pg) * share;
    image.data[at + 2] = pb + (b - pb) * share;
    image.data[at + 3] = 255;
  }
  stretched(to, image, width, height);
}

/**
 * @param {CanvasRenderingContext2D} to
 * @param {ImageData} image
 * @param {number} width
 * @param {number} height
 */
function stretched(to, image, width, height) {
  if (sheet.width !== image.width || sheet.height !== image.height) {
    sheet.width = image.width;
    sheet.height = image.height;
  }
  sheet.getContext("2d")?.putImageData(image, 0, 0);
  to.imageSmoothingEnabled = true;
  to.drawImage(sheet, 0, 0, width, height);
}

/**
 * Values as colours from one class's over paper to another's, for components.
 * @param {CanvasRenderingContext2D} to
 * @param {number} width
 * @param {number} height
 * @param {Cells} cells
 * @param {Float32Array} values
 */
export function diverging(to, width, height, cells, values) {
  let most = 1e-12;
  for (const value of values) most = Math.max(most, Math.abs(value));
  regions(to, width, height, cells, (cell) => [values[cell] >= 0 ? 0 : 1, Math.abs(values[cell]) / most]);
}

/**
 * The line on which values on cells have a level, by marching squares. Values belong to the middle of their cells; to the
 * edge of the picture, half a cell farther, they go on as they change over the last cells.
 * @param {CanvasRenderingContext2D} to
 * @param {number} width
 * @param {number} height
 * @param {Cells} cells
 * @param {ArrayLike<number>} values
 * @param {number} level
 */
export function contour(to, width, height, { nx, ny }, values, level) {
  const sx = width / nx;
  const sy = height / ny;
  if (nx < 2 || ny < 2) return;
  // The side of the level stays: what is not smooth, as the lead of a class, must not cross it there.
  const beyond = (/** @type {number} */ near, /** @type {number} */ far) => {
    const there = 1.5 * near - 0.5 * far;
    return there > level === near > level ? there : near;
  };
  /** @type {(i: number, j: number) => number} */
  const value = (i, j) => {
    if (j < 0 || j === ny) return j < 0 ? beyond(value(i, 0), value(i, 1)) : beyond(value(i, ny - 1), value(i, ny - 2));
    const at = j * nx + i;
    if (i < 0 || i === nx) return i < 0 ? beyond(values[at + 1], values[at + 2]) : beyond(values[at - 1], values[at - 2]);
    return values[at];
  };
  const middle = (/** @type {number} */ k, /** @type {number} */ n, /** @type {number} */ side) => Math.min(n, Math.max(0, k + 0.5)) * side;
  to.beginPath();
  for (let j = -1; j < ny; j++) {
    const y = middle(j, ny, sy);
    const tall = middle(j + 1, ny, sy) - y;
    for (let i = -1; i < nx; i++) {
      const a = value(i, j) - level;
      const b = value(i + 1, j) - level;
      const c = value(i + 1, j + 1) - level;
      const d = value(i, j + 1) - level;
      const code = (a > 0 ? 1 : 0) | (b > 0 ? 2 : 0) | (c > 0 ? 4 : 0) | (d > 0 ? 8 : 0);
      if (code === 0 || code === 15) continue;
      const x = middle(i, nx, sx);
      const wide = middle(i + 1, nx, sx) - x;
      const top = () => [x + (wide * a) / (a - b), y];
      const right = () => [x + wide, y + (tall * b) / (b - c)];
      const bottom = () => [x + (wide * d) / (d - c), y + tall];
      const left = () => [x, y + (tall * a) / (a - d)];
      const go = (/** @type {number[]} */ p, /** @type {number[]} */ q) => {
        to.moveTo(p[0], p[1]);
        to.lineTo(q[0], q[1]);
      };
      if (code === 1 || code === 14) go(left(), top());
      else if (code === 2 || code === 13) go(top(), right());
      else if (code === 4 || code === 11) go(right(), bottom());
      else if (code === 8 || code === 7) go(bottom(), left());
      else if (code === 3 || code === 12) go(left(), right());
      else if (code === 6 || code === 9) go(top(), bottom());
      else if (code === 5) {
        go(left(), top());
        go(right(), bottom());
      } else {
        go(top(), right());
        go(bottom(), left());
      }
    }
  }
  to.stroke();
}

/**
 * A point with the shape and colour of its class.
 * @param {CanvasRenderingContext2D} to
 * @param {number} x
 * @param {number} y
 * @param {number} k
 * @param {number} r
 * @param {boolean} [hollow]
 */
export function mark(to, x, y, k, r, hollow = false) {
  to.beginPath();
  if (k === 0) to.arc(x, y, r, 0, 2 * Math.PI);
  else if (k === 1) to.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  else if (k === 4) {
    // A cross: two bars over each other.
    const [far, half] = [1.25 * r, 0.45 * r];
    const corners = [[-half, -far], [half, -far], [half, -half], [far, -half], [far, half], [half, half], [half, far], [-half, far], [-half, half], [-far, half], [-far, -half], [-half, -half]];
    for (const [u, v] of corners) to.lineTo(x + u, y + v);
    to.closePath();
  } else {
    // Corners by angle: triangle, diamond, star.
    const corners = k === 2 ? 3 : k === 3 ? 4 : 10;
    for (let c = 0; c < corners; c++) {
      const turn = -Math.PI / 2 + (2 * Math.PI * c) / corners;
      const far = k === 2 ? 1.25 * r : k === 3 ? 1.2 * r : c % 2 ? 0.55 * r : 1.3 * r;
      to.lineTo(x + far * Math.cos(turn), y + far * Math.sin(turn));
    }
    to.closePath();
  }
  to.fillStyle = hollow ? variableCache.card : css(k);
  to.fill();
  // On dark regions of its own colour a point is seen by a light edge.
  to.strokeStyle = hollow ? css(k) : dark() ? variableCache.ink : variableCache.card;
  to.lineWidth = hollow ? 1.6 : dark() ? 0.8 : 1.2;
  to.stroke();
}

const variableCache = { card: "#fff", ink: "#000", soft: "#555", accent: "#3552c8" };

/** Takes colours over from the style: called when the theme changes. */
export function restyle() {
  variableCache.card = variable("--card") || "#fff";
  variableCache.ink = variable("--ink") || "#000";
  variableCache.soft = variable("--soft") || "#555";
  variableCache.accent = variable("--accent") || "#3552c8";
}

export const style = variableCache;

/**
 * A canvas as large as its element, sharp on fine screens.
 * @param {HTMLCanvasElement} canvas
 * @param {number} ratio height over width
 * @returns {{ to: CanvasRenderingContext2D, width: number, height: number }}
 */
export function sized(canvas, ratio) {
  const width = Math.max(1, canvas.clientWidth || 300);
  const height = Math.round(width * ratio);
  const fine = Math.min(2, window.devicePixelRatio || 1);
  const [w, hh] = [Math.round(width * fine), Math.round(height * fine)];
  if (canvas.width !== w || canvas.height !== hh) {
    canvas.width = w;
    canvas.height = hh;
    canvas.style.height = `${height}px`;
  }
  const to = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  to.setTransform(fine, 0, 0, fine, 0, 0);
  return { to, width, height };
}

/**
 * A grey image, ink dark on white. Values from `low` (paper) to `high` (ink).
 * @param {number[] | Float32Array} pixels
 * @param {number} height
 * @param {number} width
 * @param {number} zoom
 * @param {string} words what it shows
 * @param {{ low?: number, high?: number, negative?: boolean }} [levels]
 */
export function grey(pixels, height, width, zoom, words, levels = {}) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${Math.round(width * zoom)}px`;
  canvas.style.height = `${Math.round(height * zoom)}px`;
  if (words) {
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", words);
  } else canvas.setAttribute("aria-hidden", "true");
  paint(canvas, pixels, levels);
  return canvas;
}

/**
 * Paints pixels over a grey image of the same size.
 * @param {HTMLCanvasElement} canvas
 * @param {number[] | Float32Array} pixels
 * @param {{ low?: number, high?: number, negative?: boolean }} [levels]
 */
export function paint(canvas, pixels, levels = {}) {
  let { low, high } = levels;
  if (low === undefined || high === undefined) {
    low = Infinity;
    high = -Infinity;
    for (const value of pixels) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  const to = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = to.createImageData(canvas.width, canvas.height);
  const span = high - low || 1;
  for (let i = 0; i < pixels.length && 4 * i < image.data.length; i++) {
    const share = Math.min(1, Math.max(0, (pixels[i] - low) / span));
    const value = 255 * (levels.negative ? share : 1 - share);
    image.data.set([value, value, value, 255], 4 * i);
  }
  to.putImageData(image, 0, 0);
}
