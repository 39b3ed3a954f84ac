// The coding page: what the coder does in the form is saved as it happens. Without script the form is sent as a whole.

import { Answers } from "./coding/answers.js";
import { settleConflicts } from "./coding/conflicts.js";
import { Drafts } from "./coding/drafts.js";
import { enableFilter } from "./coding/filter.js";
import { followParts } from "./coding/parts.js";
import { enableProposals } from "./coding/proposals.js";

const UNDO_STEPS = 100;

const form = document.getElementById("codes");
const answers = new Answers(form);
const drafts = new Drafts({
  url: form.dataset.saveUrl,
  owner: form.dataset.owner,
  unit: form.dataset.unit,
  token: form.elements.csrfmiddlewaretoken.value,
  version: Number(form.elements.version.value),
  settle: (conflicts) => settleConflicts(conflicts, answers),
});

// Saving -----------------------------------------------------------------------------------------

const saveState = document.getElementById("save-state");

drafts.addEventListener("status", ({ detail }) => {
  saveState.querySelector("[data-save-text]").textContent = detail.text;
  saveState.classList.toggle("save-state--busy", detail.state === "saving");
  saveState.classList.toggle("save-state--failed", detail.state === "failed");
  if (detail.state === "failed") document.dispatchEvent(new CustomEvent("announce", { detail: detail.text }));
});

drafts.addEventListener("state", ({ detail }) => {
  answers.write(detail.values);
  known = answers.read();
});

// Undo -------------------------------------------------------------------------------------------

const undo = document.getElementById("undo");
const history = [];
let known = answers.read();
let lastTyped = null;

form.addEventListener("input", (event) => {
  if (event.target.id === "filter") return;
  answers.keepExclusive(event.target);
  const isTyping = event.target.tagName === "TEXTAREA";
  if (!isTyping || lastTyped !== event.target) remember(known);
  lastTyped = isTyping ? event.target : null;
  save(isTyping);
});
form.addEventListener("focusout", () => (lastTyped = null));

undo.hidden = false;
undo.disabled = true;
undo.addEventListener("click", () => {
  answers.write(history.pop());
  undo.disabled = history.length === 0;
  save();
});

function remember(values) {
  history.push(values);
  if (history.length > UNDO_STEPS) history.shift();
  undo.disabled = false;
}

function save(isTyping = false) {
  const values = answers.read();
  for (const [field, value] of Object.entries(values)) {
    if (!answers.same(value, known[field])) drafts.change(field, value, isTyping);
  }
  known = values;
  answers.refresh();
}

// Handing in -------------------------------------------------------------------------------------

for (const sent of [form, document.getElementById("exclude")]) {
  sent.addEventListener("submit", async (event) => {
    if (sent.dataset.saved) return;
    event.preventDefault();
    if (sent.dataset.busy) return;
    sent.dataset.busy = "yes";
    const isSaved = await drafts.flush();
    delete sent.dataset.busy;
    if (!isSaved) return;
    for (const field of document.querySelectorAll("input[name=version]")) field.value = drafts.version;
    sent.dataset.saved = "yes";
    sent.requestSubmit(event.submitter);
  });
}
window.addEventListener("pageshow", () => {
  for (const sent of document.querySelectorAll("form[data-saved]")) delete sent.dataset.saved;
});
window.addEventListener("pagehide", () => drafts.flush());

// A reason that was looked at and cancelled must not be sent later.
document.getElementById("exclude").addEventListener("toggle", (event) => {
  if (event.newState === "closed") event.target.reset();
});

// Start ------------------------------------------------------------------------------------------

const unsent = drafts.restore();
if (unsent) answers.write(unsent);
known = answers.read();
answers.refresh();
answers.openNext();
enableFilter(form);
enableProposals({ answers, drafts });
followParts(document.querySelector(".section-nav"));
drafts.replayOthers();
