// Requests to the server behind this page. All addresses are relative: the secret is the first part of the page's own.

/** @typedef {{ kind: string, low?: number | null, high?: number | null, open?: boolean, whole?: boolean, words?: string[] }} Allowed */
/** @typedef {{ name: string, doc: string, default: string | null, allowed: Allowed, range: string, value: any }} Param */
/** @typedef {{ name: string, doc: string, tasks: string[], known: string[], params: Param[] }} Learner */
/** @typedef {{ name: string, doc: string, formula: string, params: Param[], definiteness: string, example: string | null, columns: number }} Kernel */
/** @typedef {{ version: string, learners: Learner[], kernels: Kernel[], shapes: { name: string, doc: string, classes: boolean }[], threads: number, largest: number }} About */
/** @typedef {{ id: number, kind: string, title: string, state: string, seconds: number }} Job */

/** What the server said no with. */
export class Refused extends Error {}

/** @param {string} path @param {RequestInit} [how] */
async function checked(path, how) {
  let response;
  try {
    response = await fetch(`api/${path}`, how);
  } catch {
    throw new Refused("the server does not respond: if `mercer lab` was stopped, start it again and open the address that it prints");
  }
  if (response.ok) return response;
  let words = `${response.status} ${response.statusText}`;
  try {
    words = (await response.json()).error ?? words;
  } catch {
    // Not our words: the status has to do.
  }
  throw new Refused(words);
}

/**
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function get(path) {
  return (await checked(path)).json();
}

/**
 * @param {string} path
 * @param {unknown} body
 * @returns {Promise<any>}
 */
export async function post(path, body) {
  const text = body instanceof Blob || body instanceof ArrayBuffer ? body : JSON.stringify(body);
  return (await checked(path, { method: "POST", body: text })).json();
}

/**
 * Facts with planes of numbers behind them: see `reply.rs`.
 * @param {string} path
 * @param {unknown} body
 * @returns {Promise<{ facts: any, numbers: Float32Array<ArrayBuffer> }>}
 */
export async function planes(path, body) {
  const text = body instanceof Blob ? body : JSON.stringify(body);
  const response = await checked(path, { method: "POST", body: text });
  const bytes = await response.arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  return { facts, numbers: new Float32Array(bytes, 4 + length) };
}

/** @type {Promise<About> | null} */
let known = null;

/** Learners, kernels and shapes with their declarations. @returns {Promise<About>} */
export function about() {
  known ??= get("about");
  return known;
}

/**
 * Keeps one request in flight: while it runs, only the newest of those that come is remembered.
 * @template T
 * @param {(ask: T) => Promise<void>} send
 * @returns {(ask: T) => void}
 */
export function newest(send) {
  let busy = false;
  /** @type {{ ask: T } | null} */
  let waiting = null;
  const run = async (/** @type {T} */ ask) => {
    busy = true;
    await send(ask);
    busy = false;
    if (waiting) {
      const next = waiting.ask;
      waiting = null;
      void run(next);
    }
  };
  return (ask) => {
    if (busy) waiting = { ask };
    else void run(ask);
  };
}
