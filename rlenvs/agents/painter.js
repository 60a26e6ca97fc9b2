/* Paints the shapes of images on a canvas of a page, for films and for live environments alike. What the numbers of a
   shape mean is said by `Shape` in rlenvs/core/forms/recorder.py. */

/** A style (verb, color, ...) and numbers. @typedef {[(string | number)[], number[]]} Painted */

export const PARTS = 2; // of a pixel, in which coordinates are counted
const SEAM = 0.5; // pixels, of the line around a filled polygon that closes the gaps to its neighbors
const FONT = '"FreeSans", "DejaVu Sans", "Helvetica Neue", Arial, sans-serif';

/**
 * A scene on a canvas, as large as that is shown in the page.
 * @param {HTMLCanvasElement} canvas
 * @param {{scene: number[], ground: string, shapes: Painted[]}} frame
 * @param {(pen: CanvasRenderingContext2D, image: number) => void} paste paints an image over the scene
 * @param {number} shown the width of the canvas in the page
 */
export function paintScene(canvas, frame, paste, shown = canvas.clientWidth) {
  const [width, height] = frame.scene;
  const wide = Math.max(1, Math.round((shown || width) * (window.devicePixelRatio || 1)));
  const high = Math.round((wide * height) / width);
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), scale = wide / width;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  paintShapes(pen, frame, paste);
  return pen;
}

/**
 * @param {CanvasRenderingContext2D} pen whose unit is a pixel of the image
 * @param {{scene: number[], ground: string, shapes: Painted[]}} frame
 * @param {(pen: CanvasRenderingContext2D, image: number) => void} paste
 */
export function paintShapes(pen, { scene: [width, height], ground, shapes }, paste) {
  const scale = pen.getTransform().a;
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, width, height);
  pen.clip();
  pen.lineJoin = "round";
  pen.fillStyle = ground;
  pen.fillRect(0, 0, width, height);
  pen.save();
  let known = ""; // setting a color takes as long as many a shape
  for (const [style, numbers] of shapes) {
    const verb = style[0], color = String(style[1] || "#000");
    if (verb === "paste") {
      paste(pen, numbers[0]);
      continue;
    }
    if (color !== known && verb !== "clip") pen.fillStyle = pen.strokeStyle = color;
    known = verb === "clip" ? "" : color;
    VERBS[verb](pen, numbers, style, scale);
  }
  pen.restore();
  pen.restore();
}

/**
 * Fill the path, or draw it as a line.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} width of the line; 0 fills
 */
function finish(pen, width) {
  if (!width) return pen.fill();
  pen.lineWidth = Math.max(width, 1);
  pen.stroke();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number[]} numbers
 * @param {boolean} closed
 */
function trace(pen, numbers, closed) {
  pen.beginPath();
  for (let i = 0; i < numbers.length; i += 2) pen.lineTo(numbers[i] / PARTS, numbers[i + 1] / PARTS);
  if (closed) pen.closePath();
}

/** How each verb is painted, from its numbers and its style.
 * @type {Record<string, (pen: CanvasRenderingContext2D, numbers: number[], style: any[], scale: number) => void>} */
export const VERBS = {
  clip(pen, [left, top, right, bottom]) {
    pen.restore();
    pen.save();
    pen.beginPath();
    pen.rect(left / PARTS, top / PARTS, (right - left) / PARTS, (bottom - top) / PARTS);
    pen.clip();
  },
  circle(pen, numbers, style) {
    const width = style[2];
    pen.beginPath();
    pen.arc(numbers[0] / PARTS, numbers[1] / PARTS, Math.max(numbers[2] / PARTS - width / 2, 0.5), 0, 2 * Math.PI);
    finish(pen, width);
  },
  line(pen, numbers, style) {
    trace(pen, numbers, Boolean(style[3]));
    finish(pen, style[2] || 1);
  },
  polygon(pen, numbers, style) {
    trace(pen, numbers, true);
    finish(pen, style[2]);
    if (style[2]) return;
    pen.lineWidth = SEAM;
    pen.stroke();
  },
  rectangle(pen, numbers, style, scale) {
    const width = style[2], corners = style[3];
    if (!width && !corners) { // on whole pixels, so that there are no gaps to its neighbors
      const left = Math.round((numbers[0] / PARTS) * scale) / scale, top = Math.round((numbers[1] / PARTS) * scale) / scale;
      const right = Math.round((numbers[2] / PARTS) * scale) / scale, low = Math.round((numbers[3] / PARTS) * scale) / scale;
      pen.fillRect(left, top, right - left, low - top);
      return;
    }
    const [x0, y0, x1, y1] = numbers.map((number) => number / PARTS);
    const wide = Math.abs(x1 - x0), high = Math.abs(y1 - y0), left = Math.min(x0, x1), top = Math.min(y0, y1);
    pen.beginPath();
    pen.roundRect(left + width / 2, top + width / 2, Math.max(wide - width, 0), Math.max(high - width, 0),
      Math.max(0, Math.min(corners / PARTS, wide / 2, high / 2)));
    finish(pen, width);
  },
  arrow(pen, [x0, y0, x1, y1], style) {
    const width = style[2], length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 1e-9) return;
    const ux = (x1 - x0) / length, uy = (y1 - y0) / length, tip = Math.min(3 * width * PARTS, length), half = tip / 2;
    const bx = x1 - tip * ux, by = y1 - tip * uy;
    trace(pen, [x0, y0, bx, by], false);
    finish(pen, width || 1);
    trace(pen, [x1, y1, bx - half * uy, by + half * ux, bx + half * uy, by - half * ux], true);
    pen.fill();
  },
  text(pen, numbers, [, color, size, align, plate, text]) {
    const x = numbers[0] / PARTS, y = numbers[1] / PARTS;
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

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} size in pixels
 */
export function letters(pen, size) {
  pen.font = `bold ${0.9 * size}px ${FONT}`;
  pen.textBaseline = "middle";
}
