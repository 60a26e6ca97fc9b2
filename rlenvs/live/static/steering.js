/* How a person acts: keys, buttons, sliders or a list of moves, all of them made from world.json's `action`. */

import { make, short } from "./dom.js";

const KEYS = /** @type {Record<string, string>} */ ({
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", " ": "space", Enter: "return",
});
const SIGNS = /** @type {Record<string, string>} */ ({
  up: "↑", down: "↓", left: "←", right: "→", space: "space", return: "enter",
});
const PLAIN = /^action \d+$/; // what is called so has no name; its key says more
const LONGEST = 30; // letters on a button that has a key
const LONGEST_LIST = 6; // lines
const MOST_BUTTONS = 20; // choices; more of them are a list

/** @typedef {number | number[]} Action */

/** What a person does, from step to step. */
export class Steering {
  /**
   * @param {import("./types.js").Controls} action
   * @param {() => void} begin called when the person does something
   * @param {(choice: number) => void} consider called when a move is looked at in a list
   * @param {boolean} pointed whether choices are chosen in the picture, and the list has only what is left of them
   */
  constructor(action, begin, consider, pointed) {
    this.pointed = pointed;
    this.action = action;
    this.begin = begin;
    this.consider = consider;
    this.continuous = action.kind === "continuous";
    this.pairs = action.keys ? action.keys.held : [];
    /** @type {Set<string>} */
    this.held = new Set();
    /** @type {string[]} */
    this.tapped = []; // since the last step: a key that goes down and up between two steps counts for one
    /** @type {Action | null} */
    this.chosen = null; // what sliders or lists say
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    /** @type {HTMLInputElement[]} */
    this.inputs = [];
    /** @type {HTMLSpanElement[]} */
    this.outputs = [];
    this.select = make("select", { "aria-label": "Possible actions" });
    this.told = "";
    this.element = make("div", { class: "live-steer" }, ...this.parts());
  }

  /** @returns {HTMLElement[]} */
  parts() {
    const { action } = this;
    if (this.continuous) return [...(action.keys ? [this.keyButtons()] : []), this.sliders()];
    if (action.kind === "multi") return action.keys ? [this.keyButtons()] : [this.selects()];
    return action.choices[0] <= MOST_BUTTONS ? [this.choiceButtons()] : [this.moves()];
  }

  /** Whether the environment waits until the person acts. */
  get waits() {
    return this.action.keys ? this.action.keys.none === null : this.action.kind === "discrete";
  }

  /**
   * The action of this step, and forget what was tapped; null where there is none.
   * @returns {Action | null}
   */
  take() {
    const down = new Set([...this.held, ...this.tapped]);
    this.tapped = [];
    const choice = [...down].reverse().find((key) => key.startsWith("choice "));
    if (choice) return Number(choice.slice(7));
    const pair = this.pairs.find(([keys]) => keys.every((key) => down.has(key)));
    if (pair) {
      this.chosen = null;
      return pair[1];
    }
    if (this.chosen !== null) {
      const chosen = this.chosen;
      if (this.waits) this.chosen = null;
      return chosen;
    }
    if (this.waits) return null;
    return this.action.keys ? this.action.keys.none : this.action.idle;
  }

  /** Nothing is pressed any more. */
  release() {
    this.held.clear();
    this.tapped = [];
    this.chosen = null;
  }

  /**
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key is one that steers
   */
  press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    const key = KEYS[event.key] || event.key.toLowerCase();
    if (!this.pairs.some(([keys]) => keys.includes(key)) && !this.action.keys?.help.some(([name]) => name === key)) return false;
    if (event.type === "keyup") this.held.delete(key);
    else if (!event.repeat) this.down(key);
    return true;
  }

  /** @param {string} key */
  down(key) {
    this.held.add(key);
    this.tapped.push(key);
    this.begin();
  }

  /**
   * A button that does something while it is pressed.
   * @param {string} key
   * @param {string} label
   * @param {string[]} names of the keys that do the same
   */
  button(key, label, names) {
    const shown = names.map((name) => make("kbd", {}, SIGNS[name] || name));
    const told = shown.length && (PLAIN.test(label) || label.length > LONGEST) ? [] : [make("span", {}, label)];
    const attributes = { type: "button", "data-key": key, title: label, "aria-label": [label, ...names].join(", ") };
    const button = make("button", attributes, ...shown, ...told);
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      this.down(key);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      button.addEventListener(end, () => this.held.delete(key));
    }
    button.addEventListener("click", (event) => {
      if (event.detail > 0) return; // by a pointer, which has been heard already
      this.tapped.push(key);
      this.begin();
    });
    button.addEventListener("contextmenu", (event) => event.preventDefault()); // of a long touch
    this.buttons.push(button);
    return button;
  }

  choiceButtons() {
    const { choices, labels, keys } = this.action, help = keys ? keys.help : [];
    const buttons = Array.from({ length: choices[0] }, (_, choice) => {
      const alone = this.pairs.filter(([held, action]) => held.length === 1 && action === choice).map(([held]) => held[0]);
      const told = help.find(([key]) => alone.includes(key));
      return this.button(`choice ${choice}`, labels[0][choice] || (told ? told[1] : `action ${choice}`), alone);
    });
    return make("div", { class: "live-buttons" }, ...buttons);
  }

  keyButtons() {
    /** @type {Map<string, string[]>} */
    const meanings = new Map();
    for (const [key, meaning] of this.action.keys ? this.action.keys.help : []) {
      meanings.set(meaning, [...(meanings.get(meaning) || []), key]);
    }
    const buttons = [...meanings].map(([meaning, keys]) => this.button(keys[0], meaning, keys));
    return make("div", { class: "live-buttons" }, ...buttons);
  }

  sliders() {
    const { numbers, low, high, idle } = this.action;
    this.inputs = numbers.map((name, i) => {
      const ends = { min: low[i] ?? -10, max: high[i] ?? 10, step: "any" };
      const input = make("input", { type: "range", ...ends, value: /** @type {number[]} */ (idle)[i], "aria-label": name });
      input.addEventListener("input", () => {
        this.chosen = this.inputs.map((each) => Number(each.value));
        this.tell(this.chosen);
        this.begin();
      });
      return input;
    });
    this.outputs = numbers.map(() => make("span"));
    const rows = numbers.map((name, i) => make("label", {}, make("span", {}, name), this.inputs[i], this.outputs[i]));
    return make("div", { class: "live-sliders" }, ...rows);
  }

  selects() {
    const { choices, labels, numbers } = this.action;
    const fields = choices.map((count, j) => {
      const names = Array.from({ length: count }, (_, i) => labels[j][i] || String(i));
      const select = make("select", {}, ...names.map((name, i) => make("option", { value: i }, name)));
      select.addEventListener("change", () => {
        this.chosen = fields.map((each) => Number(each.value));
        this.begin();
      });
      return select;
    });
    const rows = numbers.map((name, j) => make("label", {}, make("span", {}, name), fields[j]));
    return make("div", { class: "live-sliders" }, ...rows);
  }

  moves() {
    const { select: list } = this, button = make("button", { type: "button" }, "Play this move");
    const act = () => {
      if (list.value === "") return;
      this.chosen = Number(list.value);
      this.begin();
    };
    button.addEventListener("click", act);
    list.addEventListener("change", () => this.consider(Number(list.value)));
    list.addEventListener("dblclick", act);
    list.addEventListener("keydown", (event) => { if (event.key === "Enter") act(); });
    return make("div", { class: "live-moves", hidden: this.pointed }, list, button);
  }

  /**
   * Show which choices are possible now.
   * @param {ArrayLike<number> | null} mask of one number of an action, or of all of them
   */
  allow(mask) {
    if (this.action.kind !== "discrete") return;
    this.buttons.forEach((button, choice) => { button.disabled = mask !== null && !mask[choice]; });
    if (this.buttons.length || this.pointed) return;
    this.list(Array.from({ length: this.action.choices[0] }, (_, choice) => choice).filter((choice) => !mask || mask[choice]));
  }

  /**
   * Choose one of these in the list.
   * @param {number[]} choices
   */
  list(choices) {
    const told = choices.join();
    if (this.buttons.length || told === this.told) return;
    this.told = told;
    this.select.replaceChildren(...choices.map((choice) => make("option", { value: choice }, this.nameOf(choice))));
    this.select.size = Math.min(Math.max(choices.length, 2), LONGEST_LIST);
    if (this.pointed) /** @type {HTMLElement} */ (this.select.parentElement).hidden = !choices.length;
  }

  /** @param {number} choice */
  nameOf(choice) {
    return this.action.labels[0][choice] || `action ${choice}`;
  }

  /**
   * Do this in the next step.
   * @param {number} choice
   */
  choose(choice) {
    this.chosen = choice;
    this.begin();
  }

  /**
   * Show what is done, by whoever plays.
   * @param {Action} action
   */
  tell(action) {
    if (typeof action === "number") {
      for (const button of this.buttons) button.classList.toggle("live-done", button.dataset.key === `choice ${action}`);
    } else if (this.continuous) {
      for (const [i, value] of action.entries()) {
        if (document.activeElement !== this.inputs[i]) this.inputs[i].value = String(value);
        this.outputs[i].textContent = short(value);
      }
    }
  }
}
