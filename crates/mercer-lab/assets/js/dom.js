// Elements without markup: text always stays text.

/**
 * Makes an element. Properties that begin with `on` are listeners, `class` and names with a dash are attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.includes("-") && name !== "list") /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} parent
 * @param {(Node | string | number | null | undefined | false)[]} children
 */
function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces what an element holds.
 * @param {Element} parent
 * @param {...(Node | string | number | null | undefined | false)} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * An element of an SVG picture.
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

let last = 0;

/** A name for an element that no other has. @param {string} stem */
export function unique(stem) {
  last += 1;
  return `${stem}-${last}`;
}

/**
 * A number as people read it: three digits that count.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace("e+", "e");
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

/** @param {number | null | undefined} share */
export function percent(share) {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`;
}

/**
 * A list of facts: a name and a number each, with a remark.
 * @param {([string, string | number, string?] | null | false)[]} rows
 */
export function facts(rows) {
  const list = h("dl", { class: "facts" });
  for (const row of rows) {
    if (!row) continue;
    list.append(h("div", {}, h("dt", {}, row[0]), h("dd", {}, row[1], row[2] ? h("small", {}, row[2]) : null)));
  }
  return list;
}

/**
 * A table. Numbers stand to the right.
 * @param {string} caption
 * @param {string[]} heads
 * @param {(string | number | Node)[][]} rows
 * @param {boolean} [wrap] whether the last column is sentences, which take several lines
 */
export function table(caption, heads, rows, wrap = false) {
  const numeric = heads.map((_, k) => rows.length > 0 && rows.every((row) => typeof row[k] === "number"));
  const cell = (/** @type {string | number | Node} */ value, /** @type {number} */ k) =>
    h("td", { class: numeric[k] ? "n" : null, title: typeof value === "string" ? value : null }, typeof value === "number" ? number(value) : value);
  return h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      { class: wrap ? "wrap" : null },
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...heads.map((head, k) => h("th", { scope: "col", class: numeric[k] ? "n" : null }, head)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell)))),
    ),
  );
}
