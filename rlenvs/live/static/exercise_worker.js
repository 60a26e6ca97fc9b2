// Grades a submission beside the page, so that code which never ends does not stop the page.

import { fetchBytes, loadEnvironment } from "./environment.js";
import { resultOf } from "./grading.js";
import { Submission } from "./submission.js";

/** @typedef {import("./grading.js").Exercise} Exercise */
/** @typedef {import("./grading.js").Result} Result */

/**
 * What the page is told: what is begun next, one episode more of the trial, a line that was printed, the result of a
 * test, the trial's returns, that it cannot go on, or that all is done.
 * @typedef {{next: string} | {episode: true} | {line: string} | {result: Result} | {returns: number[], error: string} | {failed: string} | {done: true}} Message
 */

const MOST_LINES = 200; // that are passed on

/** @param {Message} message */
const tell = message => self.postMessage(message);

/**
 * @param {string} folder the address of all environments
 * @param {Exercise} exercise
 * @param {string} source
 */
async function grade(folder, exercise, source) {
  tell({ next: "Python starts" });
  const { loadMicroPython } = await import(new URL("micropython/micropython.mjs", folder).href);
  const python = new TextDecoder().decode(await fetchBytes(new URL("submission.py", import.meta.url)));
  let lines = 0, counted = false;
  const submission = new Submission({
    loadMicroPython,
    python,
    load: id => loadEnvironment(new URL(`${id}/world.json`, folder)),
    print: line => { if (++lines <= MOST_LINES) tell({ line: lines < MOST_LINES ? line : "... (no more is shown)" }); },
    began: () => { if (counted) tell({ episode: true }); },
  });
  const { tests, trial } = exercise, failed = await submission.start(source);
  for (const test of tests) {
    tell({ next: test.name });
    const { name, points } = test;
    tell({ result: failed ? { name, points, earned: 0, reason: failed } : await resultOf(submission, test) });
  }
  if (!failed) {
    tell({ next: "the trial" });
    counted = true;
    submission.add(trial.code);
    const { error = "", returns } = await submission.call("trial", trial.arguments, trial.worlds);
    tell({ returns, error });
  }
  tell({ done: true });
}

self.addEventListener("message", ({ data }) => {
  grade(data.folder, data.exercise, data.source).catch(reason => tell({ failed: String(reason) }));
});
