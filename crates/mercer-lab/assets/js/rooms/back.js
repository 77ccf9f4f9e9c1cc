// Back from feature space: noise, a projection onto components, and the pre-image of what is left.

import { newest, planes, post } from "../api.js";
import { write } from "../address.js";
import { choice, segments, slider } from "../controls.js";
import { facts, fill, h, number, percent } from "../dom.js";
import { grey } from "../draw.js";
import { trained } from "./digits.js";

const INK = 16;

/** @type {import("../main.js").Room} */
export const room = {
  title: "Back from feature space",
  intro: "A noisy digit is projected onto the first components, and the projection is mapped back to a pre-image: the point whose image in feature space is nearest to it. Linear PCA is shown next to kernel PCA.",
  open,
};

/**
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 */
async function open(main, values) {
  const known = await trained(main);
  const state = {
    row: Number(values.get("row") ?? known.some[3].row),
    noise: values.get("noise") ?? "gaussian",
    level: Number(values.get("level") ?? 0.3),
    components: Number(values.get("components") ?? 64),
    seed: Number(values.get("seed") ?? 1),
  };
  let closed = false;
  /** @type {File | null} */
  let own = null;
  const problem = h("p", { class: "problem", role: "alert" });
  const images = h("div", { class: "tiles", "data-images": "" });
  const steps = h("ul", { class: "tiles", "aria-label": "Iterations" });
  const told = h("div", {});
  const zoom = () => (innerWidth < 600 ? 13 : 20);
  const figure = (/** @type {Node} */ picture, /** @type {string} */ words) => h("figure", {}, picture, h("figcaption", {}, words));
  const send = newest(async (/** @type {boolean} */ whole) => {
    try {
      const found = await post("back", { row: state.row, noise: state.noise, level: state.level, seed: state.seed, components: state.components, steps: whole });
      if (closed) return;
      problem.textContent = "";
      const show = (/** @type {number[]} */ pixels, /** @type {string} */ words) => figure(grey(pixels, 8, 8, zoom(), `${words}, digit ${found.label}`, { low: 0, high: INK }), words);
      fill(images, show(found.clean, "Without noise"), show(found.noisy, "With noise"), show(found.linear, "Linear PCA"), show(found.kernel, "Kernel PCA"));
      fill(told, facts([["Kernel components", number(Math.min(state.components, known.components[1])), `of ${known.components[1]}`], ["Linear components", number(Math.min(state.components, known.components[0])), `of ${known.components[0]}`], ["Iterations", number(found.iterations), "of the pre-image"], ["Remaining squared distance", number(found.distance2), "in feature space"], ["Time", `${number(found.ms)} ms`]]));
      // The iteration may end just where a picture is taken.
      const taken = (/** @type {any} */ one, /** @type {number} */ k) => k === 0 || one.iterations !== found.steps[k - 1].iterations;
      if (whole) fill(steps, ...found.steps.filter(taken).map((/** @type {any} */ one) => h("li", {}, grey(one.pixels, 8, 8, 9, `After ${one.iterations} iterations`, { low: 0, high: INK }), `${one.iterations}: ${number(one.distance2)}`)));
      write("back", { row: state.row, noise: state.noise === "gaussian" ? null : state.noise, level: state.level, components: state.components, seed: state.seed === 1 ? null : state.seed });
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  });
  let idle = 0;
  const ask = () => {
    send(false);
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (!closed) send(true);
    }, 200);
    askPicture();
  };

  const picture = h("div", { class: "tiles", "data-picture": "" });
  const pictureWords = h("p", { class: "small" }, "Your own picture is converted to grey, reduced to 96 pixels, corrupted with noise, and denoised by components of its own 8 x 8 squares.");
  const sendPicture = newest(async (/** @type {File} */ file) => {
    try {
      const { facts: about, numbers } = await planes(`picture/${Math.round(255 * state.level)}-${state.components}`, file);
      if (closed) return;
      const n = about.height * about.width;
      const names = ["Without noise", "With noise", "Linear PCA", "Kernel PCA"];
      fill(picture, ...names.map((words, k) => figure(grey(numbers.subarray(k * n, (k + 1) * n), about.height, about.width, innerWidth < 600 ? 1.6 : 2.2, words, { low: 0, high: 255, negative: true }), words)));
      pictureWords.textContent = `${number(about.squares)} squares, ${number(about.ms)} ms`;
    } catch (error) {
      pictureWords.textContent = error instanceof Error ? error.message : String(error);
    }
  });
  const askPicture = () => {
    if (own) sendPicture(own);
  };
  const input = h("input", { type: "file", accept: "image/*", id: "picture", onchange: () => {
    own = input.files?.[0] ?? null;
    askPicture();
  } });

  const panel = h(
    "form",
    { class: "card", "aria-label": "Settings", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    slider({ label: "Components", name: "components", help: "Number of components that the projection keeps. Few: smooth and typical. Many: the noise returns.", low: 1, high: known.components[1], log: true, whole: true, value: state.components, change: (v) => {
      state.components = v;
      ask();
    } }),
    segments({ label: "Noise", options: [["gaussian", "Gaussian"], ["speckle", "Speckle"]], value: state.noise, change: (v) => {
      state.noise = v;
      ask();
    } }),
    slider({ label: "Level", name: "level", help: "Gaussian: standard deviation as a fraction of full ink. Speckle: fraction of pixels turned white or black.", low: 0, high: 1, value: state.level, show: percent, change: (v) => {
      state.level = v;
      ask();
    } }),
    choice({ label: "Digit", help: "Test digits, not used to compute the components.", options: known.some.map((/** @type {any} */ one) => [String(one.row), `digit ${one.label}, number ${one.row + 1}`]), value: String(state.row), change: (v) => {
      state.row = Number(v);
      ask();
    } }),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => {
      state.seed += 1;
      ask();
    } }, "Other noise")),
    h("p", { class: "small" }, `Kernel: ${known.kernel.replace(/\d+\.\d{5,}/g, (/** @type {string} */ digits) => number(Number(digits)))}`),
  );
  fill(
    main,
    h(
      "div",
      { class: "room" },
      h("div", { class: "stack" }, h("section", { class: "card", "aria-label": "Pictures" }, images, problem), h("section", { class: "card" }, h("h2", {}, "The pre-image, iteration by iteration"), steps, h("p", { class: "small" }, "Under each: the number of iterations, and the remaining squared distance in feature space.")), h("section", { class: "card", "aria-label": "Facts" }, told), h("section", { class: "card" }, h("h2", {}, h("label", { htmlFor: "picture" }, "A picture of your own")), input, picture, pictureWords)),
      panel,
    ),
  );
  ask();
  return {
    close() {
      closed = true;
      clearTimeout(idle);
    },
  };
}
