/** Paints frames of `canvas.js` on a canvas of the page. */

import { rowsOf } from "./canvas.js";
import { HEAD, MARGIN, ROW, SWATCH, USUAL } from "./frame.js";

/** @typedef {import("./canvas.js").Frame} Frame */
/** @typedef {import("./array.js").NdArray} NdArray */

const PARTS = 2; // of a pixel, in which coordinates are counted
const FONT = '"FreeSans", "Helvetica Neue", Arial, sans-serif';
const DARK = "#252c34", QUIET = "#bcc4cc", PLAIN = "#f0f0ec", RULE = "#cecec8", FAINT_EDGE = "#a0a09a", OVER = "#6e747a";
const FAINT = 32, SMALLEST = 9;

/** A whole image, with head and legend, as large as the context's canvas.
 * @param {Frame} frame @param {CanvasRenderingContext2D} pen */
export function paint(frame, pen) {
  const scale = pen.canvas.width / frame.width;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.save();
  pen.translate(0, frame.top);
  paintShapes(frame, pen);
  pen.restore();
  if (!frame.top) return;
  paintHead(frame, pen);
  paintLegend(frame, pen);
}

/** The scene alone, as large as the context's canvas. @param {Frame} frame @param {CanvasRenderingContext2D} pen */
export function paintScene(frame, pen) {
  const scale = pen.canvas.width / frame.scene[0];
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  paintShapes(frame, pen);
}

/** @param {Frame} frame @param {CanvasRenderingContext2D} pen whose unit is a pixel of the image */
function paintShapes(frame, pen) {
  const [width, height] = frame.scene;
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, width, height);
  pen.clip();
  pen.fillStyle = frame.ground;
  pen.fillRect(0, 0, width, height);
  pen.save();
  for (const [style, numbers] of frame.shapes) {
    const [verb, color] = style, places = numbers.map((number) => number / PARTS);
    pen.fillStyle = pen.strokeStyle = String(color || "#000");
    pen.lineJoin = "round";
    if (verb === "paste") paste(pen, frame.images[numbers[0]], width, height);
    else VERBS[verb](pen, places, style.slice(2), String(color));
  }
  pen.restore();
  pen.restore();
}

/** @param {CanvasRenderingContext2D} pen @param {number} width */
function finish(pen, width) {
  if (!width) return pen.fill();
  pen.lineWidth = Math.max(width, 1);
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {number[]} places @param {boolean} closed */
function trace(pen, places, closed) {
  pen.beginPath();
  for (let i = 0; i < places.length; i += 2) pen.lineTo(places[i], places[i + 1]);
  if (closed) pen.closePath();
}

/** How each verb is painted, from its places in pixels and what its style has behind the color.
 * @type {Record<string, (pen: CanvasRenderingContext2D, places: number[], rest: any[], color: string) => void>} */
const VERBS = {
  clip(pen, [left, top, right, bottom]) {
    pen.restore();
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
  },
  circle(pen, [x, y, radius], [width]) {
    pen.beginPath();
    pen.arc(x, y, Math.max(radius - width / 2, 0.5), 0, 2 * Math.PI);
    finish(pen, width);
  },
  line(pen, places, [width, closed]) {
    trace(pen, places, Boolean(closed));
    finish(pen, width || 1);
  },
  polygon(pen, places, [width]) {
    trace(pen, places, true);
    finish(pen, width);
  },
  rectangle(pen, [x0, y0, x1, y1], [width, corners]) {
    const wide = Math.abs(x1 - x0), high = Math.abs(y1 - y0), left = Math.min(x0, x1), top = Math.min(y0, y1);
    pen.beginPath();
    pen.roundRect(left + width / 2, top + width / 2, Math.max(wide - width, 0), Math.max(high - width, 0),
      Math.max(0, Math.min(corners / PARTS, wide / 2, high / 2)));
    finish(pen, width);
  },
  arrow(pen, [x0, y0, x1, y1], [width]) {
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 1e-9) return;
    const ux = (x1 - x0) / length, uy = (y1 - y0) / length, tip = Math.min(3 * width, length), half = tip / 2;
    const bx = x1 - tip * ux, by = y1 - tip * uy;
    trace(pen, [x0, y0, bx, by], false);
    finish(pen, width || 1);
    trace(pen, [x1, y1, bx - half * uy, by + half * ux, bx + half * uy, by - half * ux], true);
    pen.fill();
  },
  text(pen, [x, y], [size, align, plate, text], color) {
    letters(pen, size);
    pen.textAlign = align === "centre" ? "center" : align;
    if (plate) {
      const wide = pen.measureText(text).width, left = x - { left: 0, centre: 0.5, right: 1 }[/** @type {"left"} */ (align)] * wide;
      pen.fillStyle = plate;
      pen.beginPath();
      pen.roundRect(left - 3, y - 0.6 * size, wide + 6, 1.2 * size, 4);
      pen.fill();
      pen.fillStyle = color;
    }
    pen.fillText(text, x, y);
  },
};

/** @param {CanvasRenderingContext2D} pen @param {number} size in pixels */
function letters(pen, size) {
  pen.font = `bold ${0.9 * size}px ${FONT}`;
  pen.textBaseline = "middle";
}

/** @param {CanvasRenderingContext2D} pen @param {NdArray} image (height, width, 3) @param {number} width @param {number} height */
function paste(pen, image, width, height) {
  const [rows, columns] = image.shape, values = image.values(), data = new ImageData(columns, rows);
  for (let i = 0; i < rows * columns; i++) {
    data.data.set([values[3 * i], values[3 * i + 1], values[3 * i + 2], 255], 4 * i);
  }
  const sheet = new OffscreenCanvas(columns, rows);
  /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d")).putImageData(data, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(sheet, 0, 0, width, height);
}

// --- head and legend --------------------------------------------------------------------------------------------------

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
  const half = size / 2;
  pen.fillStyle = pen.strokeStyle = color;
  if (shape === "disc" || shape === "ring") {
    const line = shape === "ring" ? size / 4 : 0;
    VERBS.circle(pen, [x + half, y, half], [line], color);
  } else if (shape === "line") {
    VERBS.line(pen, [x, y, x + size, y], [size / 4, 0], color);
  } else if (shape === "triangle") {
    VERBS.polygon(pen, [x, y + half, x + half, y - half, x + size, y + half], [0], color);
  } else {
    VERBS.rectangle(pen, [x, y - half, x + size, y + half], [0, (PARTS * size) / 5], color);
    const faint = [1, 3, 5].every((i) => Math.abs(parseInt(color.slice(i, i + 2), 16) - parseInt(PLAIN.slice(i, i + 2), 16)) < FAINT);
    if (faint) {
      pen.strokeStyle = FAINT_EDGE;
      VERBS.rectangle(pen, [x, y - half, x + size, y + half], [1, (PARTS * size) / 5], color);
    }
  }
}
