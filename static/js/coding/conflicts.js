// A field was changed here and elsewhere: show both versions and let the coder choose, field by field.

import { endOfTyping } from "./typing.js";

export async function settleConflicts(conflicts, answers) {
  await endOfTyping();
  const now = answers.read();
  const both = ([field, { theirs, saved_at: savedAt }]) => ({ field, yours: now[field], theirs, savedAt });
  const open = Object.entries(conflicts).map(both).filter(({ yours, theirs }) => !answers.same(yours, theirs));
  if (open.length === 0) return {};
  const dialog = document.getElementById("conflict");
  document.getElementById("conflicts").replaceChildren(...open.map((each) => row(each, answers)));
  await choice(dialog);
  return Object.fromEntries(
    open.map(({ field }) => [field, dialog.querySelector(`[name="${CSS.escape(field)}"]:checked`).value]),
  );
}

// Only its button ends it, with a choice for every field: a browser lets Escape through after a while.
async function choice(dialog) {
  dialog.returnValue = "";
  while (dialog.returnValue === "") {
    dialog.showModal();
    await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  }
}

function row({ field, yours, theirs, savedAt }, answers) {
  const fieldset = document.getElementById("conflict-field").content.cloneNode(true).firstElementChild;
  fieldset.querySelector("legend").textContent = answers.nameOf(field);
  fieldset.querySelector("[data-yours]").textContent = answers.describe(field, yours);
  fieldset.querySelector("[data-theirs]").textContent = answers.describe(field, theirs);
  if (savedAt)
    fieldset.querySelector("[data-saved-at]").textContent = `saved ${shownTime(savedAt)}`;
  for (const radio of fieldset.querySelectorAll("input")) radio.name = field;
  return fieldset;
}

// As the server writes times, and in the zone it writes them in.
function shownTime(moment) {
  const zone = document.documentElement.dataset.zone || undefined;
  return new Date(moment).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: zone });
}
