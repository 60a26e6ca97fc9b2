/** Methods of Python's texts, lists, sets and dictionaries; those of other objects are their own. */

import { NdArray } from "./array.js";
import { Dict, PySet, dict, set } from "./containers.js";
import { padded } from "./text.js";
import { compared, equal, iter } from "./values.js";

/** A method that objects of other classes may have too. @param {string} name @param {(value: any) => boolean} fits
 * @param {(...values: any[]) => any} own @returns {(...values: any[]) => any} */
function unless(name, fits, own) {
  return (value, ...rest) => (fits(value) ? own(value, ...rest) : value[name](...rest));
}

const isText = (/** @type {any} */ value) => typeof value === "string";
const isList = (/** @type {any} */ value) => value instanceof Array;
const isDict = (/** @type {any} */ value) => value instanceof Dict;
const isSet = (/** @type {any} */ value) => value instanceof PySet;
const isNumber = (/** @type {any} */ value) => !(value instanceof NdArray);

/** @param {any} list @param {any} value */
function place_of(list, value) {
  const place = typeof list === "string" ? list.indexOf(value) : [...iter(list)].findIndex((each) => equal(each, value));
  if (place < 0) throw new Error(`${String(value)} is not in it`);
  return place;
}

/** @param {any[]} list @param {any} key @param {boolean} reverse */
function sort(list, key = null, reverse = false) {
  const ranked = list.map((value) => ({ value, rank: key ? key(value) : value }));
  ranked.sort((a, b) => (reverse ? compared(b.rank, a.rank) : compared(a.rank, b.rank)));
  ranked.forEach(({ value }, i) => { list[i] = value; });
  return null;
}

/** @param {string} text @param {string | null} by */
function split(text, by = null) {
  return by === null ? text.trim().split(/\s+/).filter(Boolean) : text.split(by);
}

/** @param {any} value */
function bit_length(value) {
  return value == 0 ? 0 : (value < 0 ? -BigInt(value) : BigInt(value)).toString(2).length;
}

/** @type {Record<string, (...values: any[]) => any>} */
export const methods = {
  join: (by, texts) => [...iter(texts)].join(by),
  split: unless("split", isText, split),
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  strip: (text, letters = null) => (letters === null ? text.trim() : methods.lstrip(methods.rstrip(text, letters), letters)),
  rstrip: (text, letters = " \n\t") => {
    let end = text.length;
    while (end > 0 && letters.includes(text[end - 1])) end--;
    return text.slice(0, end);
  },
  lstrip: (text, letters = " \n\t") => {
    let start = 0;
    while (start < text.length && letters.includes(text[start])) start++;
    return text.slice(start);
  },
  title: unless("title", isText, (text) => text.toLowerCase().replace(/[a-z]+/g, (/** @type {string} */ word) => word[0].toUpperCase() + word.slice(1))),
  capitalize: (text) => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase(),
  replace: unless("replace", isText, (text, old, now) => text.split(old).join(now)),
  startswith: (text, start) => text.startsWith(start),
  endswith: (text, end) => text.endsWith(end),
  zfill: (text, width) => text.padStart(width, "0"),
  ljust: (text, width, fill = " ") => padded(text, width, fill, "<"),
  rjust: (text, width, fill = " ") => padded(text, width, fill, ">"),
  center: unless("center", isText, (text, width, fill = " ") => padded(text, width, fill, "^")),
  index: unless("index", (value) => isList(value) || isText(value) || value.items, place_of),
  count: unless("count", (value) => isList(value) || isText(value), (list, value) => (
    isText(list) ? list.split(value).length - 1 : list.filter((/** @type {any} */ each) => equal(each, value)).length)),
  append: unless("append", isList, (list, value) => { list.push(value); return null; }),
  extend: (list, values) => { list.push(...iter(values)); return null; },
  insert: (list, place, value) => { list.splice(place, 0, value); return null; },
  pop: unless("pop", (value) => isList(value) || isDict(value), (holder, key = -1) => {
    if (isList(holder)) return holder.splice(key, 1)[0];
    const value = holder.at(key);
    holder.delete(key);
    return value;
  }),
  remove: unless("remove", isList, (list, value) => { list.splice(place_of(list, value), 1); return null; }),
  reverse: (list) => { list.reverse(); return null; },
  sort,
  get: unless("get", isDict, (found, key, otherwise = null) => (found.has(key) ? found.at(key) : otherwise)),
  items: unless("items", isDict, (found) => Array.from(found.pairs.values())),
  keys: unless("keys", isDict, (found) => found.keys()),
  values: unless("values", isDict, (found) => Array.from(found.pairs.values(), ([, value]) => value)),
  setdefault: (found, key, value) => {
    if (!found.has(key)) found.set(key, value);
    return found.at(key);
  },
  add: unless("add", isSet, (found, value) => { found.add(value); return null; }),
  update: unless("update", (value) => isSet(value) || isDict(value), (found, values) => {
    if (isDict(found)) for (const [key, value] of methods.items(dict(values))) found.set(key, value);
    else for (const value of iter(values)) found.add(value);
    return null;
  }),
  union: (found, values) => set([...found, ...iter(values)]),
  intersection: (found, values) => set([...iter(values)].filter((each) => found.has(each))),
  difference: (found, values) => set([...found].filter((each) => !set(iter(values)).has(each))),
  isdisjoint: (found, values) => ![...iter(values)].some((each) => found.has(each)),
  issubset: (found, values) => [...found].every((each) => set(iter(values)).has(each)),
  copy: unless("copy", (value) => isList(value) || isDict(value) || isSet(value), (value) => (
    isList(value) ? value.slice() : isDict(value) ? dict(value) : set(value))),
  popleft: (list) => list.shift(),
  appendleft: (list, value) => { list.unshift(value); return null; },
  bit_length,
  is_integer: (value) => Number.isInteger(value),
  tolist: unless("tolist", isNumber, (value) => value),
  item: unless("item", isNumber, (value) => value),
};
