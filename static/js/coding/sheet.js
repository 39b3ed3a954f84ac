// On a phone the answer is a sheet, closed while the issue is read: an error in it opens it, and what is not saved
// stands in the bar below the issue.

export function followSheet(form, drafts) {
  const line = document.getElementById("unsaved");
  drafts.addEventListener("status", ({ detail }) => {
    if (detail.state === "failed") line.hidden = false;
    if (detail.state === "saved") line.hidden = true;
    line.textContent = detail.text;
  });
  const error = form.querySelector("[data-focus]");
  if (!error || error.checkVisibility({ visibilityProperty: true })) return;
  window.addEventListener("hashchange", () => error.focus(), { once: true });
  location.hash = form.id;
}
