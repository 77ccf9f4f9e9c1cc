// Small charts as SVG: a curve of error against size, a heat map of a search, a confusion matrix.

import { h, number, percent, svg } from "./dom.js";
import { dark, variable } from "./colours.js";

/**
 * A curve through points, x by factors.
 * @param {{ x: number, y: number }[]} points
 * @param {{ x: string, y: string, label: string, percent?: boolean }} words
 */
export function curve(points, words) {
  const [w, t, l, b, top] = [560, 280, 58, 42, 34];
  const show = words.percent ? percent : number;
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${w} ${t}`, role: "img", "aria-label": words.label });
  if (points.length === 0) return chart;
  const xs = points.map((p) => Math.log(Math.max(p.x, 1e-9)));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const y1 = Math.max(...points.map((p) => p.y), 1e-9) * 1.1;
  const px = (/** @type {number} */ x) => l + ((Math.log(x) - x0) / (x1 - x0 || 1)) * (w - l - 20);
  const py = (/** @type {number} */ y) => t - b - (y / y1) * (t - b - top);
  for (let k = 0; k <= 4; k++) {
    const y = (y1 * k) / 4;
    chart.append(svg("line", { class: "axis", x1: l, x2: w - 10, y1: py(y), y2: py(y) }), svg("text", { x: l - 8, y: py(y) + 4, "text-anchor": "end" }, show(y)));
  }
  for (const point of points) chart.append(svg("text", { x: px(point.x), y: t - b + 18, "text-anchor": "middle" }, number(point.x)));
  chart.append(svg("text", { x: (l + w) / 2, y: t - 4, "text-anchor": "middle" }, words.x), svg("text", { x: 8, y: 14 }, words.y));
  chart.style.maxWidth = "40rem";
  const path = points.map((p, k) => `${k ? "L" : "M"}${px(p.x).toFixed(1)} ${py(p.y).toFixed(1)}`).join("");
  chart.append(svg("path", { class: "curve", d: path }));
  for (const point of points) {
    const dot = svg("circle", { class: "dot", cx: px(point.x), cy: py(point.y), r: 4.5 });
    dot.append(svg("title", {}, `${number(point.x)}: ${show(point.y)}`));
    chart.append(dot);
  }
  return chart;
}

/** A colour from paper to the accent. @param {number} share */
function heat(share) {
  const s = Math.min(1, Math.max(0, share));
  return dark() ? `rgb(${38 + 118 * s} ${42 + 134 * s} ${53 + 202 * s})` : `rgb(${250 - 200 * s} ${248 - 170 * s} ${242 - 50 * s})`;
}

/**
 * A search's heat map that can be filled while it runs. Rows are the kernel's number, columns the first axis.
 * @param {{ axes: { name: string, values: number[] }[], families: { name: string, parameter: string | null, values: (number | null)[] }[],
 *   cells: { family: number, at: number, values: number[] }[], folds: number }} grid
 */
export function heatmap(grid) {
  const axis = grid.axes[0] ?? { name: "", values: [NaN] };
  /** @type {{ family: number, at: number }[]} */
  const rows = [];
  for (const cell of grid.cells) if (!rows.some((row) => row.family === cell.family && row.at === cell.at)) rows.push(cell);
  const [cw, ch, l, t] = [52, 26, 128, 26];
  const w = l + cw * axis.values.length + 8;
  const hh = t + ch * rows.length + 28;
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${w} ${hh}`, role: "img", "aria-label": "Heat map of the search" });
  // Its letters keep their size: on narrow screens it scrolls.
  chart.style.width = `${w}px`;
  rows.forEach((row, r) => {
    const family = grid.families[row.family];
    const value = family.values[row.at];
    const words = family.parameter ? `${family.name} ${family.parameter} ${number(value)}` : family.name.slice(0, 22);
    chart.append(svg("text", { x: l - 8, y: t + ch * r + 17, "text-anchor": "end" }, words));
  });
  axis.values.forEach((value, c) => chart.append(svg("text", { x: l + cw * c + cw / 2, y: t - 8, "text-anchor": "middle" }, number(value))));
  chart.append(svg("text", { x: l, y: hh - 8 }, `${axis.name} from left to right; darker is better`));
  const places = grid.cells.map((cell) => {
    const r = rows.findIndex((row) => row.family === cell.family && row.at === cell.at);
    const c = Math.max(0, axis.values.indexOf(cell.values[0]));
    const rect = svg("rect", { class: "cell", x: l + cw * c, y: t + ch * r, width: cw, height: ch, rx: 4, fill: variable("--field") });
    const title = svg("title", {}, "not tried yet");
    rect.append(title);
    const text = svg("text", { x: l + cw * c + cw / 2, y: t + ch * r + 17, "text-anchor": "middle" });
    chart.append(rect, text);
    return { rect, title, text, scores: /** @type {number[]} */ ([]) };
  });
  let lower = true;
  const mean = (/** @type {number[]} */ all) => all.reduce((a, b) => a + b, 0) / all.length;
  const colour = () => {
    const means = places.filter((p) => p.scores.length).map((p) => mean(p.scores));
    const [best, worst] = lower ? [Math.min(...means), Math.max(...means)] : [Math.max(...means), Math.min(...means)];
    for (const place of places) {
      if (!place.scores.length) continue;
      const value = mean(place.scores);
      const share = worst === best ? 1 : (worst - value) / (worst - best);
      place.rect.setAttribute("fill", heat(share ** 1.5));
      place.title.textContent = `${number(value)} on ${place.scores.length} of ${grid.folds} folds`;
      place.text.textContent = number(value);
      place.text.style.fill = (dark() ? share ** 1.5 > 0.55 : share ** 1.5 < 0.45) ? "#1c1e26" : dark() ? "#e9e9ee" : "#fff";
    }
  };
  return {
    element: h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Heat map of the search" }, chart),
    /** @param {number} cell @param {number | null} score */
    add(cell, score) {
      if (score === null || !places[cell]) return;
      places[cell].scores.push(score);
      colour();
    },
    /** @param {boolean} value */
    lowerIsBetter(value) {
      lower = value;
      colour();
    },
    filled: () => places.filter((p) => p.scores.length).length,
  };
}

/**
 * A confusion matrix.
 * @param {string[]} classes
 * @param {number[][]} counts
 */
export function confusion(classes, counts) {
  const most = counts.map((row) => row.reduce((a, b) => a + b, 0) || 1);
  return h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Confusion matrix" },
    h(
      "table",
      {},
      h("caption", {}, "Rows are true classes, columns are predicted classes"),
      h("thead", {}, h("tr", {}, h("td", {}), ...classes.map((name) => h("th", { scope: "col", class: "n" }, name)))),
      h(
        "tbody",
        {},
        ...counts.map((row, r) =>
          h("tr", {}, h("th", { scope: "row" }, classes[r]), ...row.map((n, c) => {
            const cell = h("td", { class: "n" }, n ? String(n) : "·");
            if (n && r !== c) cell.style.fontWeight = "700";
            if (n) cell.style.background = `color-mix(in srgb, var(${r === c ? "--accent-soft" : "--warn-soft"}) ${Math.round(30 + (70 * n) / most[r])}%, transparent)`;
            return cell;
          })),
        ),
      ),
    ),
  );
}
