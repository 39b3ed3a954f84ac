// A disagreement while others are at it: a decision taken elsewhere replaces the form, what was typed in it is kept.

document.querySelector(".disagreement[aria-current]")?.scrollIntoView({ block: "nearest" });

// From quote to quote: those for the dimension under comparison, where it has any, else all that are marked.
const steps = document.getElementById("quote-steps");
const tags = [...document.querySelectorAll("#issue a.evidence-tag")];
const here = tags.filter((tag) => tag.hash.startsWith("#answer-"));
const stops = here.length ? here : tags;
let stop = -1;

if (steps) steps.hidden = stops.length === 0;
steps?.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  if (!button) return;
  const by = Number(button.dataset.step);
  stop = stop < 0 && by < 0 ? stops.length - 1 : (stop + by + stops.length) % stops.length;
  const tag = stops[stop];
  for (let box = tag.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  tag.focus({ preventScroll: true });
  tag.scrollIntoView({ block: "center", behavior: "instant" });
});

// "Other" opens a list: whoever chose it by key goes on in the list.
document.addEventListener("change", (event) => {
  if (event.target.name !== "answer" || event.target.value !== "other") return;
  event.target.form.querySelector(".decision__other :is(select, textarea, input)")?.focus();
});

// A second press before the next page is there decides nothing twice.
document.addEventListener("submit", (event) => {
  if (!event.target.matches(".decision")) return;
  if ("sent" in event.target.dataset) event.preventDefault();
  event.target.dataset.sent = "";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll(".decision")) delete form.dataset.sent;
});

// A comment is sent in place; Ctrl+Enter in it sends it and not the decision.
const reply = document.getElementById("reply");
reply?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  reply.requestSubmit();
});
reply?.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) reply.reset();
});

let carried = null;

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const old = event.detail.target;
  if (old.id !== "decision") return;
  const typed = (name) => old.querySelector(`[name=${name}]`)?.value.trim() ?? "";
  carried = { words: typed("rationale") || typed("reason"), hadFocus: old.contains(document.activeElement) };
});

document.addEventListener("htmx:oobAfterSwap", (event) => {
  if (!carried || event.detail.target.id !== "decision") return;
  const decision = document.getElementById("decision");
  // The reasons for another answer are the reasons to open the decision again.
  const field = decision.querySelector("[name=rationale], [name=reason]");
  if (field && !field.value) field.value = carried.words;
  if (carried.hadFocus) decision.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("announce", { detail: document.querySelector("#standing .notice")?.innerText ?? "" }));
  carried = null;
});

// Signed out meanwhile: the sign-in page must not be put in the place of the discussion.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, pathInfo } = event.detail;
  const asked = new URL(pathInfo.requestPath, location.href).pathname;
  if (xhr.responseURL && new URL(xhr.responseURL).pathname !== asked) event.detail.shouldSwap = false;
});
