/* Search and filters of pages with many entries. */
"use strict";

/* Which of some texts a query finds: each of its words as it is, or in the plural; where no text has it so, as the
   beginning of a word; where that finds nothing either, anywhere. Texts have a space at both ends. */
function rlenvsFind(query, texts) {
  const ways = query.toLowerCase().split(/[\s,;]+/).filter(Boolean).map((word) => {
    const forms = [word, `${word}s`, ...(word.length > 3 && word.endsWith("s") ? [word.slice(0, -1)] : [])];
    const tried = [
      (text) => forms.some((form) => text.includes(` ${form} `)),
      (text) => text.includes(` ${word}`),
      (text) => text.includes(word),
    ];
    return tried.find((way) => texts.some(way)) || tried[0];
  });
  return texts.map((text) => ways.every((way) => way(text)));
}

/* A form of filters whose choices stand in the address; apply(choices, query) gives what it found as text, and whether
   that is all. */
function rlenvsFilter(form, apply) {
  const search = form.querySelector("input[type=search]"), selects = [...form.querySelectorAll("select")];
  const count = form.querySelector(".filter-count"), clear = form.querySelector(".filter-clear");
  function update() {
    const wanted = Object.fromEntries(selects.map((select) => [select.name, select.value]));
    const { text, all } = apply(wanted, search.value);
    count.textContent = text;
    clear.disabled = all;
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...wanted, q: search.value })) if (value) asked.set(name, value);
    const keep = location.hash.includes("=") ? "" : location.hash; // an anchor of the page
    history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname + location.search + keep);
  }
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const select of selects) {
    const value = asked.get(select.name) || "";
    if ([...select.options].some((option) => option.value === value)) select.value = value;
  }
  search.value = asked.get("q") || "";
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  clear.addEventListener("click", () => { form.reset(); update(); search.focus(); });
  update();
}
