/* Elements, icons and numbers of a live page. */

/**
 * An element with attributes and children.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean>} [attributes] true stands for an attribute without a value, false for none
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {Node[]} children
 */
export function drawn(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

const ICONS = {
  play: "M8 5v14l11-7z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  step: "M9 5v14l9-7zM18 5h2v14h-2z",
  restart: "M12 5V1L7 6l5 5V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z",
};

/**
 * A round button with an icon.
 * @param {keyof typeof ICONS} name
 * @param {string} label
 * @param {() => void} act
 */
export function iconButton(name, label, act) {
  const button = make("button", { type: "button" });
  nameButton(button, name, label);
  button.addEventListener("click", act);
  return button;
}

/**
 * Give a button another icon and label.
 * @param {HTMLButtonElement} button
 * @param {keyof typeof ICONS} name
 * @param {string} label
 */
export function nameButton(button, name, label) {
  if (button.title === label) return;
  const path = drawn("path", { fill: "currentColor", d: ICONS[name] });
  button.replaceChildren(drawn("svg", { viewBox: "0 0 24 24", width: 20, height: 20, "aria-hidden": "true" }, path));
  button.title = label;
  button.setAttribute("aria-label", label);
}

/**
 * A number with three digits, or "-".
 * @param {number | null | undefined} value
 */
export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(2);
  return Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
}

/**
 * What an element says. What it says already costs nothing.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
