// A submission within a page: its functions, run by MicroPython, and the worlds that they step, run by the kernels.

/** @typedef {import("./environment.js").Environment} Environment */

/** A world among the arguments of a question. @typedef {{id: string, seed: string, budget: number, most_resets: number}} World */

/** What a call gave: a value or an error, and the returns of episodes in the first world.
 * @typedef {{value?: any, error?: string, returns: number[]}} Answer */

/**
 * What a submission needs of where it runs.
 * @typedef {object} Place
 * @property {(options: object) => Promise<any>} loadMicroPython of micropython.mjs
 * @property {string} python the text of submission.py
 * @property {(id: string) => Promise<Environment>} load a new environment
 * @property {(line: string) => void} print
 * @property {() => void} began is called when an episode begins
 */

const HEAP = 64 * 2 ** 20; // bytes of Python's memory

export class Submission {
  /** @param {Place} place */
  constructor(place) {
    this.place = place;
    /** @type {Environment[]} */
    this.environments = [];
    this.python = /** @type {any} */ (null);
  }

  /**
   * Run a submission's code in a Python of its own.
   * @param {string} source
   * @returns {Promise<string>} what went wrong, or nothing
   */
  async start(source) {
    const { loadMicroPython, python, print } = this.place;
    const micropython = await loadMicroPython({ heapsize: HEAP, stdout: print, stderr: print });
    micropython.registerJsModule("page", this.module());
    micropython.FS.writeFile("rlenvs_page.py", python);
    this.python = micropython.pyimport("rlenvs_page");
    return this.python.load(source);
  }

  /** Run more code beside the submission's. @param {string} code */
  add(code) {
    this.python.add(code);
  }

  /**
   * @param {string} name of a function of the submission
   * @param {string} given the arguments as JSON
   * @param {World[]} worlds among them
   * @returns {Promise<Answer>}
   */
  async call(name, given, worlds) {
    this.environments = await Promise.all(worlds.map(({ id }) => this.place.load(id)));
    return JSON.parse(this.python.call(name, given, JSON.stringify(worlds)));
  }

  /** What submission.py asks of a page. */
  module() {
    const world = (/** @type {number} */ number) => this.environments[number];
    const ended = (/** @type {number} */ number, /** @type {string} */ how) => world(number).over && world(number).array(how)[0] === 1;
    return {
      reset: (/** @type {number} */ number, /** @type {string} */ seed) => {
        world(number).reset(BigInt(seed));
        this.place.began();
      },
      step: (/** @type {number} */ number, /** @type {number} */ action) => {
        world(number).load(action);
        world(number).advance();
        return world(number).array("rewards")[0];
      },
      state: (/** @type {number} */ number) => world(number).array("observations")[0],
      terminated: (/** @type {number} */ number) => ended(number, "terminated"),
      truncated: (/** @type {number} */ number) => ended(number, "truncated"),
    };
  }
}
