// Jobs: long work on the server. Its events are read from the start, so a page that is opened again shows all of them.

import { get, post } from "./api.js";
import { fill, h, number } from "./dom.js";

/** @typedef {import("./api.js").Job} Job */

/**
 * Follows a job's events until it ends or the page lets go.
 * @param {number} id
 * @param {(event: any) => void} tell
 * @returns {() => void} lets go
 */
export function follow(id, tell) {
  let seen = 0;
  /** @type {EventSource | null} */
  let stream = null;
  let over = false;
  const close = () => {
    stream?.close();
    stream = null;
  };
  const open = () => {
    if (over || stream) return;
    stream = new EventSource(`api/job/${id}/events/${seen}`);
    stream.onmessage = (message) => {
      const event = JSON.parse(message.data);
      if (message.lastEventId) {
        const at = Number(message.lastEventId);
        if (event.event !== "progress" && at <= seen) return;
        if (event.event !== "progress") seen = at;
      }
      if (["done", "failed", "cancelled"].includes(event.event)) {
        over = true;
        close();
      }
      tell(event);
    };
  };
  // A page that nobody sees leaves its connection to those that are seen.
  const look = () => (document.hidden ? close() : open());
  document.addEventListener("visibilitychange", look);
  open();
  return () => {
    over = true;
    close();
    document.removeEventListener("visibilitychange", look);
  };
}

/** @param {string} kind @param {unknown} body @returns {Promise<Job>} */
export function start(kind, body) {
  return post(`jobs/${kind}`, body);
}

/** @param {number} id @returns {Promise<Job>} */
export function cancel(id) {
  return post(`job/${id}/cancel`, {});
}

/** @returns {Promise<Job[]>} */
export function list() {
  return get("jobs");
}

/**
 * A bar with a button that cancels.
 * @param {Job} job
 * @param {(event: any) => void} tell
 * @returns {{ element: HTMLElement, stop: () => void }}
 */
export function bar(job, tell) {
  const words = h("span", { class: "small" }, "Starting");
  const progress = h("progress", { "aria-label": job.title });
  const button = h("button", { type: "button", class: "quiet", "data-cancel": job.id, onclick: async () => {
    button.disabled = true;
    words.textContent = "Cancelling";
    await cancel(job.id);
  } }, "Cancel");
  const element = h("div", { class: "job", "data-job": job.id, "data-state": "running" }, h("div", { class: "row" }, h("b", {}, job.title), words, button), progress);
  const stop = follow(job.id, (event) => {
    if (event.event === "progress") {
      const share = event.total ? event.done / event.total : null;
      if (share === null) progress.removeAttribute("value");
      else progress.value = share;
      const gap = typeof event.gap === "number" ? `, KKT violation ${number(event.gap)}` : "";
      const done = event.total ? `${number(event.done)} of ${number(event.total)}` : number(event.done);
      words.textContent = `${event.phase}: ${done}${gap}, ${event.seconds.toFixed(1)} s`;
    } else if (event.event === "phase") words.textContent = event.words;
    else if (event.event === "done") {
      element.dataset.state = "done";
      fill(element, h("p", { class: "small" }, `${job.title}: done in ${event.seconds.toFixed(1)} s`));
    } else if (event.event === "cancelled") {
      element.dataset.state = "cancelled";
      fill(element, h("p", { class: "small" }, `${job.title}: cancelled after ${event.seconds.toFixed(1)} s`));
    } else if (event.event === "failed") {
      element.dataset.state = "failed";
      fill(element, h("p", { class: "problem", role: "alert" }, `${job.title}: ${event.message}`));
    }
    tell(event);
  });
  return { element, stop };
}
