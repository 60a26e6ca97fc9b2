/** Arrays of numbers with axes, as NumPy has them: views of memory with a shape and strides, and their indexing.
   @typedef {InstanceType<(typeof TYPES)[keyof typeof TYPES]> | any[]} Data */

import { ELLIPSIS, Slice, same, shape_of_all, size_of, strides_of } from "./axes.js";

const TYPES = {
  f8: Float64Array, f4: Float32Array, i8: BigInt64Array, u8: BigUint64Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array, b1: Uint8Array,
};
const ALL = new Slice(null, null);
const FEW = 32; // elements that are copied sooner than seen in another array

/** Whole numbers of 64 bits become numbers where those are exact. @param {bigint} value */
function whole(value) {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** @param {any} data */
function isWide(data) {
  return data instanceof BigInt64Array || data instanceof BigUint64Array;
}

/** An array: `data` from `offset` on, with a step in it for each axis. `kind` is "f" (numbers), "i" (whole ones of a
   record), "b" (truth values) or "O" (anything). */
export class NdArray {
  /** @param {Data} data @param {number[]} shape @param {string} kind @param {number} offset @param {number[]} strides */
  constructor(data, shape, kind, offset = 0, strides = strides_of(shape)) {
    this.data = data;
    this.shape = shape;
    this.kind = kind;
    this.offset = offset;
    this.strides = strides;
  }

  get ndim() { return this.shape.length; }
  get size() { return size_of(this.shape); }
  get T() { return this.transpose(); }
  get flat() { return this.reshape(-1); }
  get dtype() { return { type: this.data instanceof Float32Array ? Math.fround : Number }; }

  /** The element at a place of `data`. @param {number} place @returns {any} */
  read(place) {
    const value = this.data[place];
    return this.kind === "b" ? value === 1 || value === true : typeof value === "bigint" ? whole(value) : value;
  }

  /** @param {number} place @param {any} value */
  write(place, value) {
    this.data[place] = isWide(this.data) ? BigInt(Math.trunc(Number(value))) : this.kind === "b" ? Number(value) : value;
  }

  /** Whether the elements lie one behind the other. */
  plain() {
    for (let axis = this.shape.length - 1, step = 1; axis >= 0; axis--) {
      if (this.strides[axis] !== step && this.shape[axis] !== 1) return false;
      step *= this.shape[axis];
    }
    return true;
  }

  /** All elements as they are stored, the last axis running fastest; not to be written. @returns {Data} */
  stored() {
    if (this.shape.length === 1 && !isWide(this.data) && (this.shape[0] <= FEW || this.strides[0] !== 1)) {
      return this.listed();
    }
    const size = this.size;
    if (!isWide(this.data) && this.plain()) {
      if (this.offset === 0 && this.data.length === size) return this.data;
      return this.data instanceof Array ? this.data.slice(this.offset, this.offset + size)
        : this.data.subarray(this.offset, this.offset + size);
    }
    const exact = isWide(this.data), places = this.places(), found = new Array(size);
    for (let i = 0; i < size; i++) found[i] = exact ? Number(this.data[places[i]]) : this.data[places[i]];
    return exact && !found.every(Number.isSafeInteger) ? Array.from(places, (place) => this.read(place)) : found;
  }

  /** The elements of an array with one axis, as they are stored. @returns {any[]} */
  listed() {
    const count = this.shape[0], step = this.strides[0], found = new Array(count), { data } = this;
    for (let i = 0, place = this.offset; i < count; i++, place += step) found[i] = data[place];
    return found;
  }

  /** The places of all elements in `data`. @returns {Int32Array} */
  places() {
    const { shape, strides } = this, found = new Int32Array(this.size), last = shape.length - 1;
    let i = 0;
    const walk = (/** @type {number} */ axis, /** @type {number} */ place) => {
      const step = strides[axis], length = shape[axis];
      if (axis === last) for (let k = 0; k < length; k++, place += step) found[i++] = place;
      else for (let k = 0; k < length; k++, place += step) walk(axis + 1, place);
    };
    if (last < 0) found[0] = this.offset; else walk(0, this.offset);
    return found;
  }

  /** All elements. @returns {any[]} */
  values() {
    if (this.shape.length === 1 && this.kind !== "b" && !isWide(this.data)) return this.listed();
    const stored = this.stored(), found = new Array(stored.length);
    for (let i = 0; i < found.length; i++) found[i] = this.kind === "b" ? Boolean(stored[i]) : stored[i];
    return found;
  }

  [Symbol.iterator]() {
    if (!this.shape.length) throw new Error("an array without axes has no elements to go through");
    if (this.shape.length === 1) return (this.kind === "b" ? this.values() : this.stored())[Symbol.iterator]();
    return this.rows()[Symbol.iterator]();
  }

  /** The rows along the first axis. @returns {any[]} */
  rows() {
    const found = new Array(this.shape[0]), shape = this.shape.slice(1), strides = this.strides.slice(1);
    for (let i = 0, place = this.offset; i < found.length; i++, place += this.strides[0]) {
      found[i] = new NdArray(this.data, shape, this.kind, place, strides);
    }
    return found;
  }

  /** The element or row i. @param {number} i @returns {any} */
  at(i) {
    const place = i < 0 ? i + this.shape[0] : i;
    if (!(place >= 0 && place < this.shape[0])) throw new Error(`index ${i} of an axis of ${this.shape[0]}`);
    const offset = this.offset + place * this.strides[0];
    if (this.shape.length === 1) return this.read(offset);
    return new NdArray(this.data, this.shape.slice(1), this.kind, offset, this.strides.slice(1));
  }

  /** Elements by numbers, slices, null (a new axis), arrays of numbers or of truth values. @param {any} index */
  get(index) {
    if (typeof index === "number") return this.at(index);
    if (index instanceof Array && index.every(Number.isInteger)) return this.inner(index);
    const parts = this.parts(index instanceof Array ? index : [index]);
    if (!parts.some((part) => part instanceof NdArray)) {
      const view = this.view(parts);
      return view.shape.length ? view : view.read(view.offset);
    }
    const view = this.view(parts.map((part) => (part instanceof NdArray ? ALL : part)));
    return parts.length === 1 && parts[0].shape.length === 1 ? take_rows(view, parts[0]) : take(view, parts);
  }

  /** What lies behind a number for each of the first axes. @param {number[]} index @returns {any} */
  inner(index) {
    let place = this.offset;
    for (let axis = 0; axis < index.length; axis++) {
      const length = this.shape[axis], own = index[axis] < 0 ? index[axis] + length : index[axis];
      if (!(own >= 0 && own < length)) throw new Error(`index ${own} of an axis of ${length}`);
      place += own * this.strides[axis];
    }
    if (index.length === this.shape.length) return this.read(place);
    return new NdArray(this.data, this.shape.slice(index.length), this.kind, place, this.strides.slice(index.length));
  }

  /** @param {any} index @param {any} value */
  set(index, value) {
    if (typeof index === "number" && this.shape.length === 1) {
      this.write(this.offset + (index < 0 ? index + this.shape[0] : index) * this.strides[0], value);
      return;
    }
    const parts = this.parts(index instanceof Array ? index : [index]);
    let targets;
    if (parts.some((part) => part instanceof NdArray)) {
      const chosen = new NdArray(Array.from(this.places()), this.shape, "f").get(parts);
      targets = chosen instanceof NdArray ? chosen : new NdArray([chosen], [], "f");
    } else {
      const view = this.view(parts);
      targets = new NdArray(Array.from(view.places()), view.shape, "f");
    }
    const many = value instanceof NdArray || value instanceof Array;
    const given = many ? broadcast_to(asarray(value), targets.shape).values() : null, places = targets.data;
    for (let i = 0; i < places.length; i++) this.write(Number(places[i]), given ? given[i] : value);
  }

  /** The parts of an index, truth values as numbers of what is true. @param {any[]} index @returns {any[]} */
  parts(index) {
    const found = index.flatMap((part) => {
      if (part instanceof Array) part = asarray(part);
      return part instanceof NdArray && part.kind === "b" ? where_true(part) : [part];
    });
    const gap = found.indexOf(ELLIPSIS);
    if (gap >= 0) {
      const missing = this.shape.length - (found.filter((part) => part !== null).length - 1);
      found.splice(gap, 1, ...new Array(missing).fill(ALL));
    }
    return found;
  }

  /** A view by numbers, slices and new axes. @param {any[]} parts @returns {NdArray} */
  view(parts) {
    const shape = [], strides = [];
    let axis = 0, offset = this.offset;
    for (const part of parts) {
      if (part === null) {
        shape.push(1);
        strides.push(0);
        continue;
      }
      const length = this.shape[axis], step = this.strides[axis];
      axis++;
      if (part instanceof Slice) {
        const [start, count, by] = part.places(length);
        offset += start * step;
        shape.push(count);
        strides.push(by * step);
      } else {
        const place = Number(part) < 0 ? Number(part) + length : Number(part);
        if (!(place >= 0 && place < length)) throw new Error(`index ${String(part)} of an axis of ${length}`);
        offset += place * step;
      }
    }
    for (; axis < this.shape.length; axis++) {
      shape.push(this.shape[axis]);
      strides.push(this.strides[axis]);
    }
    return new NdArray(this.data, shape, this.kind, offset, strides);
  }

  /** @param {any[]} axes @returns {NdArray} */
  transpose(...axes) {
    const order = (axes.length === 1 && axes[0] instanceof Array ? axes[0] : axes.length ? axes
      : this.shape.map((_, axis) => this.shape.length - 1 - axis));
    return new NdArray(this.data, order.map((axis) => this.shape[axis]), this.kind, this.offset,
      order.map((axis) => this.strides[axis]));
  }

  /** @param {any[]} lengths @returns {NdArray} */
  reshape(...lengths) {
    const shape = (lengths.length === 1 && lengths[0] instanceof Array ? lengths[0] : lengths).slice();
    const gap = shape.indexOf(-1);
    if (gap >= 0) shape[gap] = this.size / -size_of(shape);
    if (size_of(shape) !== this.size) throw new Error(`${this.shape} cannot become ${shape}`);
    if (this.plain()) return new NdArray(this.data, shape, this.kind, this.offset);
    return new NdArray(this.stored(), shape, this.kind);
  }

  ravel() { return this.reshape(-1); }
  nonzero() { return where_true(this); }
  flatten() { return this.copy().reshape(-1); }

  copy() {
    return new NdArray(Array.from(this.stored()), this.shape.slice(), this.kind);
  }

  /** @param {any} type @returns {NdArray} */
  astype(type) { return asarray(this, type, true); }

  /** Nested lists. @returns {any} */
  tolist() {
    if (!this.shape.length) return this.read(this.offset);
    return this.shape.length === 1 ? this.values() : this.rows().map((row) => row.tolist());
  }

  item() { return this.read(this.places()[0]); }

  /** @param {any} axis @param {any} initial */
  sum(axis = null, initial = 0) { return reduced(this, axis, (values) => added(values) + Number(initial), "f"); }

  /** @param {any} axis @param {any} initial */
  max(axis = null, initial = -Infinity) { return reduced(this, axis, (values) => largest(values, initial), "f"); }

  /** @param {any} axis @param {any} initial */
  min(axis = null, initial = Infinity) { return reduced(this, axis, (values) => smallest(values, initial), "f"); }

  /** @param {any} axis */
  any(axis = null) { return reduced(this, axis, (values) => values.some(Boolean), "b"); }

  /** @param {any} axis */
  all(axis = null) { return reduced(this, axis, (values) => values.every(Boolean), "b"); }

  /** @param {any} axis */
  mean(axis = null) { return reduced(this, axis, (values) => added(values) / values.length, "f"); }

  /** @param {any} axis */
  argmax(axis = null) { return reduced(this, axis, (values) => values.indexOf(largest(values, -Infinity)), "f"); }

  /** @param {any} axis */
  argmin(axis = null) { return reduced(this, axis, (values) => values.indexOf(smallest(values, Infinity)), "f"); }
}

// --- of many elements one ---------------------------------------------------------------------------------------------

/** NumPy's order of adding: eight sums side by side. @param {any} values @param {number} from @param {number} to
 * @returns {number} */
export function added(values, from = 0, to = values.length) {
  const count = to - from;
  let sum = 0;
  if (count > 128) {
    const half = Math.floor(count / 2) - (Math.floor(count / 2) % 8);
    return added(values, from, from + half) + added(values, from + half, to);
  }
  let i = from;
  if (count >= 8) {
    const sums = [0, 0, 0, 0, 0, 0, 0, 0];
    for (; i + 8 <= to; i += 8) for (let k = 0; k < 8; k++) sums[k] += Number(values[i + k]);
    sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
  for (; i < to; i++) sum += Number(values[i]);
  return sum;
}

/** @param {any} values @param {any} most */
function largest(values, most) {
  for (let i = 0; i < values.length; i++) if (values[i] > most || values[i] !== values[i]) most = values[i];
  return most;
}

/** @param {any} values @param {any} least */
function smallest(values, least) {
  for (let i = 0; i < values.length; i++) if (values[i] < least || values[i] !== values[i]) least = values[i];
  return least;
}

/** What a function makes of all elements, or of those along an axis.
 * @param {NdArray} array @param {any} axis @param {(values: any) => any} make @param {string} kind @returns {any} */
export function reduced(array, axis, make, kind) {
  if (axis === null || axis === undefined) return make(array.stored());
  const along = axis < 0 ? axis + array.shape.length : axis;
  const order = array.shape.map((_, i) => i).filter((i) => i !== along);
  const values = array.transpose([...order, along]).stored(), length = array.shape[along];
  const shape = order.map((i) => array.shape[i]), found = new Array(size_of(shape));
  if (!shape.length) return make(values);
  for (let i = 0; i < found.length; i++) {
    found[i] = make(values instanceof Array ? values.slice(i * length, (i + 1) * length)
      : values.subarray(i * length, (i + 1) * length));
  }
  return new NdArray(found, shape, kind);
}

// --- choosing ---------------------------------------------------------------------------------------------------------

/** Per axis, the numbers of what is true. @param {NdArray} array @returns {NdArray[]} */
export function where_true(array) {
  const values = array.stored(), strides = strides_of(array.shape), found = /** @type {number[]} */ ([]);
  for (let i = 0; i < values.length; i++) if (values[i]) found.push(i);
  return array.shape.map((length, axis) => new NdArray(
    found.map((i) => Math.floor(i / strides[axis]) % length), [found.length], "f"));
}

/** The rows with some numbers. @param {NdArray} array @param {NdArray} numbers @returns {NdArray} */
function take_rows(array, numbers) {
  const chosen = numbers.stored(), inner = array.shape.slice(1), wide = size_of(inner);
  const own = array.stored(), found = new Array(chosen.length * wide);
  for (let i = 0, k = 0; i < chosen.length; i++) {
    const place = Number(chosen[i]) < 0 ? Number(chosen[i]) + array.shape[0] : Number(chosen[i]);
    if (!(place >= 0 && place < array.shape[0])) throw new Error(`index ${place} of an axis of ${array.shape[0]}`);
    for (let j = 0; j < wide; j++) found[k++] = own[place * wide + j];
  }
  return new NdArray(found, [chosen.length, ...inner], array.kind);
}

/** Elements that several arrays of numbers choose together; `parts` are those of the index of which `view` was made.
 * @param {NdArray} view @param {any[]} parts @returns {any} */
function take(view, parts) {
  const axes = /** @type {number[]} */ ([]);
  let axis = 0;
  for (const part of parts) {
    if (part instanceof NdArray) axes.push(axis);
    if (part === null || part instanceof Slice || part instanceof NdArray) axis++;
  }
  const places = parts.filter((part) => part instanceof NdArray), shape = shape_of_all(places.map((each) => each.shape));
  const numbers = places.map((each) => broadcast_to(each, shape).stored());
  const rest = view.shape.map((_, i) => i).filter((i) => !axes.includes(i));
  const front = axes.every((each, i) => each === axes[0] + i) ? rest.filter((i) => i < axes[0]) : [];
  const back = rest.filter((i) => !front.includes(i));
  const part = (/** @type {number[]} */ chosen, /** @type {number} */ offset) => new NdArray(view.data,
    chosen.map((i) => view.shape[i]), view.kind, offset, chosen.map((i) => view.strides[i])).places();
  const found = [];
  for (const start of part(front, view.offset)) {
    for (let i = 0; i < size_of(shape); i++) {
      let offset = start;
      axes.forEach((along, j) => {
        const number = Number(numbers[j][i]);
        offset += (number < 0 ? number + view.shape[along] : number) * view.strides[along];
      });
      for (const place of part(back, offset)) found.push(view.read(place));
    }
  }
  const lengths = (/** @type {number[]} */ chosen) => chosen.map((i) => view.shape[i]);
  const chosen = [...lengths(front), ...shape, ...lengths(back)];
  return chosen.length ? new NdArray(found, chosen, view.kind) : found[0];
}

// --- several arrays ---------------------------------------------------------------------------------------------------

/** @param {NdArray} array @param {number[]} shape @returns {NdArray} */
export function broadcast_to(array, shape) {
  const more = shape.length - array.shape.length;
  const strides = shape.map((_, axis) => (axis < more || array.shape[axis - more] === 1 ? 0 : array.strides[axis - more]));
  return new NdArray(array.data, shape, array.kind, array.offset, strides);
}

/** What a type is called: "f", "f4", "i" or "b". @param {any} type */
function kind_of(type) {
  const name = typeof type === "function" ? type.name : String(type);
  const known = { float: "f", float64: "f", int: "i", int64: "i", int32: "i", bool: "b", bool_: "b", float32: "f4" };
  return /** @type {Record<string, string>} */ (known)[name] || (name === "f4" ? name : name[0].replace("u", "i"));
}

/** An array from nested lists, or a number as an array without axes.
 * @param {any} value @param {any} type @param {boolean} copied @returns {NdArray} */
export function asarray(value, type = undefined, copied = false) {
  if (value instanceof NdArray) {
    const kind = type === undefined ? value.kind : kind_of(type);
    if (kind === value.kind && !isWide(value.data)) return copied ? value.copy() : value;
    return stored_as(value.stored(), value.shape.slice(), kind);
  }
  if (ArrayBuffer.isView(value)) return new NdArray(/** @type {any} */ (value), [/** @type {any} */ (value).length], "f");
  const shape = [];
  let inside = value;
  while (isRow(inside)) {
    inside = inside instanceof Array ? inside : Array.from(inside);
    shape.push(inside.length);
    inside = inside[0];
  }
  /** @type {any[]} */
  const found = [];
  const gather = (/** @type {any} */ each, /** @type {number} */ depth) => {
    if (depth === shape.length) found.push(each);
    else for (const part of each) gather(part, depth + 1);
  };
  gather(value, 0);
  return stored_as(found, shape, type === undefined ? kind_of_all(found) : kind_of(type));
}

/** @param {any[]} values */
function kind_of_all(values) {
  let truths = values.length > 0;
  for (const value of values) {
    if (typeof value === "boolean") continue;
    truths = false;
    if (typeof value !== "number") return "O";
  }
  return truths ? "b" : "f";
}

/** @param {any} values @param {number[]} shape @param {string} kind */
function stored_as(values, shape, kind) {
  const data = kind === "f4" ? new Float32Array(values.length) : new Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    data[i] = kind === "b" ? Number(Boolean(value)) : kind === "i" ? Math.trunc(Number(value)) : kind === "O" ? value : Number(value);
  }
  return new NdArray(data, shape, kind === "f4" ? "f" : kind);
}

/** @param {any} value */
function isRow(value) {
  return value instanceof Array || value instanceof NdArray && value.shape.length > 0 || ArrayBuffer.isView(value)
    || (value !== null && typeof value === "object" && !(value instanceof NdArray) && Symbol.iterator in value);
}

/** What a function of two numbers gives for all elements of two arrays, stretched to each other.
 * @param {any} a @param {any} b @param {(x: any, y: any) => any} make @param {string} kind of what it gives */
export function elementwise(a, b, make, kind = "f") {
  const x = a instanceof NdArray ? a : asarray(a), y = b instanceof NdArray ? b : asarray(b);
  const shape = same(x.shape, y.shape) ? x.shape : shape_of_all([x.shape, y.shape]), size = size_of(shape);
  const first = same(x.shape, shape) ? x.stored() : x.size === 1 ? null : broadcast_to(x, shape).stored();
  const second = same(y.shape, shape) ? y.stored() : y.size === 1 ? null : broadcast_to(y, shape).stored();
  const one = first ? 0 : x.item(), other = second ? 0 : y.item();
  const found = new Array(size);
  if (!first) for (let i = 0; i < size; i++) found[i] = make(one, second ? second[i] : other);
  else if (second) for (let i = 0; i < size; i++) found[i] = make(first[i], second[i]);
  else for (let i = 0; i < size; i++) found[i] = make(first[i], other);
  return new NdArray(found, shape, kind);
}

/** What a function of a number gives for all elements. @param {any} a @param {(x: any) => any} make @param {string} kind */
export function mapped(a, make, kind = "f") {
  if (!(a instanceof NdArray) && !(a instanceof Array)) return make(a);
  const array = asarray(a), values = array.stored(), found = new Array(values.length);
  for (let i = 0; i < values.length; i++) found[i] = make(values[i]);
  return new NdArray(found, array.shape.slice(), kind);
}

// --- memory -----------------------------------------------------------------------------------------------------------

/** A live view of memory. @param {ArrayBufferLike} buffer @param {number} place in bytes
 * @param {string} code such as "f8" @param {number[]} shape @returns {NdArray} */
export function view(buffer, place, code, shape) {
  const type = TYPES[/** @type {keyof typeof TYPES} */ (code)];
  const kind = code[0] === "u" ? "i" : code[0];
  return new NdArray(new type(/** @type {ArrayBuffer} */ (buffer), place, size_of(shape)), shape, kind);
}

/** A live record: numbers and truth values, and arrays as views. @param {ArrayBufferLike} buffer
 * @param {number} place of the record, in bytes @param {Record<string, [string, number, number[]]>} fields
 * code, place in the record and shape of each @returns {any} */
export function recordOf(buffer, place, fields) {
  const record = {};
  for (const [name, [code, offset, shape]] of Object.entries(fields)) {
    const own = view(buffer, place + offset, code, shape);
    Object.defineProperty(record, name, {
      enumerable: true,
      get: shape.length ? () => own : () => own.read(0),
      set: (value) => { own.write(0, value); },
    });
  }
  return record;
}
