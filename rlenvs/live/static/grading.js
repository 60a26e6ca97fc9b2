// Grades of a submission to an exercise's public tests, as rlenvs/classroom/questions.py and grader.py give them.

import { fixed } from "./head.js";

/** @typedef {import("./submission.js").Submission} Submission */
/** @typedef {import("./submission.js").World} World */

/** A finite decision process: P[a][s][t], R[s][a]. @typedef {{P: number[][][], R: number[][], gamma: number}} Process */

/** @typedef {{process: Process | null, wanted: any, what: string, within: number}} Near */
/** @typedef {{process: Process, start: number[], none: number, full: number}} Worth */

/** @typedef {{function: string, arguments: string, worlds: World[], right: (Near | Worth)[]}} Question */

/** @typedef {{name: string, points: number, question: Question | null}} Test */

/** `earned` is null where only Python can judge. @typedef {{name: string, points: number, earned: number | null, reason: string}} Result */

/** @typedef {{id: string, told: string, code: string, episodes: number, arguments: string, worlds: World[],
 * scores: {label: string, mean: number}[]}} Trial */

/**
 * An exercise as rlenvs/classroom/in_page.py writes it.
 * @typedef {object} Exercise
 * @property {string} name
 * @property {string} title
 * @property {number} seconds for one call
 * @property {string} head the first line of a submission
 * @property {string} starter
 * @property {Test[]} tests
 * @property {number} hidden points of the tests that a page does not have
 * @property {Trial} trial
 */

/** A test that earned nothing, with the reason. */
export class Failed extends Error {}

/**
 * The result of a test.
 * @param {Submission} submission
 * @param {Test} test
 * @returns {Promise<Result>}
 */
export async function resultOf(submission, { name, points, question }) {
  if (!question) return { name, points, earned: null, reason: "checked by rlenvs grade" };
  try {
    const share = await shareOf(submission, question);
    if (share >= 1) return { name, points, earned: points, reason: "" };
    return { name, points, earned: Number((points * share).toFixed(3)), reason: `${fixed(100 * share, 0)} % reached` };
  } catch (reason) {
    if (!(reason instanceof Failed)) throw reason;
    return { name, points, earned: 0, reason: reason.message };
  }
}

/**
 * Ask a question; gives the share of the points.
 * @param {Submission} submission
 * @param {Question} question
 */
async function shareOf(submission, question) {
  const answer = await submission.call(question.function, question.arguments, question.worlds), count = question.right.length;
  if (answer.error !== undefined) throw new Failed(answer.error);
  const several = Array.isArray(answer.value) && answer.value.length === count;
  if (count > 1 && !several) throw new Failed(`${question.function} returns ${count} things`);
  const answers = count > 1 ? answer.value : [answer.value];
  return Math.min(...question.right.map((right, i) => ("wanted" in right ? near(answers[i], right) : worth(answers[i], right))));
}

/**
 * 1 for what differs by little from what is wanted.
 * @param {any} found
 * @param {Near} right
 */
function near(found, { process, wanted, what, within }) {
  const numbers = process ? valuesOf(process, policyOf(process, found)) : found;
  const right = flat(wanted), answers = arrayLike(numbers, shapeOf(wanted) ?? [], what);
  const error = Math.max(0, ...answers.map((number, i) => Math.abs(number - right[i])));
  if (!(error <= within)) throw new Failed(`${what}: wrong by up to ${general(error)}; at most ${general(within)} is allowed`);
  return 1;
}

/**
 * What a policy is worth, between nothing and all.
 * @param {any} found
 * @param {Worth} right
 */
function worth(found, { process, start, none, full }) {
  const values = valuesOf(process, policyOf(process, found));
  const value = start.reduce((sum, weight, state) => sum + weight * values[state], 0);
  return Math.min(Math.max((value - none) / (full - none), 0), 1);
}

/**
 * An answer as a policy.
 * @param {Process} process
 * @param {any} found
 * @returns {number[]}
 */
function policyOf({ R }, found) {
  const policy = arrayLike(found, [R.length], "the policy").map(Math.trunc);
  if (policy.some(action => action < 0 || action >= R[0].length)) throw new Failed("the policy holds numbers that are no actions");
  return policy;
}

/**
 * The exact values of a policy, by Gaussian elimination of (I - gamma P) v = r.
 * @param {Process} process
 * @param {number[]} policy
 */
export function valuesOf({ P, R, gamma }, policy) {
  const count = R.length;
  const rows = policy.map((action, s) => [...P[action][s].map((chance, t) => (s === t ? 1 : 0) - gamma * chance), R[s][action]]);
  for (let k = 0; k < count; k++) {
    let pivot = k;
    for (let i = k + 1; i < count; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let i = 0; i < count; i++) {
      const factor = i === k ? 0 : rows[i][k] / rows[k][k];
      if (factor) for (let j = k; j <= count; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  return rows.map((row, k) => row[count] / row[k]);
}

// --- answers ---

/**
 * An answer, which must be finite numbers of a shape.
 * @param {any} found
 * @param {number[]} shape
 * @param {string} what
 */
function arrayLike(found, shape, what) {
  const own = shapeOf(found), numbers = flat(found).map(numberOf);
  if (own === null || numbers.some(number => number === null)) {
    const kind = Array.isArray(found) ? "list" : typeof found === "string" ? "str" : "dict";
    throw new Failed(`${what} is a ${kind}; expected numbers of shape ${tuple(shape)}`);
  }
  if (tuple(own) !== tuple(shape)) throw new Failed(`${what} has the shape ${tuple(own)}; expected ${tuple(shape)}`);
  if (!numbers.every(Number.isFinite)) throw new Failed(`${what} contains NaN or infinite numbers`);
  return /** @type {number[]} */ (numbers);
}

/**
 * A number as NumPy makes it, or null: truth values count, None is NaN; so are texts that submission.py makes of numbers.
 * @param {any} value
 */
function numberOf(value) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  if (value === null) return NaN;
  return { nan: NaN, inf: Infinity, "-inf": -Infinity }[/** @type {string} */ (value)] ?? null;
}

/**
 * The lengths of nested lists, or null where they differ.
 * @param {any} value
 * @returns {number[] | null}
 */
function shapeOf(value) {
  if (!Array.isArray(value)) return [];
  if (!value.length) return [0];
  const shapes = value.map(shapeOf), first = shapes[0];
  return first && shapes.every(shape => shape && tuple(shape) === tuple(first)) ? [value.length, ...first] : null;
}

/** @param {any} value @returns {any[]} */
const flat = value => (Array.isArray(value) ? value.flat(Infinity) : [value]);

/** A shape as Python writes it. @param {number[] | null} shape */
const tuple = shape => (shape && shape.length === 1 ? `(${shape[0]},)` : `(${(shape ?? []).join(", ")})`);

/** As Python's format ".3g". @param {number} value */
export function general(value) {
  const [digits, power] = value.toExponential(2).split("e"), exponent = Number(power);
  if (!Number.isFinite(value)) return String(value).toLowerCase().replace("infinity", "inf");
  if (exponent >= -4 && exponent < 3) return String(Number(value.toPrecision(3)));
  return `${Number(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
