/* What leads out of a live page: a link to its state, a line that embeds it, and the proof that it plays as Python. */

import { make } from "./dom.js";
import { MARK } from "./links.js";

/** Links, lines to copy, and the proof. */
export class Sharing {
  /**
   * @param {import("./environment.js").Environment} environment
   * @param {URL} url of world.json
   */
  constructor(environment, url) {
    const { id, level, proof } = environment.description;
    const page = new URL("index.html", url);
    this.lines = make("div", { class: "live-lines" });
    const link = make("button", { type: "button" }, "Link to this state");
    link.addEventListener("click", async () => {
      const text = await environment.link(), address = `${location.href.split("#")[0]}${MARK}${text}`;
      this.lines.replaceChildren(line("Link", address), line("In Python", `env = rlenvs.from_link("${text}")`));
    });
    const embed = make("button", { type: "button" }, "Embed");
    embed.addEventListener("click", () => {
      const html = `<iframe src="${page.href}" title="${id}" width="900" height="760" style="border: 0" loading="lazy"></iframe>`;
      this.lines.replaceChildren(line("In a page", html));
    });
    this.proof = make("p", { class: "live-proof" }, `${proof.steps} steps computed here hash to the same as in Python: …`);
    this.element = make("div", { class: "live-sharing" }, make("div", { class: "live-row" }, link, embed), this.lines, this.proof);
    this.prove(url, level, proof.steps);
  }

  /** A link of a state that has passed says nothing about the present one. */
  forget() {
    this.lines.replaceChildren();
  }

  /**
   * Compute the proof, beside the page.
   * @param {URL} url
   * @param {string} level
   * @param {number} steps
   */
  prove(url, level, steps) {
    const worker = new Worker(new URL("proof.js", import.meta.url), { type: "module" });
    const tell = (/** @type {string} */ answer) => {
      this.proof.replaceChildren(`${steps} steps computed here hash to the same as in Python: `, make("b", {}, answer));
      worker.terminate();
    };
    worker.onmessage = ({ data }) => {
      this.proof.title = data.hash || data.error;
      this.proof.dataset.equal = String(data.equal);
      tell(data.error ? "not computed" : data.equal ? "yes" : "no");
    };
    worker.onerror = () => tell("not computed");
    worker.postMessage({ url: url.href, level });
  }
}

/**
 * A line of text with a button that copies it.
 * @param {string} label
 * @param {string} text
 */
function line(label, text) {
  const field = make("input", { type: "text", readonly: true, value: text, "aria-label": label });
  field.addEventListener("focus", () => field.select());
  const copy = make("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Copy with Ctrl+C"; // what is served without encryption may have no clipboard
    }
  });
  return make("label", { class: "live-line" }, make("span", {}, label), field, copy);
}
