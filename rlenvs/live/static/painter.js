/** Paints the scenes of frames on a canvas of the page. */

/** @typedef {import("./canvas.js").Frame} Frame */
/** @typedef {import("./array.js").NdArray} NdArray */

export const PARTS = 2; // of a pixel, in which coordinates are counted
const SEAM = 0.5; // pixels, of the line around a filled polygon that closes the gaps to its neighbors
const FONT = '"FreeSans", "Helvetica Neue", Arial, sans-serif';

/** The scene alone, as large as the context's canvas. @param {Frame} frame @param {CanvasRenderingContext2D} pen */
export function paintScene(frame, pen) {
  const scale = pen.canvas.width / frame.scene[0];
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  paintShapes(frame, pen);
}

/** @param {Frame} frame @param {CanvasRenderingContext2D} pen whose unit is a pixel of the image */
export function paintShapes(frame, pen) {
  const [width, height] = frame.scene, scale = pen.getTransform().a;
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
    else VERBS[verb](pen, places, style.slice(2), String(color), scale);
  }
  pen.restore();
  pen.restore();
}

/** @param {CanvasRenderingContext2D} pen @param {number} width */
function finish(pen, width) {
  if (!width) return pen.fill();
  pen.lineWidth = width === SEAM ? width : Math.max(width, 1);
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {number[]} places @param {boolean} closed */
function trace(pen, places, closed) {
  pen.beginPath();
  for (let i = 0; i < places.length; i += 2) pen.lineTo(places[i], places[i + 1]);
  if (closed) pen.closePath();
}

/** How each verb is painted, from its places in pixels and what its style has behind the color.
 * @type {Record<string, (pen: CanvasRenderingContext2D, places: number[], rest: any[], color: string, scale: number) => void>} */
export const VERBS = {
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
    if (!width) finish(pen, SEAM);
  },
  rectangle(pen, [x0, y0, x1, y1], [width, corners], _color, scale) {
    if (!width && !corners) { // on whole pixels, so that there are no gaps to its neighbors
      const [left, top, right, bottom] = [x0, y0, x1, y1].map((place) => Math.round(place * scale) / scale);
      pen.fillRect(left, top, right - left, bottom - top);
      return;
    }
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
export function letters(pen, size) {
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
