// The coding page: one unit after the other, and steps that can be undone in all of them.
// Without script every form of the page is sent as a whole.

import { Units } from "./coding/units.js";
import { Workspace } from "./coding/workspace.js";

const UNDO_STEPS = 100;

const undo = document.getElementById("undo");
const redo = document.getElementById("redo");
const done = [];
const undone = [];
let workspace = null;

const units = new Units(enter);
enter();

function enter() {
  workspace?.leave();
  const keep = (values) => remember({ url: units.url, values });
  workspace = new Workspace({ remember: keep, handedIn, isNext: workspace !== null });
}

// In a round with stages the unit stays on the page, with its next stage.
async function handedIn({ status }) {
  if (status === "draft") return location.reload();
  const isNew = status === "submitted" && !workspace.isSubmitted;
  await units.next();
  // What comes next was fetched before this unit was handed in.
  if (isNew) document.getElementById("progress").value += 1;
}

// Undo -------------------------------------------------------------------------------------------

function remember(step) {
  done.push(step);
  if (done.length > UNDO_STEPS) done.shift();
  undone.length = 0;
  showSteps();
}

async function step(from, to) {
  const { url, values } = from.pop();
  if (url !== units.url) await units.visit(url);
  to.push({ url, values: workspace.known });
  workspace.restore(values);
  showSteps();
}

function showSteps() {
  undo.disabled = done.length === 0;
  redo.disabled = undone.length === 0;
}

undo.addEventListener("click", () => step(done, undone));
redo.addEventListener("click", () => step(undone, done));
for (const button of [undo, redo]) button.hidden = false;
redo.dataset.keys += " Control+Shift+Z"; // the other usual one, whichever key is one's own
showSteps();

window.addEventListener("pagehide", () => workspace.drafts.flush());
