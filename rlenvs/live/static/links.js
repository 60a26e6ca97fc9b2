// Links: the exact state of an environment as a text, as rlenvs/core/batch/links.py has it; and snapshots.
// A link comes from anybody: all that it holds is checked before it is written into memory.

import { unpacked } from "./packing.js";

/** @typedef {import("./environment.js").Environment} Environment */
/** @typedef {{state: Uint8Array, params: Uint8Array}} Snapshot */
/** @typedef {{format: number, id: string, level: string, seed: number | null, world: string, checksum: number}} Header */

export const MARK = "#live="; // what an address with a state has before it
const FORMAT = 1;
const LARGEST_TEXT = 1 << 22, LARGEST_CONTENT = 1 << 24, LARGEST_HEADER = 1 << 10; // letters, bytes, bytes
const LINE = 10;
/** @type {Record<string, (value: any) => boolean>} */
const HEADER = {
  format: Number.isSafeInteger,
  id: value => typeof value === "string",
  level: value => typeof value === "string",
  seed: value => value === null || (Number.isSafeInteger(value) && value >= 0),
  world: value => typeof value === "string",
  checksum: Number.isSafeInteger,
};

export class LinkError extends Error {}

// --- texts ---

/**
 * The state of an environment as the text of a link.
 * @param {Environment} environment
 */
export async function linkText(environment) {
  const { id, level, fingerprint } = environment.description, { seed } = environment;
  const { state, params } = snapshotOf(environment), checksum = checksumOf(fingerprint, state, params);
  const exact = seed !== null && BigInt(seed) <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seed) : null;
  const header = JSON.stringify({ format: FORMAT, id, level, seed: exact, world: fingerprint, checksum });
  const content = new Blob([`${header}\n`, changed(environment, params), state].map(part => /** @type {BlobPart} */ (part)));
  const packed = await new Response(content.stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();
  const letters = Array.from(new Uint8Array(packed), byte => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * What a link says, before anything is made from it.
 * @param {string} text a link, or what follows its mark
 * @returns {Promise<{header: Header, body: Uint8Array}>}
 */
export async function readLink(text) {
  if (typeof text !== "string" || text.length > LARGEST_TEXT) throw new LinkError(`a link has at most ${LARGEST_TEXT} letters`);
  const packed = text.trim().split(MARK).at(-1) ?? "";
  if (!/^[A-Za-z0-9_-]+$/.test(packed)) throw new LinkError("this is no link to a state");
  let header, body;
  try {
    const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const content = await unpacked(Uint8Array.from(letters, letter => letter.charCodeAt(0)), "deflate-raw", LARGEST_CONTENT);
    const end = content.indexOf(LINE);
    if (end < 0 || end > LARGEST_HEADER) throw new Error("it has no header");
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content.subarray(0, end)));
    body = content.subarray(end + 1);
  } catch (error) {
    throw new LinkError(`the link is damaged: ${error instanceof Error ? error.message : error}`);
  }
  return { header: checkedHeader(header), body };
}

/** @param {any} header @returns {Header} */
function checkedHeader(header) {
  const names = Object.keys(HEADER);
  if (!header || typeof header !== "object" || Object.keys(header).length !== names.length) throw new LinkError("the link is damaged: it has no header");
  for (const name of names) {
    if (!Object.hasOwn(header, name) || !HEADER[name](header[name])) throw new LinkError(`the link is damaged: its ${name} is wrong`);
  }
  if (header.format !== FORMAT) throw new LinkError(`the link has the format ${header.format}; this page reads ${FORMAT}`);
  return header;
}

/**
 * Bring an environment, at the level of a link, into the link's state.
 * @param {Environment} environment
 * @param {Header} header
 * @param {Uint8Array} body
 * @param {(p: any, s: any) => string} fault what the world itself says is wrong with a state; empty where nothing is
 */
export function restoreLink(environment, header, body, fault) {
  const { arrays, fingerprint, id } = environment.description, size = arrays.param_rows.bytes;
  if (header.world !== fingerprint || body.length !== size + arrays.states.bytes) {
    throw new LinkError(`the link does not fit ${id}: it belongs to another version of it`);
  }
  const state = body.slice(size), params = changed(environment, body.subarray(0, size));
  if (checksumOf(fingerprint, state, params) !== header.checksum) throw new LinkError("the link is damaged: its checksum is wrong");
  restoreSnapshot(environment, { state, params }, fault);
  environment.seed = header.seed;
}

/**
 * Bytes of a record of parameters, exclusive-ored with those of the level; the same again gives them back.
 * @param {Environment} environment
 * @param {Uint8Array} params
 */
function changed(environment, params) {
  const { place } = environment.description.arrays.param_rows;
  return params.map((byte, j) => byte ^ environment.image[place + j]);
}

/**
 * As rlenvs/core/batch/snapshots.py has it.
 * @param {string} world
 * @param {Uint8Array} state
 * @param {Uint8Array} params
 */
function checksumOf(world, state, params) {
  return [new TextEncoder().encode(world), state, params].reduce((crc, bytes) => crc32(bytes, crc), 0);
}

const POLYNOMIAL = 0xedb88320;
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
});

/** @param {Uint8Array} bytes @param {number} before */
function crc32(bytes, before) {
  let crc = ~before;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

// --- snapshots ---

/** @param {Environment} environment @returns {Snapshot} */
export function snapshotOf(environment) {
  const [state, params] = ["states", "param_rows"].map(name => environment.bytes(name).slice());
  return { state, params };
}

/**
 * Bring an environment into the state of a snapshot, which is checked as `KernelBatch.set_state` does.
 * @param {Environment} environment
 * @param {Snapshot} snapshot
 * @param {(p: any, s: any) => string} [fault] as for `restoreLink`
 */
export function restoreSnapshot(environment, snapshot, fault = () => "") {
  const before = snapshotOf(environment);
  write(environment, snapshot);
  try {
    checkParams(environment);
    checkState(environment);
    const { p, s } = environment.records(), wrong = fault(p, s);
    if (wrong) throw new LinkError(`${environment.description.id}: ${wrong}`);
  } catch (error) {
    write(environment, before);
    throw error;
  }
  environment.observe();
  environment.totals.forget();
}

/** @param {Environment} environment @param {Snapshot} snapshot */
function write(environment, { state, params }) {
  environment.bytes("states").set(state);
  environment.bytes("param_rows").set(params);
}

/** Parameters, the time limit and weights may differ from those of the level. @param {Environment} environment */
function checkParams(environment) {
  const { description, image } = environment, { params, arrays, id } = description, { place, fields = {} } = arrays.param_rows;
  for (const { name } of params) environment.params.check(name, environment.params.get(name));
  const free = [...params.map(({ name }) => name), "horizon", "weights"];
  const horizon = environment.field("param_rows", "horizon")[0], weights = environment.field("param_rows", "weights");
  if (horizon < 1 || !Array.from(weights, Number).every(Number.isFinite)) throw new LinkError(`${id}: its time limit or its weights are none`);
  const usual = image.slice(place, place + arrays.param_rows.bytes), found = environment.bytes("param_rows").slice();
  for (const name of free) {
    const { byteOffset, byteLength } = environment.field("param_rows", name), start = byteOffset - environment.base - place;
    for (const bytes of [usual, found]) bytes.fill(0, start, start + byteLength);
  }
  const other = found.findIndex((byte, j) => byte !== usual[j]);
  if (other >= 0) {
    const name = Object.keys(fields).findLast(field => fields[field][1] <= other);
    throw new LinkError(`${id}: it has another ${name} than this page`);
  }
}

/** Numbers of a state lie in their ranges, and are finite. @param {Environment} environment */
function checkState(environment) {
  const { arrays, state_ranges: ranges, id } = environment.description;
  for (const [name, [type]] of Object.entries(arrays.states.fields ?? {})) {
    const numbers = Array.from(environment.field("states", name), Number);
    const [least, most] = type === "b1" ? [0, 1] : ranges[name] ?? [-Infinity, Infinity];
    const wrong = numbers.find(number => !(number >= least && number <= most) || !Number.isFinite(number));
    if (wrong !== undefined) throw new LinkError(`${id}: it has ${name} = ${wrong}, which is no state`);
  }
  const generators = ["rng", "players_rng"].filter(name => Object.hasOwn(arrays.states.fields ?? {}, name));
  if (!environment.over && generators.some(name => environment.field("states", name).every(word => BigInt(word) === 0n))) {
    throw new LinkError(`${id}: its generator is none`);
  }
  if (environment.elapsed > Number(environment.field("param_rows", "horizon")[0])) throw new LinkError(`${id}: it is beyond its time limit`);
}
