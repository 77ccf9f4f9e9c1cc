// Controls with a label and one sentence of help each: sliders, lists, switches. Ranges and help come from declarations.

import { h, fill, number, unique } from "./dom.js";

/** @typedef {import("./api.js").Param} Param */

/**
 * Ranges of sliders for parameters whose declarations have no end: least, largest, by factors.
 * @type {Record<string, [number, number, boolean]>}
 */
const RANGES = {
  c: [0.01, 10000, true],
  gamma: [0.01, 100, true],
  nu: [0.01, 1, false],
  epsilon: [0, 1, false],
  lambda: [1e-6, 10, true],
  delta: [0.01, 10, true],
  degree: [1, 10, false],
  scale: [0.01, 100, true],
  coef0: [-3, 3, false],
  shift: [-3, 3, false],
  amplitude: [0.1, 10, true],
  width: [0.05, 10, true],
  order: [0, 10, false],
  freq: [0.1, 10, true],
  q: [0.01, 0.99, false],
  power: [-3, 3, false],
  centres: [1, 200, false],
  neighbours: [1, 50, false],
  rounds: [1, 200, false],
  clusters: [1, 10, false],
  tol: [1e-6, 0.1, true],
  max_iter: [1, 10000, true],
  passes: [1, 100, false],
  bounces: [10, 5000, true],
};

/**
 * @param {string} label
 * @param {string} help
 * @param {HTMLElement} input
 * @param {HTMLElement | null} [output]
 */
function framed(label, help, input, output = null) {
  input.id ||= unique("control");
  const about = unique("help");
  if (help) input.setAttribute("aria-describedby", about);
  return h("div", { class: "control" }, h("label", { htmlFor: input.id }, label, output), input, help ? h("p", { class: "help", id: about }, help) : null);
}

/**
 * A slider over a range, by equal steps or by equal factors.
 * @param {{ label: string, help: string, low: number, high: number, value: number, log?: boolean, whole?: boolean, name?: string,
 *   show?: (value: number) => string, change: (value: number) => void }} spec
 */
export function slider(spec) {
  const { low, high, log = false, whole = false } = spec;
  const show = spec.show ?? number;
  const steps = whole && !log ? Math.max(1, Math.round(high - low)) : 200;
  const at = (/** @type {number} */ value) => {
    const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return Math.round(steps * Math.min(1, Math.max(0, share)));
  };
  const of = (/** @type {number} */ place) => {
    const share = place / steps;
    const value = log ? low * (high / low) ** share : low + (high - low) * share;
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  };
  const output = h("output", {}, show(spec.value));
  const input = h("input", { type: "range", min: "0", max: String(steps), step: "1", "data-name": spec.name ?? spec.label });
  input.value = String(at(spec.value));
  input.setAttribute("aria-valuetext", show(spec.value));
  input.addEventListener("input", () => {
    const value = of(Number(input.value));
    output.textContent = show(value);
    input.setAttribute("aria-valuetext", show(value));
    spec.change(value);
  });
  return framed(spec.label, spec.help, input, output);
}

/**
 * A list to choose from.
 * @param {{ label: string, help: string, options: [string, string][], value: string, name?: string, change: (value: string) => void }} spec
 */
export function choice(spec) {
  const input = h("select", { "data-name": spec.name ?? spec.label }, ...spec.options.map(([value, words]) => h("option", { value, selected: value === spec.value }, words)));
  input.addEventListener("change", () => spec.change(input.value));
  return framed(spec.label, spec.help, input);
}

/**
 * A few words side by side, one of them chosen.
 * @param {{ label: string, help?: string, options: [string, string][], value: string, change: (value: string) => void }} spec
 */
export function segments(spec) {
  const name = unique("segment");
  const one = (/** @type {[string, string]} */ [value, words]) => {
    const input = h("input", { type: "radio", name, value, checked: value === spec.value });
    input.addEventListener("change", () => spec.change(value));
    return h("label", {}, input, h("span", {}, words));
  };
  return h("div", { class: "control" }, h("div", { class: "head", id: `${name}-label` }, spec.label), h("div", { class: "segments", role: "radiogroup", "aria-labelledby": `${name}-label` }, ...spec.options.map(one)), spec.help ? h("p", { class: "help" }, spec.help) : null);
}

/**
 * Yes or no.
 * @param {{ label: string, help: string, value: boolean, change: (value: boolean) => void }} spec
 */
export function check(spec) {
  const input = h("input", { type: "checkbox", checked: spec.value, id: unique("check") });
  const about = unique("help");
  input.setAttribute("aria-describedby", about);
  input.addEventListener("change", () => spec.change(input.checked));
  return h("div", { class: "control" }, h("label", { class: "check", htmlFor: input.id }, input, h("span", {}, spec.label)), h("p", { class: "help", id: about }, spec.help));
}

/**
 * A line of text.
 * @param {{ label: string, help: string, value: string, placeholder?: string, change: (value: string) => void }} spec
 */
export function line(spec) {
  const input = h("input", { type: "text", value: spec.value, placeholder: spec.placeholder ?? "", spellcheck: false, autocomplete: "off" });
  input.addEventListener("change", () => spec.change(input.value));
  return framed(spec.label, spec.help, input);
}

/** @param {string} text */
export function sentence(text) {
  const plain = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(plain) ? plain : `${plain}.`;
}

/**
 * The control of a declared parameter.
 * @param {Param} param
 * @param {any} value
 * @param {(value: any) => void} change
 * @returns {HTMLElement}
 */
export function declared(param, value, change) {
  const { allowed } = param;
  const help = sentence(param.doc);
  const label = param.name;
  if (allowed.kind === "flag") return check({ label, help, value: value === true, change });
  if (allowed.kind === "words") {
    return choice({ label, help, value: String(value ?? param.default), options: (allowed.words ?? []).map((word) => [word, word.replaceAll("_", " ")]), change });
  }
  if (allowed.kind === "number") {
    const own = RANGES[param.name];
    const usual = Number(value ?? param.value ?? param.default);
    if (own || (typeof allowed.low === "number" && typeof allowed.high === "number" && allowed.high < 1e6)) {
      let [low, high, log] = own ?? [/** @type {number} */ (allowed.low), /** @type {number} */ (allowed.high), false];
      if (typeof allowed.low === "number" && low < allowed.low) low = allowed.low;
      if (typeof allowed.high === "number" && high > allowed.high) high = allowed.high;
      if (allowed.open && low === allowed.low && !log) low = low + (high - low) / 200;
      const start = Number.isFinite(usual) ? usual : log ? Math.sqrt(low * high) : (low + high) / 2;
      return slider({ label, help, low, high, log, whole: allowed.whole, value: start, name: param.name, change });
    }
    return line({ label, help: `${help} ${sentence(param.range)}`, value: Number.isFinite(usual) ? String(usual) : "", placeholder: param.default ?? "", change: (text) => change(text.trim() === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text) });
  }
  return line({ label, help: `${help} ${sentence(param.range)}`, value: String(value ?? ""), placeholder: param.default ?? "", change: (text) => change(text.trim() === "" ? null : text) });
}

/**
 * The kernel: its family, its parameters as sliders, or a whole line of one's own.
 * @param {import("./api.js").About} about
 * @param {{ line: string, columns?: number, change: (line: string) => void }} spec `columns`: of the points, two by themselves
 */
export function kernel(about, spec) {
  const box = h("fieldset", {}, h("legend", {}, "Kernel"));
  const inside = h("div", {});
  let { name, values } = parsed(spec.line);
  const known = () => about.kernels.find((one) => one.name === name);
  let own = !known();
  const told = () => spec.change(own ? spec.line : written(name, values));
  const taken = about.kernels.filter((one) => one.columns <= (spec.columns ?? 2));
  const options = /** @type {[string, string][]} */ (taken.map((one) => [one.name, one.name]));
  options.push(["own", "custom"]);
  const draw = () => {
    const entry = known();
    if (own || !entry) {
      fill(inside, line({ label: "Kernel line", help: "Any kernel that the command accepts, such as rbf(gamma=1) + 0.5*linear.", value: spec.line, change: (text) => { spec.line = text; told(); } }));
      return;
    }
    const start = parsed(entry.example ?? "").values;
    const controls = entry.params.map((param) => {
      values[param.name] ??= start[param.name] ?? Number(param.default);
      return declared(param, values[param.name], (value) => { values[param.name] = value; told(); });
    });
    fill(inside, h("p", { class: "small" }, h("code", {}, entry.formula)), ...controls);
  };
  box.append(
    choice({
      label: "Family",
      help: "",
      options,
      value: own ? "own" : name,
      change: (chosen) => {
        if (chosen === "own") {
          own = true;
          spec.line = written(name, values);
        } else {
          own = false;
          name = chosen;
          values = {};
        }
        draw();
        note();
        told();
      },
    }),
    inside,
  );
  const help = h("p", { class: "help small" });
  const note = () => { help.textContent = own ? "" : `${known()?.doc ?? ""} ${sentence(known()?.definiteness ?? "")}`.trim(); };
  box.insertBefore(help, inside);
  draw();
  note();
  return box;
}

/**
 * `name(key=value, ...)` taken apart.
 * @param {string} text
 * @returns {{ name: string, values: Record<string, number> }}
 */
export function parsed(text) {
  const found = /^\s*([a-z0-9_-]+)\s*(?:\(([^()]*)\))?\s*$/i.exec(text);
  /** @type {Record<string, number>} */
  const values = {};
  if (!found) return { name: text, values };
  for (const part of (found[2] ?? "").split(",")) {
    const [key, value] = part.split("=");
    if (value !== undefined && Number.isFinite(Number(value))) values[key.trim()] = Number(value);
  }
  return { name: found[1], values };
}

/**
 * @param {string} name
 * @param {Record<string, number>} values
 */
function written(name, values) {
  const parts = Object.entries(values).filter(([, value]) => value !== null && Number.isFinite(value)).map(([key, value]) => `${key}=${value}`);
  return parts.length ? `${name}(${parts.join(", ")})` : name;
}
