// A person's page: refusals are shown where the answer goes, what was done comes into view, and links leave no trace.
(() => {
  const tidy = () => {
    const here = new URL(location.href);
    if (!here.searchParams.has("done")) return;
    here.searchParams.delete("done");
    here.searchParams.delete("of");
    history.replaceState(history.state, "", here);
  };
  document.addEventListener("submit", (event) => {
    const after = event.target.dataset.after;
    if (after) history.replaceState(null, "", after);
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const type = event.detail.xhr.getResponseHeader("content-type") || "";
    if (event.detail.xhr.status >= 400 && type.startsWith("text/html")) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
  document.addEventListener("htmx:afterSettle", () => {
    const look = document.querySelector("[data-look]");
    (look || document.getElementById("main"))?.focus({ preventScroll: !look });
    tidy();
  });
  tidy();
})();
