// One unit on the page: what the coder does in it is saved as it happens.

import { Answers } from "./answers.js";
import { settleConflicts } from "./conflicts.js";
import { Drafts } from "./drafts.js";
import { Evidence } from "./evidence.js";
import { enableFilter } from "./filter.js";
import { Finding } from "./finding.js";
import { enableOwnUnits } from "./own_units.js";
import { followParts } from "./parts.js";
import { enablePicking } from "./picking.js";
import { enableProposals } from "./proposals.js";
import { Sections } from "./sections.js";
import { SelectedText } from "./selection.js";
import { enableReturn } from "./session.js";
import { followSheet } from "./sheet.js";
import { Texts } from "./texts.js";

const DOUBLE_CLICK = 300;

export class Workspace {
  // remember(values, act) keeps a step for undo; an act is that the unit was excluded or put off. handedIn(state)
  // follows when the server has taken the unit; again() shows it anew. isNext says that it came up because the one
  // before was handed in.
  constructor({ remember, handedIn, again, isNext }) {
    this.leaving = new AbortController();
    this.enteredAt = isNext ? performance.now() : -Infinity;
    this.isClicked = false;
    this.remember = remember;
    this.handedIn = handedIn;
    this.again = again;
    this.form = document.getElementById("codes");
    const { form } = this;
    const { signal } = this.leaving;
    const issue = document.getElementById("issue");
    const texts = new Texts(issue);
    const sections = new Sections({ issue, url: document.getElementById("coding").dataset.sectionsUrl, signal });
    this.evidence = new Evidence({ issue, form, texts, sections });
    sections.addEventListener("change", () => {
      texts.refresh();
      this.evidence.repaint();
    });
    this.answers = new Answers(form, this.evidence);
    this.drafts = new Drafts({
      url: form.dataset.saveUrl,
      owner: form.dataset.owner,
      unit: form.dataset.unit,
      token: form.elements.csrfmiddlewaretoken.value,
      version: Number(form.elements.version.value),
      settle: (conflicts) => settleConflicts(conflicts, this.answers),
      signal,
    });
    this.#showSaving();
    followSheet(form, this.drafts);
    this.#followInput();
    for (const sent of [form, document.getElementById("exclude")]) this.#followSending(sent);
    const changed = () => this.#changed();
    this.evidence.addEventListener("change", changed);
    new SelectedText({ issue, form, texts, answers: this.answers, evidence: this.evidence, changed, signal });
    enablePrinting(sections);
    new Finding({ issue, sections, signal });
    enablePicking({ issue, texts, sections, signal });
    document.getElementById("pick").hidden = false;
    this.#start(signal);
  }

  // Put values back, as undo and redo do.
  restore(values) {
    this.answers.write(values);
    this.#save();
  }

  say(text) {
    this.drafts.dispatchEvent(new CustomEvent("status", { detail: { state: "failed", text } }));
  }

  // Undo that the unit was excluded or put off, or do it again.
  act({ skip, exclude }, isUndone) {
    if (skip) return isUndone ? this.drafts.resume() : this.drafts.handIn("skipped", {});
    this.drafts.change("exclude", isUndone ? null : exclude, false);
    return this.drafts.flush();
  }

  get isSubmitted() {
    return this.form.hasAttribute("data-submitted");
  }

  leave() {
    this.leaving.abort();
    this.evidence.leave();
    return this.drafts.flush();
  }

  #start(signal) {
    const unsent = this.drafts.restore();
    if (unsent) this.answers.write(unsent);
    this.known = this.answers.read();
    this.answers.refresh();
    this.answers.openNext();
    enableFilter(this.form);
    enableOwnUnits(this.form);
    enableReturn({ drafts: this.drafts, form: this.form, signal });
    enableProposals({ answers: this.answers, drafts: this.drafts, again: this.again });
    followParts(document.querySelector(".section-nav"), signal);
    this.drafts.replayOthers();
  }

  #showSaving() {
    const line = document.getElementById("save-state");
    this.drafts.addEventListener("status", ({ detail }) => {
      line.querySelector("[data-save-text]").textContent = detail.text;
      line.classList.toggle("save-state--busy", detail.state === "saving");
      line.classList.toggle("save-state--failed", detail.state === "failed");
      if (detail.state === "failed") document.dispatchEvent(new CustomEvent("announce", { detail: detail.text }));
    });
    this.drafts.addEventListener("handed-in", ({ detail }) => this.handedIn(detail));
    this.drafts.addEventListener("refused", () => this.#sendAsForm());
    this.drafts.addEventListener("held", ({ detail }) => this.answers.complain(detail.field, detail.why));
    this.drafts.addEventListener("state", ({ detail }) => {
      this.answers.write(detail.values);
      this.known = this.answers.read();
    });
  }

  // The whole unit goes with one request. What the server refuses is sent as without script: its page says why.
  #followSending(sent) {
    sent.addEventListener("click", ({ detail }) => (this.isClicked = detail > 0)); // 0 is a key
    sent.addEventListener("submit", (event) => {
      if (sent.dataset.refused) return;
      event.preventDefault();
      // The second click of a double click is not meant for the unit that has just come up.
      if (this.isClicked && performance.now() - this.enteredAt < DOUBLE_CLICK) return;
      const action = event.submitter?.value ?? "submit";
      this.handing = { sent, submitter: event.submitter };
      const changes = changesOf(sent, action);
      if (action !== "submit") this.remember(this.known, { skip: action === "skip", ...changes });
      this.drafts.handIn(action === "skip" ? "skipped" : "submitted", changes);
    });
    // A reason that was looked at and cancelled must not be sent later.
    sent.addEventListener("toggle", ({ newState }) => newState === "closed" && sent.reset());
    window.addEventListener("pageshow", () => delete sent.dataset.refused, { signal: this.leaving.signal });
  }

  #sendAsForm() {
    const { sent, submitter } = this.handing;
    sent.dataset.refused = "yes";
    sent.requestSubmit(submitter);
  }

  #followInput() {
    let lastTyped = null;
    this.form.addEventListener("input", ({ target }) => {
      if (target.id === "filter" || target.dataset.assign) return;
      this.answers.keepExclusive(target);
      this.answers.followByEvidence(target);
      const isTyping = target.tagName === "TEXTAREA";
      if (isTyping && lastTyped === target) this.#save(true);
      else this.#changed(isTyping);
      lastTyped = isTyping ? target : null;
    });
    this.form.addEventListener("focusout", () => (lastTyped = null));
  }

  #changed(isTyping = false) {
    this.remember(this.known);
    this.#save(isTyping);
  }

  #save(isTyping = false) {
    const values = this.answers.read();
    for (const [field, value] of Object.entries(values)) {
      if (!this.answers.same(value, this.known[field])) this.drafts.change(field, value, isTyping);
    }
    this.known = values;
    this.answers.refresh();
  }
}

// On paper nothing can be unfolded, so all of the unit has to be there.
function enablePrinting(sections) {
  const button = document.getElementById("print");
  button.hidden = false;
  button.addEventListener("click", async () => {
    await sections.whole();
    window.print();
  });
}

function changesOf(sent, action) {
  if (action === "skip") return {};
  // Handing in categories takes an exclusion back.
  if (action === "submit") return { exclude: null };
  const said = new FormData(sent);
  return { exclude: { reason: said.get("exclude_reason"), note: said.get("exclude_note") } };
}
