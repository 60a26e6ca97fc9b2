// A text field for Python: numbers of lines, and indentation that follows the line before.

import { make } from "./dom.js";

const INDENT = "    ";

export class Editor {
  /**
   * @param {string} label
   * @param {{changed: () => void, run: () => void}} act `run` at Ctrl and Enter
   */
  constructor(label, act) {
    const off = { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off" };
    this.field = make("textarea", { "aria-label": label, ...off });
    this.numbers = make("pre", { "aria-hidden": "true" });
    this.element = make("div", { class: "exercise-editor" }, this.numbers, this.field);
    this.field.addEventListener("input", () => {
      this.count();
      act.changed();
    });
    this.field.addEventListener("scroll", () => { this.numbers.scrollTop = this.field.scrollTop; });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) act.run();
      else if (event.key === "Enter" && !event.isComposing) this.breakLine();
      else if (event.key !== "Backspace" || !this.unindent()) return;
      event.preventDefault();
    });
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
    this.count();
  }

  /** Select a line and show it. @param {number} line from 1 on */
  show(line) {
    const lines = this.text.split("\n"), start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.field.focus();
    this.field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    const height = this.field.scrollHeight / Math.max(lines.length, 1);
    this.field.scrollTop = Math.max(0, (line - 4) * height);
  }

  count() {
    this.numbers.textContent = this.text.split("\n").map((_, i) => i + 1).join("\n");
  }

  /** What stands in the line before the cursor. */
  before() {
    return this.text.slice(0, this.field.selectionStart).split("\n").pop() ?? "";
  }

  breakLine() {
    const line = this.before(), [indent] = /** @type {RegExpMatchArray} */ (line.match(/^ */));
    insert(`\n${indent}${line.trimEnd().endsWith(":") ? INDENT : ""}`);
  }

  /** Delete one indentation, where the cursor stands behind nothing else. */
  unindent() {
    const { selectionStart: place, selectionEnd: end } = this.field, line = this.before();
    if (place !== end || !line || line.trim()) return false;
    this.field.setSelectionRange(place - (((line.length - 1) % INDENT.length) + 1), place);
    return insert("");
  }
}

/** Type a text, so that it can be undone: there is no other way. @param {string} text */
function insert(text) {
  return text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
}
