/** Paints whole images on a canvas of the page, with head and legend as Python's have them. */

import { pasted, rowsOf } from "./canvas.js";
import { HEAD, MARGIN, ROW, SWATCH, USUAL } from "./frame.js";
import { PARTS, VERBS, letters, paintShapes } from "./painter.js";

/** @typedef {import("./canvas.js").Frame} Frame */

const DARK = "#252c34", QUIET = "#bcc4cc", PLAIN = "#f0f0ec", RULE = "#cecec8", FAINT_EDGE = "#a0a09a", OVER = "#6e747a";
const FAINT = 32, SMALLEST = 9;

/** A whole image, with head and legend, as large as the context's canvas.
 * @param {Frame} frame @param {CanvasRenderingContext2D} pen */
export function paint(frame, pen) {
  const scale = pen.canvas.width / frame.width;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.save();
  pen.translate(0, frame.top);
  paintShapes(pen, frame, pasted(frame));
  pen.restore();
  if (!frame.top) return;
  paintHead(frame, pen);
  paintLegend(frame, pen);
}

/** Text as small as it has to be for its room, cut where that is not enough; returns its width.
 * @param {CanvasRenderingContext2D} pen @param {string} text @param {number} x @param {number} y @param {number} size
 * @param {string} color @param {CanvasTextAlign} align @param {number} room */
function write(pen, text, x, y, size, color, align = "left", room = Infinity) {
  letters(pen, size);
  while (size > SMALLEST && pen.measureText(text).width > room) letters(pen, (size -= 1));
  if (pen.measureText(text).width > room) {
    while (text && pen.measureText(`${text}...`).width > room) text = text.slice(0, -1);
    text += "...";
  }
  pen.fillStyle = color;
  pen.textAlign = align;
  pen.fillText(text, x, y);
  return pen.measureText(text).width;
}

/** Name and step in the first row, caption and totals in the second. @param {Frame} frame
 * @param {CanvasRenderingContext2D} pen */
function paintHead(frame, pen) {
  const unit = frame.width / USUAL, margin = MARGIN * unit, { head } = frame, right = frame.width - margin;
  pen.fillStyle = DARK;
  pen.fillRect(0, 0, frame.width, frame.top);
  const [first, second] = [0.29 * HEAD * unit, 0.72 * HEAD * unit];
  const step = write(pen, head.step, right, first, 13 * unit, QUIET, "right");
  const title = write(pen, head.title, margin, first, 15 * unit, "#fff", "left", right - step - 2 * margin);
  if (head.mark) paintMark(pen, head.mark, head.success, 2.5 * margin + title, first, unit);
  const totals = write(pen, head.totals, right, second, 13 * unit, "#fff", "right");
  write(pen, frame.captions.join("   "), margin, second, 13 * unit, QUIET, "left", right - totals - 2 * margin);
}

/** @param {CanvasRenderingContext2D} pen @param {string} text @param {boolean} good @param {number} x @param {number} y
 * @param {number} unit */
function paintMark(pen, text, good, x, y, unit) {
  letters(pen, 12 * unit);
  const wide = pen.measureText(text).width, high = 15 * unit;
  pen.fillStyle = good ? "#009e73" : OVER;
  pen.beginPath();
  pen.roundRect(x - MARGIN * unit * 0.5, y - high / 2, wide + MARGIN * unit, high, high / 2);
  pen.fill();
  write(pen, text, x, y, 12 * unit, "#fff");
}

/** @param {Frame} frame @param {CanvasRenderingContext2D} pen */
function paintLegend(frame, pen) {
  const bottom = frame.top + frame.scene[1], unit = frame.width / USUAL, row = ROW * unit;
  if (!frame.legend.length) return;
  pen.fillStyle = PLAIN;
  pen.fillRect(0, bottom, frame.width, frame.height - bottom);
  rowsOf(frame.legend, frame.width).forEach((entries, i) => {
    for (const [left, color, label, shape] of entries) {
      const x = left / PARTS, y = bottom + (i + 0.5) * row;
      paintSwatch(pen, x, y, SWATCH * unit, color, shape);
      write(pen, label, x + (SWATCH + 5) * unit, y, 12 * unit, "#1e1e1e");
    }
  });
  pen.fillStyle = RULE;
  pen.fillRect(0, bottom, frame.width, unit);
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} size
 * @param {string} color @param {string} shape */
function paintSwatch(pen, x, y, size, color, shape) {
  const half = size / 2, paint = (/** @type {string} */ verb, /** @type {number[]} */ places, /** @type {number[]} */ ...rest) => (
    VERBS[verb](pen, places.map((place) => PARTS * place), [verb, color, ...rest], 1));
  const box = [x, y - half, x + size, y + half], corners = (PARTS * size) / 5;
  pen.fillStyle = pen.strokeStyle = color;
  if (shape === "disc" || shape === "ring") return paint("circle", [x + half, y, half], shape === "ring" ? size / 4 : 0);
  if (shape === "line") return paint("line", [x, y, x + size, y], size / 4, 0);
  if (shape === "triangle") return paint("polygon", [x, y + half, x + half, y - half, x + size, y + half], 0);
  paint("rectangle", box, 0, corners);
  if (![1, 3, 5].every((i) => Math.abs(parseInt(color.slice(i, i + 2), 16) - parseInt(PLAIN.slice(i, i + 2), 16)) < FAINT)) return;
  pen.strokeStyle = FAINT_EDGE;
  paint("rectangle", box, 1, corners);
}
