// A request that failed is said on the page: lost connection, slow answer, refusal. What was on the page stays.
(() => {
  const box = () => document.getElementById("trouble");
  const say = (key) => {
    const shown = box();
    shown.textContent = shown.dataset[key];
    shown.hidden = false;
  };
  let slow;
  document.addEventListener("htmx:beforeRequest", () => {
    clearTimeout(slow);
    slow = setTimeout(() => say("slow"), 3000);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    clearTimeout(slow);
    if (event.detail.successful) box().hidden = true;
  });
  document.addEventListener("htmx:sendError", () => say("offline"));
  document.addEventListener("htmx:timeout", () => say("slow"));
  document.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    say(status === 401 ? "ended" : status === 409 || status === 412 ? "changed" : status === 503 ? "down" : "failed");
  });
  addEventListener("offline", () => say("offline"));
  addEventListener("online", () => { box().hidden = true; });
})();
