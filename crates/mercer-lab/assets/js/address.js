// The state of a room in the address: `#room?name=value&...`. What is at its default is left out.

/** @returns {{ room: string, values: URLSearchParams }} */
export function read() {
  const [room, query] = location.hash.replace(/^#/, "").split("?");
  return { room: room || "playground", values: new URLSearchParams(query ?? "") };
}

/** The open room, and the address that it shows: any other address is to be entered. */
export const shown = { room: "", hash: "" };

/**
 * Writes the state without a new entry in the history, unless the room has been left.
 * @param {string} room
 * @param {Record<string, string | number | boolean | null | undefined>} values
 */
export function write(room, values) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== "" && value !== false) kept.set(name, String(value));
  }
  const query = kept.toString();
  const hash = `#${room}${query ? `?${query}` : ""}`;
  if (shown.room !== room) return;
  if (hash !== location.hash) history.replaceState(null, "", hash);
  shown.hash = location.hash;
}

/**
 * Points and classes as text: coordinates as 16-bit steps of the window, a byte a class.
 * @param {number[]} x
 * @param {number[]} y
 * @param {number[]} box
 */
export function pack(x, y, box) {
  const n = y.length;
  const bytes = new Uint8Array(n * 5);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < n; i++) {
    view.setUint16(i * 5, Math.round(65535 * Math.min(1, Math.max(0, (x[2 * i] - box[0]) / (box[1] - box[0])))));
    view.setUint16(i * 5 + 2, Math.round(65535 * Math.min(1, Math.max(0, (x[2 * i + 1] - box[2]) / (box[3] - box[2])))));
    view.setUint8(i * 5 + 4, y[i]);
  }
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * @param {string} text
 * @param {number[]} box
 * @returns {{ x: number[], y: number[] } | null}
 */
export function unpack(text, box) {
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const x = [];
    const y = [];
    for (let at = 0; at + 5 <= bytes.length; at += 5) {
      x.push(box[0] + ((box[1] - box[0]) * view.getUint16(at)) / 65535);
      x.push(box[2] + ((box[3] - box[2]) * view.getUint16(at + 2)) / 65535);
      y.push(Math.min(5, view.getUint8(at + 4)));
    }
    return { x, y };
  } catch {
    return null;
  }
}

/**
 * A whole number of an address, within its range.
 * @param {string | null} text
 * @param {number} low
 * @param {number} high
 * @param {number} usual
 */
export function whole(text, low, high, usual) {
  const value = Math.round(Number(text ?? usual));
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : usual;
}
