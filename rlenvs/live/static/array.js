/** Arrays of numbers with axes, as NumPy has them: views of memory with a shape and strides, and their indexing. */

const TYPES = {
  f8: Float64Array, f4: Float32Array, i8: BigInt64Array, u8: BigUint64Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array, b1: Uint8Array,
};

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
function size_of(shape) {
  let size = 1;
  for (const length of shape) size *= length;
  return size;
}

/** @param {number[]} shape */
function strides_of(shape) {
  const strides = new Array(shape.length);
  for (let axis = shape.length - 1, step = 1; axis >= 0; axis--) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

/** Whole numbers of 64 bits become numbers where those are exact. @param {bigint} value */
function whole(value) {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** An array: `data` from `offset` on, with a step in it for each axis. `kind` is "f", "i", "b" or "O" (anything). */
export class NdArray {
  /** @param {any} data @param {number[]} shape @param {string} kind @param {number} offset @param {number[]} strides */
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

  /** The element at a place of `data`. @param {number} place @returns {any} */
  read(place) {
    const value = this.data[place];
    return this.kind === "b" ? Boolean(value) : typeof value === "bigint" ? whole(value) : value;
  }

  /** @param {number} place @param {any} value */
  write(place, value) {
    const wide = this.data instanceof BigInt64Array || this.data instanceof BigUint64Array;
    this.data[place] = wide ? BigInt(Math.trunc(Number(value))) : value;
  }

  /** The places of all elements in `data`, the last axis running fastest. @returns {number[]} */
  places() {
    let found = [this.offset];
    for (let axis = 0; axis < this.shape.length; axis++) {
      const next = [];
      for (const place of found) {
        for (let i = 0; i < this.shape[axis]; i++) next.push(place + i * this.strides[axis]);
      }
      found = next;
    }
    return found;
  }

  /** All elements, the last axis running fastest. @returns {any[]} */
  values() {
    if (this.shape.length === 1) {
      const found = new Array(this.shape[0]);
      for (let i = 0, place = this.offset; i < found.length; i++, place += this.strides[0]) found[i] = this.read(place);
      return found;
    }
    return this.places().map((place) => this.read(place));
  }

  * [Symbol.iterator]() {
    if (!this.shape.length) throw new Error("an array without axes has no elements to go through");
    for (let i = 0; i < this.shape[0]; i++) yield this.at(i);
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
    const parts = this.parts(Array.isArray(index) ? index : [index]);
    const places = parts.filter((part) => part instanceof NdArray);
    const view = this.view(parts.map((part) => (part instanceof NdArray ? new Slice(null, null) : part)));
    if (!places.length) return view.shape.length ? view : view.read(view.offset);
    return take(view, parts);
  }

  /** @param {any} index @param {any} value */
  set(index, value) {
    const parts = this.parts(Array.isArray(index) ? index : [index]);
    if (parts.some((part) => part instanceof NdArray)) {
      const numbers = new NdArray(Array.from({ length: this.size }, (_, i) => i), this.shape, "i");
      const chosen = numbers.get(index), places = this.places();
      const targets = chosen instanceof NdArray ? chosen.values() : [chosen], given = spread(value, targets.length);
      targets.forEach((target, i) => this.write(places[target], given[i]));
      return;
    }
    const view = this.view(parts), places = view.places();
    const given = value instanceof NdArray || Array.isArray(value) ? broadcast_to(asarray(value), view.shape).values()
      : spread(value, places.length);
    places.forEach((place, i) => view.write(place, given[i]));
  }

  /** The parts of an index, truth values as numbers of what is true. @param {any[]} index @returns {any[]} */
  parts(index) {
    const found = index.flatMap((part) => {
      if (Array.isArray(part)) part = asarray(part);
      if (!(part instanceof NdArray) || part.kind !== "b") return [part];
      return where_true(part);
    });
    const gap = found.indexOf(ELLIPSIS);
    if (gap >= 0) {
      const missing = this.shape.length - (found.filter((part) => part !== null).length - 1);
      found.splice(gap, 1, ...new Array(missing).fill(new Slice(null, null)));
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
    return new NdArray(this.data, [...shape, ...this.shape.slice(axis)], this.kind, offset,
      [...strides, ...this.strides.slice(axis)]);
  }

  /** @param {any[]} axes @returns {NdArray} */
  transpose(...axes) {
    const order = (axes.length === 1 && Array.isArray(axes[0]) ? axes[0] : axes.length ? axes
      : this.shape.map((_, axis) => this.shape.length - 1 - axis));
    return new NdArray(this.data, order.map((axis) => this.shape[axis]), this.kind, this.offset,
      order.map((axis) => this.strides[axis]));
  }

  /** @param {any[]} lengths @returns {NdArray} */
  reshape(...lengths) {
    const shape = (lengths.length === 1 && Array.isArray(lengths[0]) ? lengths[0] : lengths).slice();
    const gap = shape.indexOf(-1);
    if (gap >= 0) shape[gap] = this.size / -size_of(shape);
    const plain = strides_of(this.shape).every((step, axis) => step === this.strides[axis] || this.shape[axis] === 1);
    if (plain) return new NdArray(this.data, shape, this.kind, this.offset);
    return new NdArray(this.values(), shape, this.kind);
  }

  ravel() { return this.reshape(-1); }
  flatten() { return this.copy().reshape(-1); }
  copy() { return new NdArray(this.values(), this.shape.slice(), this.kind); }

  /** @param {any} type @returns {NdArray} */
  astype(type) { return asarray(this, type, true); }

  /** Nested lists. @returns {any} */
  tolist() {
    if (!this.shape.length) return this.read(this.offset);
    return this.shape.length === 1 ? this.values() : Array.from(this, (row) => row.tolist());
  }

  item() { return this.read(this.places()[0]); }

  /** @param {any} axis @param {any} initial */
  sum(axis = null, initial = 0) {
    return reduced(this, axis, (values) => added(values, Number(initial)), this.kind === "f" ? "f" : "i");
  }

  /** @param {any} axis @param {any} initial */
  max(axis = null, initial = -Infinity) { return reduced(this, axis, (values) => largest(values, initial), this.kind); }

  /** @param {any} axis @param {any} initial */
  min(axis = null, initial = Infinity) { return reduced(this, axis, (values) => smallest(values, initial), this.kind); }

  /** @param {any} axis */
  any(axis = null) { return reduced(this, axis, (values) => values.some(Boolean), "b"); }

  /** @param {any} axis */
  all(axis = null) { return reduced(this, axis, (values) => values.every(Boolean), "b"); }

  /** @param {any} axis */
  mean(axis = null) { return reduced(this, axis, (values) => added(values, 0) / values.length, "f"); }

  /** @param {any} axis */
  argmax(axis = null) { return reduced(this, axis, (values) => values.indexOf(largest(values, -Infinity)), "i"); }

  /** @param {any} axis */
  argmin(axis = null) { return reduced(this, axis, (values) => values.indexOf(smallest(values, Infinity)), "i"); }
}

/** NumPy's order of adding: eight sums side by side. @param {any[]} values @param {number} start @returns {number} */
function added(values, start) {
  const count = values.length;
  if (count < 8) return values.reduce((sum, value) => sum + Number(value), start);
  if (count > 128) {
    const half = Math.floor(count / 2) - (Math.floor(count / 2) % 8);
    return start + (added(values.slice(0, half), 0) + added(values.slice(half), 0));
  }
  const sums = values.slice(0, 8).map(Number), end = count - (count % 8);
  for (let i = 8; i < end; i++) sums[i % 8] += Number(values[i]);
  let sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (let i = end; i < count; i++) sum += Number(values[i]);
  return start + sum;
}

/** @param {any[]} values @param {any} initial */
function largest(values, initial) {
  return values.reduce((most, value) => (value > most || value !== value ? value : most), initial);
}

/** @param {any[]} values @param {any} initial */
function smallest(values, initial) {
  return values.reduce((least, value) => (value < least || value !== value ? value : least), initial);
}

/** What a function makes of all elements, or of those along an axis.
 * @param {NdArray} array @param {any} axis @param {(values: any[]) => any} make @param {string} kind @returns {any} */
export function reduced(array, axis, make, kind) {
  if (axis === null || axis === undefined) return make(array.values());
  const along = axis < 0 ? axis + array.shape.length : axis;
  const order = array.shape.map((_, i) => i).filter((i) => i !== along);
  const rows = array.transpose([...order, along]), values = rows.values(), length = array.shape[along];
  const shape = order.map((i) => array.shape[i]), count = size_of(shape), found = new Array(count);
  for (let i = 0; i < count; i++) found[i] = make(values.slice(i * length, (i + 1) * length));
  return shape.length ? new NdArray(found, shape, kind) : found[0];
}

/** Per axis, the numbers of what is true. @param {NdArray} array @returns {NdArray[]} */
export function where_true(array) {
  const values = array.values(), strides = strides_of(array.shape), found = [];
  for (let i = 0; i < values.length; i++) if (values[i]) found.push(i);
  return array.shape.map((length, axis) => new NdArray(
    found.map((i) => Math.floor(i / strides[axis]) % length), [found.length], "i"));
}

/** Rows that arrays of numbers choose; `parts` are those of the index of which `view` was made.
 * @param {NdArray} view @param {any[]} parts @returns {any} */
function take(view, parts) {
  const axes = [];
  let axis = 0;
  for (const part of parts) {
    if (part instanceof NdArray) axes.push(axis);
    if (part === null || part instanceof Slice || part instanceof NdArray) axis++;
  }
  const places = parts.filter((part) => part instanceof NdArray), shape = shape_of_all(places.map((each) => each.shape));
  const numbers = places.map((each) => broadcast_to(each, shape).values());
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
  return new NdArray(found, [...lengths(front), ...shape, ...lengths(back)], view.kind);
}

/** @param {any} value @param {number} count @returns {any[]} */
function spread(value, count) {
  if (value instanceof NdArray) value = value.values();
  return Array.isArray(value) ? (value.length === count ? value : new Array(count).fill(value[0]))
    : new Array(count).fill(value);
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

/** @param {NdArray} array @param {number[]} shape @returns {NdArray} */
export function broadcast_to(array, shape) {
  const more = shape.length - array.shape.length;
  const strides = shape.map((_, axis) => (axis < more || array.shape[axis - more] === 1 ? 0 : array.strides[axis - more]));
  return new NdArray(array.data, shape, array.kind, array.offset, strides);
}

/** The kind of a type: a name such as "f8" or "float", or one of the runtime's functions. @param {any} type */
function kind_of(type) {
  const name = typeof type === "function" ? type.name : String(type);
  return { float: "f", int: "i", bool: "b", bool_: "b" }[name] || name[0].replace("u", "i");
}

/** @param {any} value @returns {string} */
function kind_of_value(value) {
  if (typeof value === "boolean") return "b";
  if (typeof value === "number" || typeof value === "bigint") return Number.isInteger(Number(value)) ? "i" : "f";
  return "O";
}

/** An array from nested lists, or a number as an array without axes.
 * @param {any} value @param {any} type @param {boolean} copied @returns {NdArray} */
export function asarray(value, type = undefined, copied = false) {
  if (value instanceof NdArray) {
    if (type === undefined && !copied) return value;
    const kind = type === undefined ? value.kind : kind_of(type);
    if (kind === value.kind && !copied) return value;
    return new NdArray(value.values().map((each) => cast(each, kind)), value.shape.slice(), kind);
  }
  const shape = [], flat = [];
  let inside = value;
  while (isRow(inside)) {
    inside = Array.isArray(inside) ? inside : Array.from(inside);
    shape.push(inside.length);
    inside = inside[0];
  }
  const gather = (/** @type {any} */ each, /** @type {number} */ depth) => {
    if (depth === shape.length) flat.push(each);
    else for (const part of each) gather(part, depth + 1);
  };
  gather(value, 0);
  const kinds = new Set(flat.map(kind_of_value));
  const kind = type !== undefined ? kind_of(type) : kinds.has("O") ? "O" : kinds.has("f") ? "f" : kinds.has("i") ? "i"
    : flat.length ? "b" : "f";
  return new NdArray(type === undefined ? flat : flat.map((each) => cast(each, kind)), shape, kind);
}

/** @param {any} value */
function isRow(value) {
  return Array.isArray(value) || value instanceof NdArray
    || (value !== null && typeof value === "object" && Symbol.iterator in value);
}

/** @param {any} value @param {string} kind */
function cast(value, kind) {
  return kind === "b" ? Boolean(value) : kind === "i" ? Math.trunc(Number(value)) : kind === "f" ? Number(value) : value;
}

/** What a function of two numbers gives for all elements of two arrays, stretched to each other.
 * @param {any} a @param {any} b @param {(x: any, y: any) => any} make @param {string | null} kind @returns {any} */
export function elementwise(a, b, make, kind = null) {
  const x = asarray(a), y = asarray(b), shape = shape_of_all([x.shape, y.shape]);
  const first = broadcast_to(x, shape).values(), second = broadcast_to(y, shape).values();
  const found = first.map((value, i) => make(value, second[i]));
  return new NdArray(found, shape, kind || (x.kind === "f" || y.kind === "f" ? "f" : x.kind === "b" ? y.kind : x.kind));
}

/** What a function of a number gives for all elements. @param {any} a @param {(x: any) => any} make @param {string} kind */
export function mapped(a, make, kind = "f") {
  if (!(a instanceof NdArray) && !Array.isArray(a)) return make(a);
  const array = asarray(a);
  return new NdArray(array.values().map(make), array.shape.slice(), kind);
}

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
