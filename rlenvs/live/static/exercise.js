/* An element with the class "exercise" and data-exercise="where/exercise.json/is" becomes an exercise that is solved in
   the page. Tests run in a worker, which is ended where it does not answer. */

import { drawn, make, short } from "./dom.js";
import { Editor } from "./editor.js";

/** @typedef {import("./grading.js").Exercise} Exercise */
/** @typedef {import("./grading.js").Result} Result */
/** @typedef {import("./exercise_worker.js").Message} Message */

const LINE = /\(line (\d+) of its code\)/;

/** An exercise in an element of a page. */
export class ExercisePage {
  /**
   * @param {HTMLElement} element
   * @param {Exercise} exercise
   * @param {URL} folder of all environments
   */
  constructor(element, exercise, folder) {
    this.exercise = exercise;
    this.folder = folder;
    this.limit = Number(element.dataset.seconds) || exercise.seconds;
    this.worker = /** @type {Worker | null} */ (null);
    this.timer = 0;
    this.next = "";
    this.editor = new Editor("Your Python", { changed: () => this.keep(), run: () => this.run() });
    this.runButton = button("Run the public tests", () => this.run());
    this.stopButton = button("Stop", () => this.end("Stopped."));
    const download = button("Download", () => this.download()), anew = button("Start over", () => this.startOver());
    this.buttons = make("div", { class: "exercise-buttons" }, this.runButton, this.stopButton, download, anew);
    this.said = make("p", { class: "live-said", role: "status" });
    this.results = new Results(exercise, (line) => this.editor.show(line));
    this.trial = new TrialView(exercise.trial);
    this.printed = make("pre", { class: "exercise-printed", tabindex: "0", "aria-label": "What your code printed" });
    const help = make("p", { class: "live-note" }, "Ctrl and Enter run the tests. Tab leaves the field.");
    element.replaceChildren(this.editor.element, help, this.buttons, this.said, this.results.element, this.printed,
      this.trial.element);
    this.editor.text = this.kept() ?? exercise.starter;
    this.show(false);
    this.printed.hidden = true;
  }

  // --- grading ------------------------------------------------------------------------------------------------------

  run() {
    this.end("");
    this.results.clear();
    this.trial.clear();
    this.printed.textContent = "";
    this.printed.hidden = true;
    this.show(true);
    this.worker = new Worker(new URL("exercise_worker.js", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.hear(data));
    this.worker.addEventListener("error", (event) => this.end(`The tests cannot run here: ${event.message || "a script is missing"}`));
    this.worker.postMessage({ folder: this.folder.href, exercise: this.exercise, source: this.editor.text });
    this.watch();
  }

  /** @param {Message} message */
  hear(message) {
    this.watch();
    if ("next" in message) {
      this.next = message.next;
      this.say(`Running: ${message.next}`);
    } else if ("result" in message) this.results.add(message.result);
    else if ("episode" in message) this.trial.count();
    else if ("returns" in message) this.trial.end(message.returns, message.error);
    else if ("failed" in message) this.end(`The tests cannot run here: ${message.failed}`);
    else if ("done" in message) this.end(`${this.results.summary()} ${this.trial.summary}`.trim());
    else {
      this.printed.hidden = false;
      this.printed.append(`${message.line}\n`);
    }
  }

  /** Wait for the next message, but not for ever. */
  watch() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.end(`${this.next}: no answer within ${this.limit} s. Does a loop never end? The tests were stopped.`);
    }, 1000 * this.limit);
  }

  /** @param {string} told */
  end(told) {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = null;
    this.show(false);
    this.say(told);
  }

  // --- the text -----------------------------------------------------------------------------------------------------

  get key() {
    return `rlenvs-exercise-${this.exercise.name}`;
  }

  /** What was written before, in this browser. */
  kept() {
    try {
      return localStorage.getItem(this.key);
    } catch {
      return null; // the browser keeps nothing
    }
  }

  keep() {
    try {
      localStorage.setItem(this.key, this.editor.text);
    } catch {
      this.say("This browser keeps nothing: download what you write.");
    }
  }

  startOver() {
    if (this.editor.text !== this.exercise.starter && !confirm("Delete what you wrote?")) return;
    this.editor.text = this.exercise.starter;
    this.keep();
  }

  download() {
    const { name, head } = this.exercise, { text } = this.editor;
    const whole = /^ARGUMENTS *=/m.test(text) ? text : `${text.trimEnd()}\n\n${head}\n`; // at the end: lines keep their numbers
    const link = make("a", { download: `${name}.py`, href: URL.createObjectURL(new Blob([whole], { type: "text/x-python" })) });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // --- showing ------------------------------------------------------------------------------------------------------

  /** The button that is of no use now gives its focus to the other one. @param {boolean} running */
  show(running) {
    const [off, on] = running ? [this.runButton, this.stopButton] : [this.stopButton, this.runButton];
    on.disabled = false;
    if (document.activeElement === off) on.focus();
    off.disabled = true;
  }

  /** @param {string} text */
  say(text) {
    this.said.textContent = text;
  }
}

/** The points of every test. */
class Results {
  /**
   * @param {Exercise} exercise
   * @param {(line: number) => void} lead
   */
  constructor({ name, tests, hidden }, lead) {
    this.lead = lead;
    this.points = tests.filter(({ question }) => question).reduce((sum, test) => sum + test.points, 0);
    this.earned = 0;
    /** @type {Map<string, HTMLTableCellElement>} */
    this.cells = new Map(tests.map((test) => [test.name, make("td", {})]));
    const row = (/** @type {string} */ test, /** @type {number} */ points, /** @type {Node} */ cell) =>
      make("tr", {}, make("th", { scope: "row" }, test), make("td", {}, String(points)), cell);
    const head = ["test", "points", "result"].map((text) => make("th", { scope: "col" }, text));
    const rest = make("td", {}, "checked by ", make("code", {}, `rlenvs grade ${name}.py`), " with the instructor's secret");
    this.element = make("table", { class: "exercise-results" }, make("thead", {}, make("tr", {}, ...head)),
      make("tbody", {}, ...tests.map((test) => row(test.name, test.points, /** @type {Node} */ (this.cells.get(test.name)))),
        row("hidden tests", hidden, rest)));
    this.clear();
  }

  clear() {
    this.earned = 0;
    for (const cell of this.cells.values()) {
      cell.textContent = "not run yet";
      cell.removeAttribute("data-result");
    }
  }

  /** @param {Result} result */
  add({ name, points, earned, reason }) {
    const cell = /** @type {HTMLTableCellElement} */ (this.cells.get(name)), line = reason.match(LINE);
    this.earned += earned ?? 0;
    cell.dataset.result = earned === null ? "elsewhere" : earned === points ? "right" : earned > 0 ? "part" : "wrong";
    const told = earned === null ? reason : `${earned} of ${points}${reason ? `: ${reason.replace(LINE, "").trim()}` : ""}`;
    cell.replaceChildren(told);
    if (line) cell.append(" ", button(`line ${line[1]}`, () => this.lead(Number(line[1]))));
  }

  summary() {
    return `${Number(this.earned.toFixed(3))} of ${this.points} public points.`;
  }
}

/** What the submission played. */
class TrialView {
  /** @param {import("./grading.js").Trial} trial */
  constructor(trial) {
    this.trial = trial;
    this.summary = "";
    this.progress = make("progress", { max: trial.episodes, value: 0, "aria-label": "Episodes of the trial" });
    this.result = make("div", {});
    const about = `${trial.id}, seeds 0 to ${trial.episodes - 1}: ${trial.told}. It gives no points.`;
    this.element = make("section", { class: "exercise-trial" }, make("h2", {}, "Played"), make("p", {}, about), this.progress, this.result);
    this.clear();
  }

  clear() {
    this.summary = "";
    this.progress.value = 0;
    this.result.replaceChildren();
  }

  count() {
    this.progress.value += 1;
  }

  /**
   * @param {number[]} returns
   * @param {string} error
   */
  end(returns, error) {
    if (error || !returns.length) {
      this.summary = `The trial failed: ${error || "no episode was played to its end"}.`;
      this.result.replaceChildren(make("p", {}, this.summary));
      return;
    }
    const mean = returns.reduce((sum, each) => sum + each, 0) / returns.length;
    this.summary = `Mean return ${short(mean)} over ${returns.length} seeds.`;
    this.result.replaceChildren(make("p", {}, this.summary, ...this.scores()), bars(returns));
  }

  /** What others reach. */
  scores() {
    const { scores } = this.trial;
    return scores.length ? [` For comparison: ${scores.map(({ label, mean }) => `${label} ${short(mean)}`).join(", ")}.`] : [];
  }
}

/** A bar for the return of each seed. @param {number[]} returns */
function bars(returns) {
  const low = Math.min(0, ...returns), high = Math.max(0, ...returns), scale = 40 / (high - low || 1), zero = high * scale;
  const rows = returns.map((each, i) => drawn("rect", {
    x: i + 0.1, width: 0.8, y: Math.min(zero, zero - each * scale), height: Math.max(Math.abs(each) * scale, 0.3),
  }));
  const label = `Returns by seed, from ${short(Math.min(...returns))} to ${short(Math.max(...returns))}`;
  return drawn("svg", { viewBox: `0 0 ${returns.length} 40`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...rows);
}

/**
 * @param {string} label
 * @param {() => void} act
 */
function button(label, act) {
  const made = make("button", { type: "button" }, label);
  made.addEventListener("click", act);
  return made;
}

/** @param {HTMLElement} element */
async function mount(element) {
  const url = new URL(element.dataset.exercise || "", document.baseURI);
  try {
    const exercise = await (await fetch(url)).json();
    Object.assign(element, { exercise: new ExercisePage(element, exercise, new URL("../../", url)) });
    element.dataset.state = "ready";
  } catch (reason) {
    element.replaceChildren(make("p", {}, `The exercise cannot be done here: ${reason instanceof Error ? reason.message : reason}`));
    element.dataset.state = "failed";
  }
}

for (const element of document.querySelectorAll(".exercise[data-exercise]")) void mount(/** @type {HTMLElement} */ (element));
