/* Playing on the picture: choices that lie somewhere in it are chosen by a click, or by arrows and Enter. */

import { PARTS } from "./painter.js";
import { iter } from "./values.js";

/** @typedef {import("./canvas.js").Canvas} Canvas */
/** @typedef {(canvas: Canvas, p: any, s: any) => any} Places see `World.places` of rlenvs/core/declare/spec.py */
/** @typedef {[number, number]} Point in pixels of the scene */

const ARROWS = /** @type {Record<string, Point>} */ ({
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
});
const ASIDE = 3; // times as far as straight on, for an arrow
const MARK = 7; // pixels, radius

/** Where a person points. Some choices take several points, such as from and to. */
export class Pointing {
  /** @param {Places} places */
  constructor(places) {
    this.places = places;
    /** @type {Point[][]} */
    this.paths = []; // of each choice
    /** @type {number[]} */
    this.allowed = [];
    /** @type {number[]} */
    this.open = []; // choices that are allowed and lie where was pointed so far
    /** @type {Point[]} */
    this.picked = [];
    /** @type {Point | null} */
    this.cursor = null;
  }

  /**
   * The state is another one: nothing is picked.
   * @param {Canvas} canvas on which it was drawn
   * @param {{p: any, s: any}} records
   * @param {ArrayLike<number> | null} mask which choices are allowed; null for all
   */
  begin(canvas, { p, s }, mask) {
    this.paths = Array.from(iter(this.places(canvas, p, s)), (path) => {
      const numbers = canvas.points(path);
      return Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] / PARTS, numbers[2 * i + 1] / PARTS]);
    });
    this.allowed = this.paths.map((_, choice) => choice).filter((choice) => !mask || mask[choice]);
    this.forget();
  }

  /** Nothing can be chosen. */
  end() {
    [this.paths, this.allowed, this.open, this.picked] = [[], [], [], []];
  }

  /** Nothing is picked. */
  forget() {
    this.open = this.allowed;
    this.picked = [];
    this.cursor = this.cursor && this.near(this.cursor);
  }

  /** Where may be pointed now. @returns {Point[]} */
  get targets() {
    const found = new Map();
    for (const choice of this.open) {
      const point = this.paths[choice][this.picked.length];
      if (point) found.set(name(point), point);
    }
    return [...found.values()];
  }

  /** The choices that need no more pointing. */
  get ready() {
    return this.open.filter((choice) => this.paths[choice].length === this.picked.length);
  }

  /** The choices that may begin, or go on, at the cursor. */
  get under() {
    const { cursor, picked } = this, wanted = cursor && name(cursor);
    return this.open.filter((choice) => this.paths[choice].length > picked.length && name(this.paths[choice][picked.length]) === wanted);
  }

  /**
   * @param {Point} place
   * @param {Point[]} [targets]
   * @returns {Point | null} the nearest of them
   */
  near(place, targets = this.targets) {
    let best = null, least = Infinity;
    for (const target of targets) {
      const away = Math.hypot(target[0] - place[0], target[1] - place[1]);
      if (away < least) [best, least] = [target, away];
    }
    return best;
  }

  /**
   * @param {Point} target
   * @returns {number | null} the choice, where one alone is left
   */
  pick(target) {
    const depth = this.picked.length, wanted = name(target);
    this.cursor = target;
    this.open = this.open.filter((choice) => depth < this.paths[choice].length && name(this.paths[choice][depth]) === wanted);
    this.picked.push(target);
    return this.open.length === 1 && this.ready.length ? this.open[0] : null;
  }

  /**
   * A key went down.
   * @param {string} key
   * @returns {{used: boolean, choice: number | null}} whether it means something here; what it chose
   */
  press(key) {
    if (!this.targets.length && !this.picked.length) return { used: false, choice: null };
    if (ARROWS[key]) this.move(ARROWS[key]);
    else if (key === "Enter" || key === " ") return { used: true, choice: this.cursor && this.under.length ? this.pick(this.cursor) : null };
    else if ((key === "Backspace" || key === "Escape") && this.picked.length) this.forget();
    else return { used: false, choice: null };
    return { used: true, choice: null };
  }

  /** @param {Point} direction */
  move([dx, dy]) {
    const { targets, cursor } = this;
    if (!cursor) {
      this.cursor = targets[0] || null;
      return;
    }
    let best = cursor, least = Infinity;
    for (const target of targets) {
      const x = target[0] - cursor[0], y = target[1] - cursor[1], along = x * dx + y * dy;
      const far = along + ASIDE * Math.abs(x * dy - y * dx);
      if (along > 0.5 && far < least) [best, least] = [target, far];
    }
    this.cursor = best;
  }

  /**
   * @param {Point} place
   * @returns {{used: boolean, choice: number | null}}
   */
  click(place) {
    const target = this.near(place), depth = this.picked.length;
    const meant = this.near(place, this.paths.filter((path) => path.length > depth).map((path) => path[depth]));
    if (target && meant && name(target) === name(meant)) return { used: true, choice: this.pick(target) };
    if (depth) this.forget();
    return { used: depth > 0, choice: null };
  }

  /**
   * Show the cursor and what is picked; and where one may point next, once something is picked.
   * @param {CanvasRenderingContext2D} pen whose unit is a pixel of the scene
   */
  paint(pen) {
    if (this.picked.length) for (const target of this.targets) ring(pen, target, MARK / 2, "#0072b2");
    for (const point of this.picked) ring(pen, point, 1.5 * MARK, "#0072b2");
    if (this.cursor) ring(pen, this.cursor, MARK, "#f0e442");
  }
}

/** @param {Point} point */
function name([x, y]) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Point} middle
 * @param {number} radius
 * @param {string} color
 */
function ring(pen, [x, y], radius, color) {
  for (const [width, shade] of /** @type {[number, string][]} */ ([[5, "#1e1e1e"], [3, color]])) {
    pen.lineWidth = width;
    pen.strokeStyle = shade;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
  }
}
