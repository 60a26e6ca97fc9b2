/** Axes of arrays: their lengths, strides and parts. */

/** A part start:stop:step of an axis; null where nothing is said. */
export class Slice {
  /** @param {any} start @param {any} stop @param {any} step */
  constructor(start, stop, step = null) {
    this.start = start;
    this.stop = stop;
    this.step = step;
  }

  /** The first place, how many there are, and the step. @param {number} length @returns {[number, number, number]} */
  places(length) {
    const step = this.step === null ? 1 : Number(this.step);
    const bound = (/** @type {any} */ value, /** @type {number} */ otherwise) => {
      if (value === null || value === undefined) return otherwise;
      const place = Number(value) < 0 ? Number(value) + length : Number(value);
      return Math.min(Math.max(place, step > 0 ? 0 : -1), step > 0 ? length : length - 1);
    };
    const start = bound(this.start, step > 0 ? 0 : length - 1), stop = bound(this.stop, step > 0 ? length : -1);
    return [start, Math.max(0, Math.ceil((stop - start) / step)), step];
  }
}

export const ELLIPSIS = Symbol("...");
/** @param {number[]} shape */
export function size_of(shape) {
  let size = 1;
  for (let axis = 0; axis < shape.length; axis++) size *= shape[axis];
  return size;
}

/** @param {number[]} shape */
export function strides_of(shape) {
  const strides = new Array(shape.length);
  for (let axis = shape.length - 1, step = 1; axis >= 0; axis--) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

/** The shape that all of these are stretched to. @param {number[][]} shapes @returns {number[]} */
export function shape_of_all(shapes) {
  const found = new Array(Math.max(0, ...shapes.map((shape) => shape.length))).fill(1);
  for (const shape of shapes) {
    shape.forEach((length, axis) => {
      const place = axis + found.length - shape.length;
      if (length !== 1 && found[place] !== 1 && found[place] !== length) {
        throw new Error(`shapes ${shapes.map(String).join(" and ")} do not fit`);
      }
      if (length !== 1) found[place] = length;
    });
  }
  return found;
}

/** @param {number[]} a @param {number[]} b */
export function same(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
