/** The canvas of worlds' images: verbs that record shapes, as rlenvs/core/forms/recorder.py does.

   A frame is {scene: [width, height], ground, shapes: [[style, numbers], ...], head, captions, legend}; styles and
   numbers are those of the docstring of `Shape` there. */

import { NdArray } from "./array.js";
import { round } from "./python.js";
import { COLORS, HEAD, MARGIN, ROW, SWATCH, USUAL, text_width } from "./frame.js";
import { iter } from "./values.js";

/** @typedef {{title: string, step: string, totals: string, mark: string, success: boolean}} Head */
/** @typedef {[(string | number)[], number[]]} Shape */
/** @typedef {{scene: [number, number], ground: string, shapes: Shape[], head: Head, captions: string[],
   legend: [string, string, string][], width: number, height: number, top: number, images: NdArray[]}} Frame */

const EMPTY = { title: "", step: "", totals: "", mark: "", success: false };

/** Codes of colors that were used. @type {Map<string | number, string>} */
const CODES = new Map();
const MOST_CODES = 4096;

/** "#rrggbb" of a name of COLORS or of three numbers. @param {any} color @returns {string} */
export function code(color) {
  const named = typeof color === "string", rgb = named ? null : iter(color);
  const key = named ? color : (1 << 24) | (rgb[0] << 16) | (rgb[1] << 8) | rgb[2];
  let found = CODES.get(key);
  if (found === undefined) {
    const [red, green, blue] = named ? COLORS[color] : rgb;
    found = `#${((1 << 24) | (red << 16) | (green << 8) | blue).toString(16).slice(1)}`;
    if (CODES.size >= MOST_CODES) CODES.clear();
    CODES.set(key, found);
  }
  return found;
}

export class Canvas {
  /** @param {number} width in pixels @param {number} height @param {boolean} framed with head and legend */
  constructor(width = USUAL, height = USUAL, framed = true) {
    this.width = width;
    this.height = height;
    this.framed = framed;
    this.unit = width / USUAL;
    /** The slot of the agent that a person plays; null shows everything. @type {number | null} */
    this.viewer = null;
    this.top = framed ? this.pixels(HEAD) : 0;
    this.bottom = height;
    this.scale = this.originX = this.originY = 0;
    this.ground = "";
    /** @type {Shape[]} */
    this.shapes = [];
    /** @type {NdArray[]} */
    this.images = [];
    /** @type {string[]} */
    this.captions = [];
    /** @type {[any, string, string][]} */
    this.entries = [];
    /** @type {Head} */
    this.told = EMPTY;
    this.clear();
  }

  /** Begin an empty image. @param {any} color */
  clear(color = "background") {
    [this.shapes, this.images, this.captions, this.entries, this.told] = [[], [], [], [], EMPTY];
    this.ground = code(color);
    this.bottom = this.height;
    this.view(0, 1, 0, 1);
  }

  /** A length of the frame in pixels. @param {number} length */
  pixels(length) { return round(length * this.unit); }

  /** Width and height of what lies between head and legend. @returns {[number, number]} */
  get scene() { return [this.width, this.bottom - this.top]; }

  /** Show the world's rectangle in an area of the scene. @param {number} left @param {number} right
   * @param {number} bottom @param {number} top @param {any} area (left, top, right, bottom) as fractions */
  view(left, right, bottom, top, area = [0, 0, 1, 1]) {
    const [width, height] = this.scene, [a, b, c, d] = iter(area);
    const x0 = 2 * width * a, x1 = 2 * width * c;
    const y0 = 2 * (this.top + height * b), y1 = 2 * (this.top + height * d);
    this.scale = Math.min((x1 - x0) / (right - left), (y1 - y0) / (top - bottom));
    this.originX = (x0 + x1) / 2 - (this.scale * (left + right)) / 2;
    this.originY = (y0 + y1) / 2 + (this.scale * (bottom + top)) / 2;
    const last = this.shapes[this.shapes.length - 1];
    if (last && last[0][0] === "clip") this.shapes.pop();
    this.add(["clip", ""], [x0, y0 - 2 * this.top, x1, y1 - 2 * this.top]);
  }

  /** @param {(string | number)[]} style @param {number[]} numbers */
  add(style, numbers) {
    for (let i = 0; i < numbers.length; i++) {
      if (!Number.isFinite(numbers[i])) return;
      numbers[i] = round(numbers[i]);
    }
    this.shapes.push([style, numbers]);
  }

  /** Halves of pixels of the scene. @param {any} points @returns {number[]} */
  points(points) {
    if (points instanceof NdArray && points.shape.length === 2) return this.rows(points);
    const list = points instanceof Array ? points : [...points], found = new Array(2 * list.length);
    const { originX, originY, scale } = this, above = 2 * this.top;
    for (let i = 0; i < list.length; i++) {
      const point = list[i], array = point instanceof NdArray, own = point.items || point;
      found[2 * i] = originX + scale * Number(array ? point.at(0) : own[0]);
      found[2 * i + 1] = originY - scale * Number(array ? point.at(1) : own[1]) - above;
    }
    return found;
  }

  /** The same of the rows of an array. @param {NdArray} array @returns {number[]} */
  rows({ data, shape: [count], strides: [down, across], offset }) {
    const found = new Array(2 * count), { originX, originY, scale } = this, above = 2 * this.top;
    for (let i = 0, place = offset; i < count; i++, place += down) {
      found[2 * i] = originX + scale * Number(data[place]);
      found[2 * i + 1] = originY - scale * Number(data[place + across]) - above;
    }
    return found;
  }

  /** @param {any} centre @param {number} radius @param {any} color @param {number} width */
  circle(centre, radius, color, width = 0) {
    const numbers = this.points([centre]);
    numbers.push(Math.max(this.scale * radius, 2));
    this.add(["circle", code(color), Number(width)], numbers);
  }

  /** @param {any} points @param {any} color @param {number} width @param {boolean} closed */
  line(points, color, width = 2, closed = false) {
    const numbers = this.points(points);
    if (numbers.length > 2) this.add(["line", code(color), Number(width), Number(closed)], numbers);
  }

  /** @param {any} points @param {any} color @param {number} width */
  polygon(points, color, width = 0) { this.add(["polygon", code(color), Number(width)], this.points(points)); }

  /** @param {number} left @param {number} bottom @param {number} right @param {number} top @param {any} color
   * @param {number} width @param {number} rounded */
  rectangle(left, bottom, right, top, color, width = 0, rounded = 0) {
    const corners = round(rounded * this.scale), above = 2 * this.top;
    this.add(["rectangle", code(color), Number(width), corners], [this.originX + this.scale * left,
      this.originY - this.scale * top - above, this.originX + this.scale * right, this.originY - this.scale * bottom - above]);
  }

  /** @param {any} start @param {any} end @param {any} color @param {number} width */
  arrow(start, end, color, width = 2) { this.add(["arrow", code(color), Number(width)], this.points([start, end])); }

  /** @param {any} position @param {string} text @param {any} color @param {number} size @param {string} align
   * @param {any} ground the color of a plate behind it */
  text(position, text, color = "black", size = 14, align = "left", ground = null) {
    const plate = ground === null ? "" : code(ground);
    this.add(["text", code(color), Number(size), align, plate, text], this.points([position]));
  }

  /** Fill the scene with an image. @param {NdArray} pixels (height, width, 3) */
  paste(pixels) {
    this.shapes = [[["paste", ""], [this.images.length]]];
    this.images.push(pixels.copy());
  }

  /** What a world says in the head. @param {string[]} lines */
  caption(...lines) { this.captions = lines; }

  /** What colors stand for. @param {any[]} entries (color, what has it) or (color, what has it, shape) */
  legend(...entries) {
    if (!this.framed) return;
    this.entries = entries.map((entry) => {
      const [color, label, shape = "square"] = iter(entry);
      return [color, label, shape];
    });
    this.bottom = this.height - this.pixels(ROW) * this.legendRows().length;
    this.view(0, 1, 0, 1);
  }

  /** What the core writes into the head. @param {Head} head */
  head(head) { this.told = head; }

  /** The entries with their places from the left, in halves of pixels, in as many rows as they need.
   * @returns {[number, any, string, string][][]} */
  legendRows() {
    return rowsOf(this.entries, this.width);
  }

  /** What was drawn since `clear`. @returns {Frame} */
  frame() {
    return {
      scene: this.scene, ground: this.ground, shapes: this.shapes, head: this.told, captions: this.captions,
      legend: this.entries.map(([color, label, shape]) => [code(color), label, shape]),
      width: this.width, height: this.height, top: this.top, images: this.images,
    };
  }
}

/** What paints the images of a frame over its scene, for the painter. @param {Frame} frame
 * @returns {(pen: CanvasRenderingContext2D, number: number) => void} */
export function pasted({ images, scene: [width, height] }) {
  return (pen, number) => {
    const [rows, columns] = images[number].shape, values = images[number].stored(), image = new ImageData(columns, rows);
    for (let i = 0, k = 0; i < 4 * rows * columns; i++) image.data[i] = i % 4 === 3 ? 255 : Number(values[k++]);
    const sheet = new OffscreenCanvas(columns, rows);
    /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d")).putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(sheet, 0, 0, width, height);
  };
}

/** @param {[any, string, string][]} entries @param {number} width of the image
 * @returns {[number, any, string, string][][]} */
export function rowsOf(entries, width) {
  const pixels = (/** @type {number} */ length) => round((length * width) / USUAL);
  /** @type {[number, any, string, string][][]} */
  const rows = [];
  const start = 2 * pixels(MARGIN);
  let x = 2 * width;
  for (const [color, label, shape] of entries) {
    const wide = 2 * pixels(SWATCH + 5) + text_width(label, pixels(12));
    if (x + wide > 2 * width - start) {
      rows.push([]);
      x = start;
    }
    rows[rows.length - 1].push([x, color, label, shape]);
    x += wide + 2 * pixels(14);
  }
  return rows;
}
