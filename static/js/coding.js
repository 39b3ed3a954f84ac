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
  const keep = (values, act) => remember({ url: units.url, values, act });
  const again = () => visit(units.url);
  workspace = new Workspace({ remember: keep, handedIn, again, isNext: workspace !== null });
}

// In a round with stages the unit stays on the page, with its next stage.
async function handedIn({ status }) {
  if (status === "draft") return visit(units.url);
  const isNew = status === "submitted" && !workspace.isSubmitted;
  await units.next();
  // What comes next was fetched before this unit was handed in.
  if (isNew) document.getElementById("progress").value += 1;
}

// From unit to unit the steps that can be undone go with the coder.
async function visit(url) {
  const isThere = await units.visit(url);
  if (!isThere) workspace.say("No connection: this unit stays until it is back");
  return isThere;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest(".unit-nav > a");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  visit(link.getAttribute("href"));
});

// Undo -------------------------------------------------------------------------------------------

function remember(step) {
  done.push(step);
  if (done.length > UNDO_STEPS) done.shift();
  undone.length = 0;
  showSteps();
}

async function step(from, to) {
  const { url, values, act } = from.at(-1);
  if (url !== units.url && !(await visit(url))) return;
  from.pop();
  to.push({ url, values: act ? values : workspace.known, act });
  showSteps();
  if (!act) return workspace.restore(values);
  await workspace.act(act, from === done);
  // The page says whether a unit is excluded.
  if (act.exclude) await units.visit(url);
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
