// Colours that people with any colour vision tell apart (Okabe and Ito 2008), and a shape for each class besides.

/** @type {[number, number, number][]} */
export const CLASSES = [
  [0, 114, 178],
  [230, 140, 0],
  [0, 158, 115],
  [204, 70, 160],
  [86, 180, 233],
  [150, 110, 60],
];

export const NAMES = ["blue circle", "orange square", "green triangle", "pink diamond", "sky cross", "brown star"];

/** @param {number} k */
export function css(k) {
  const [r, g, b] = CLASSES[k % CLASSES.length];
  return `rgb(${r} ${g} ${b})`;
}

export function dark() {
  return document.documentElement.dataset.theme === "dark";
}

/** Paper under pictures. @returns {[number, number, number]} */
export function paper() {
  return dark() ? [28, 31, 39] : [255, 255, 255];
}

/** @param {string} name of a variable of the style */
export function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
