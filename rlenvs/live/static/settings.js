/* Seed, level and parameters of a live page. */

import { make, short } from "./dom.js";

/** @typedef {import("./environment.js").Environment} Environment */
/** @typedef {{begin: (seed: number) => void, load: (level: string) => void, changed: () => void}} Acts */

/** What is asked for when an environment begins anew, and what may change while it is played. */
export class Settings {
  /**
   * @param {Environment} environment
   * @param {number} seed
   * @param {Acts} acts
   */
  constructor(environment, seed, acts) {
    this.environment = environment;
    this.acts = acts;
    const { params, levels, level } = environment.description, live = params.filter((param) => param.live);
    this.seed = make("input", { type: "number", min: 0, step: 1, value: seed, inputmode: "numeric" });
    this.level = make("select", {}, ...Object.keys(levels).map((name) => make("option", { value: name }, name || "default")));
    this.level.value = level;
    this.level.addEventListener("change", () => acts.load(this.level.value));
    /** @type {(() => void)[]} */
    this.resets = [];
    const rows = live.map((param) => this.row(param));
    this.element = make("details", { class: "live-settings" }, make("summary", {}, "Seed, level, parameters"), this.form(),
      make("div", { class: "live-sliders" }, ...rows), make("p", { class: "live-note" }, fixed(params)));
  }

  form() {
    const { acts, level, resets } = this, start = make("button", { type: "submit" }, "Reset");
    const parts = [make("label", {}, make("span", {}, "Seed"), this.seed)];
    if (level.options.length > 1) parts.push(make("label", {}, make("span", {}, "Level"), level));
    const usual = make("button", { type: "button" }, "Default parameters");
    usual.addEventListener("click", () => { for (const reset of resets) reset(); });
    const form = make("form", { class: "live-form" }, ...parts, start, ...(resets.length ? [usual] : []));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      acts.begin(this.chosenSeed);
    });
    return form;
  }

  /** @returns {number} */
  get chosenSeed() {
    return Math.max(0, Math.floor(Number(this.seed.value)) || 0);
  }

  /** @param {import("./types.js").Param} param */
  row({ name, unit, doc, low, high, default: usual }) {
    const { params } = this.environment, label = `${name}${unit ? ` in ${unit}` : ""}`;
    const input = make("input", { type: "range", min: low, max: high, step: "any", value: params.get(name), "aria-label": label });
    const shown = make("span", {}, short(params.get(name)));
    const row = make("label", {}, make("span", {}, name, ...(unit ? [make("small", {}, ` ${unit}`)] : [])), input, shown);
    row.title = `${doc} (default ${short(usual)})`;
    const set = (/** @type {number} */ value) => {
      try {
        params.set(name, value);
      } catch (reason) {
        row.title = String(reason); // a rule between parameters
      }
      input.value = String(params.get(name));
      shown.textContent = short(params.get(name));
      this.acts.changed();
    };
    input.addEventListener("input", () => set(Number(input.value)));
    this.resets.push(() => set(usual));
    return row;
  }
}

/** @param {import("./types.js").Param[]} params */
function fixed(params) {
  const parts = params.filter((param) => !param.live).map((param) => `${param.name} ${told(param.default, param.unit)}`);
  return parts.length ? `Fixed in this page: ${parts.join(", ")}.` : "";
}

/**
 * @param {number} value
 * @param {string} unit
 */
function told(value, unit) {
  return unit ? `${short(value)} ${unit}` : short(value);
}
