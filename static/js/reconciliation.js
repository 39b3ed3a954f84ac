// A disagreement while others are at it: a decision taken elsewhere replaces the form, what was typed in it is kept.

document.querySelector(".disagreement[aria-current]")?.scrollIntoView({ block: "nearest" });

// "Other" opens a list: whoever chose it by key goes on in the list.
document.addEventListener("change", (event) => {
  if (event.target.name !== "answer" || event.target.value !== "other") return;
  event.target.form.querySelector(".decision__other :is(select, textarea, input)")?.focus();
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
