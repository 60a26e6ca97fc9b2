/* The gallery: filters and search, and cards that play while the pointer or the focus is on them. */
"use strict";
(function () {
  function matches(card, wanted, words) {
    for (const [name, value] of Object.entries(wanted)) {
      const own = card.dataset[name];
      if (value && (name === "tags" ? !own.split(" ").includes(value) : own !== value)) return false;
    }
    return words.every((word) => card.dataset.text.includes(word));
  }

  function filters(form) {
    const cards = [...document.querySelectorAll("#gallery-cards .card")], search = form.querySelector("#gallery-search");
    const selects = [...form.querySelectorAll("select")], count = form.querySelector("#gallery-count");
    const clear = form.querySelector("#gallery-clear");
    function update() {
      const wanted = Object.fromEntries(selects.map((select) => [select.name, select.value]));
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const card of cards) {
        card.hidden = !matches(card, wanted, words);
        shown += card.hidden ? 0 : 1;
      }
      count.textContent = `${shown} of ${cards.length} environments`;
      clear.disabled = shown === cards.length;
      remember(wanted, search.value);
    }
    function remember(wanted, text) {
      const asked = new URLSearchParams();
      for (const [name, value] of Object.entries({ ...wanted, q: text })) if (value) asked.set(name, value);
      history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname + location.search);
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

  function plays(card) {
    const picture = card.querySelector(".card-picture");
    let end = null;
    const begin = () => { if (!end && card.dataset.src) end = rlenvsFilm.preview(picture, card.dataset.name, card.dataset.src); };
    const stop = () => { if (end) end(); end = null; };
    card.addEventListener("pointerenter", begin);
    card.addEventListener("pointerleave", stop);
    card.addEventListener("focus", begin);
    card.addEventListener("blur", stop);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.getElementById("gallery-filters");
    if (form) filters(form);
    document.querySelectorAll(".card").forEach(plays);
  });
})();
