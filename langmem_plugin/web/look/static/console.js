// The console: ticks are counted, a refusal leaves what was typed, the place where one is stands in sight.
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const narrow = matchMedia("(max-width: 64rem)");

  const count = () => {
    const boxes = all("input[name=ids]");
    const ticked = boxes.filter((each) => each.checked).length;
    all("[data-ticked]").forEach((each) => { each.textContent = ticked ? `${ticked} ticked` : ""; });
    all("[data-tick-all]").forEach((each) => {
      each.closest("label").hidden = !boxes.length;
      each.checked = ticked > 0 && ticked === boxes.length;
      each.indeterminate = ticked > 0 && ticked < boxes.length;
    });
  };
  const arrange = () => {
    all(".places, .tabs").forEach((bar) => {
      const here = bar.querySelector("[aria-current]");
      if (!here) return;
      const [outer, inner] = [bar.getBoundingClientRect(), here.getBoundingClientRect()];
      bar.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
    });
    if (narrow.matches) all("details[data-folds]").forEach((each) => { each.open = false; });
    count();
  };

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-tick-all]")) all("input[name=ids]").forEach((each) => { each.checked = event.target.checked; });
    if (event.target.matches("[data-tick-all], [name=ids]")) count();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status !== 409) return; // changed elsewhere: the answer holds both versions
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  });
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status >= 500) return;
    const answer = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
    const said = answer.querySelector("[role=alert] p")?.textContent.trim();
    if (said) document.getElementById("trouble").textContent = said;
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target === document.body) {
      arrange();
      if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
    }
    count();
  });
  arrange();
})();
