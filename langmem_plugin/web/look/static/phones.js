// What was said last is in sight, what one sends is there at once, and one goes on writing where one was.
(() => {
  const talks = () => document.querySelectorAll("[data-talk]");
  const down = () => talks().forEach((each) => { each.scrollTop = each.scrollHeight; });
  let writing = "";
  document.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.target.closest?.(".write, .next");
    writing = document.activeElement?.id || "";
    if (!form) return;
    const bubble = document.createElement("p");
    bubble.className = "bubble me";
    bubble.dir = "auto";
    bubble.textContent = event.detail.requestConfig.parameters.text ?? form.querySelector("[name=text]").value;
    const talk = form.closest(".phone").querySelector("[data-talk]");
    talk.querySelector(".bubble.note:only-of-type")?.remove();
    talk.insertBefore(bubble, talk.lastElementChild);
    talk.scrollTop = talk.scrollHeight;
    const field = form.querySelector("input[name=text]:not([type=hidden])");
    if (field) field.value = "";
  });
  document.addEventListener("htmx:afterSettle", () => {
    down();
    if (writing) document.getElementById(writing)?.focus({ preventScroll: true });
  });
  down();
})();
