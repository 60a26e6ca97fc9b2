/** The frame of images: colors, lengths and texts, as rlenvs/core/declare/canvas.py has them. */

import { ADVANCES, OVERLAPS } from "./widths.js";

/** @type {Record<string, [number, number, number]>} */
export const COLORS = {
  background: [250, 250, 247], black: [30, 30, 30], grey: [150, 150, 150], light: [222, 222, 216],
  white: [255, 255, 255], orange: [230, 159, 0], sky: [86, 180, 233], green: [0, 158, 115], yellow: [240, 228, 66],
  blue: [0, 114, 178], red: [213, 94, 0], pink: [204, 121, 167],
};
export const AGENT_COLORS = ["blue", "orange", "green", "red", "pink", "sky", "yellow", "black"];
export const USUAL = 512, HEAD = 44, ROW = 20, MARGIN = 10, SWATCH = 11;

/** @type {Record<string, Record<string, number>>} */
const APART = {};
for (const [first, row] of Object.entries(OVERLAPS)) {
  APART[first] = {};
  for (const [apart, letters] of Object.entries(row)) for (const second of letters) APART[first][second] = Number(apart);
}
const MEASURED = 12; // pixels, for which widths.js holds

/** The width of a text of `size` pixels, in halves of pixels. @param {string} text @param {number} size */
export function text_width(text, size) {
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    width += 64 * (/** @type {Record<string, number>} */ (ADVANCES)[text[i]] || 12) + ((APART[text[i]] || {})[text[i + 1]] || 0);
  }
  return Math.floor(((width / 64) * size) / MEASURED);
}

/** The color of an agent. @param {number} index */
export function agent_color(index) { return AGENT_COLORS[index % AGENT_COLORS.length]; }

/** A color as red, green and blue. @param {any} color */
export function rgb(color) { return typeof color === "string" ? COLORS[color] : color; }
