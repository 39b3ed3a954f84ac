// The form as values, one for each field of a draft: "annotations.<dimension>", "memo", "confidence", "evidence".
// The answer in a dimension is null (none yet) or { categories, state, text }.

import { counted, same as sameQuotes } from "./evidence.js";

const STATE = "state:";

export class Answers {
  constructor(form, evidence) {
    this.form = form;
    this.evidence = evidence;
    this.dimensions = [...form.querySelectorAll("[data-dimension]")];
  }

  read() {
    const values = {
      memo: this.form.elements.memo.value,
      confidence: this.form.querySelector("[name=confidence]:checked")?.value ?? null,
      evidence: this.evidence.read(),
    };
    for (const dimension of this.dimensions) {
      values[`annotations.${dimension.dataset.dimension}`] = readDimension(dimension);
    }
    return values;
  }

  write(values) {
    for (const [field, value] of Object.entries(values)) {
      if (field === "evidence") continue;
      if (field === "memo") this.form.elements.memo.value = value ?? "";
      else if (field === "confidence") check(this.form.querySelectorAll("[name=confidence]"), [value]);
      else this.#writeDimension(field, value);
    }
    // Quotes are drawn beside the answers, so they come last.
    if (values.evidence) this.evidence.write(values.evidence);
    this.refresh();
  }

  // The dimension that a field answers, if it answers one.
  #asking(field) {
    return this.dimensions.find((each) => `annotations.${each.dataset.dimension}` === field);
  }

  #writeDimension(field, value) {
    const dimension = this.#asking(field);
    if (!dimension) return;
    const text = dimension.querySelector("textarea");
    if (text) text.value = value?.text ?? "";
    else check(inputsOf(dimension), chosenBy(value));
  }

  same(one, other) {
    if (Array.isArray(one) && Array.isArray(other)) return sameQuotes(one, other);
    return canonical(one) === canonical(other);
  }

  // A quote speaks for a category: it is chosen, if it is not yet.
  choose(dimension, category) {
    const fieldset = this.dimensions.find((each) => each.dataset.dimension === dimension);
    const input = inputsOf(fieldset).find((each) => each.value === category);
    input.checked = true;
    this.keepExclusive(input);
    this.followByEvidence(input);
  }

  followByEvidence(input) {
    const dimension = input.closest("[data-dimension]");
    if (!dimension || !input.closest(".code-row")) return;
    this.evidence.follow(dimension.dataset.dimension, readDimension(dimension)?.categories ?? []);
  }

  // "Unclear" stands alone: choosing it takes back the categories, and the other way round.
  keepExclusive(input) {
    const dimension = input.closest("[data-kind=multiple]");
    if (!dimension || !input.checked) return;
    for (const other of inputsOf(dimension)) {
      const excludes = input.value.startsWith(STATE) || other.value.startsWith(STATE);
      if (other !== input && excludes) other.checked = false;
    }
  }

  // What follows from the answers: which dimensions are asked, their summaries, how many have an answer.
  refresh() {
    const asked = new Set();
    for (const dimension of this.dimensions) {
      dimension.hidden = !this.#isAsked(dimension, asked);
      if (!dimension.hidden) asked.add(dimension.dataset.dimension);
      const words = describe(dimension, readDimension(dimension));
      summarise(dimension, words);
      const tag = document.querySelector(`[data-tag-of="${CSS.escape(dimension.dataset.dimension)}"]`);
      if (!tag) continue;
      tag.hidden = dimension.hidden;
      tag.classList.toggle("dimension-tag--open", !words);
    }
    const shown = this.dimensions.filter((dimension) => !dimension.hidden);
    const answered = shown.filter((dimension) => readDimension(dimension) !== null);
    for (const count of document.querySelectorAll("[data-coded-count]")) {
      count.textContent = `${answered.length} of ${shown.length} coded`;
    }
  }

  #isAsked({ dataset }, asked) {
    if (!dataset.askedIf) return true;
    const parent = this.dimensions.find((each) => each.dataset.dimension === dataset.askedIf);
    if (!parent || !asked.has(dataset.askedIf)) return false;
    const wanted = dataset.anyOf.split("|");
    return readDimension(parent)?.categories.some((code) => wanted.includes(code)) ?? false;
  }

  // The first dimension without an answer is open when the page comes up.
  openNext() {
    if (this.form.querySelector("details[name=dimension][open]")) return;
    const open = this.dimensions.find((each) => !each.hidden && !each.disabled && readDimension(each) === null);
    if (open) open.querySelector("details").open = true;
  }

  describe(field, value) {
    if (field === "evidence") return value.map(({ quote }) => `“${quote}”`).join(", ") || counted(0);
    if (!field.startsWith("annotations.")) return value || "nothing";
    const dimension = this.#asking(field);
    return describe(dimension, value) || "no answer";
  }

  // Say beside a field why the server does not take it; no reason any more takes that back.
  complain(field, why) {
    const dimension = this.#asking(field);
    const asked = dimension?.querySelector("textarea") ?? this.form.elements.namedItem(field);
    const place = asked instanceof HTMLElement ? asked : (dimension ?? this.form.querySelector(".unit-notes"));
    const id = `why-${field}`;
    document.getElementById(id)?.remove();
    for (const name of ["aria-invalid", "aria-describedby"]) place.removeAttribute(name);
    if (!why) return;
    const sentence = document.createElement("p");
    sentence.id = id;
    sentence.className = "field__error";
    sentence.textContent = why;
    place.after(sentence);
    place.setAttribute("aria-invalid", "true");
    place.setAttribute("aria-describedby", id);
  }

  nameOf(field) {
    const dimension = this.#asking(field);
    if (dimension) return dimension.querySelector(".dimension__name").textContent;
    return field.charAt(0).toUpperCase() + field.slice(1);
  }
}

function inputsOf(dimension) {
  return [...dimension.querySelectorAll(".code-row input")];
}

function readDimension(dimension) {
  const text = dimension.querySelector("textarea");
  if (text) return text.value.trim() ? { categories: [], state: "coded", text: text.value } : null;
  const chosen = inputsOf(dimension)
    .filter((input) => input.checked)
    .map((input) => input.value);
  if (chosen.length === 0) return null;
  const state = chosen.find((value) => value.startsWith(STATE));
  if (state) return { categories: [], state: state.slice(STATE.length), text: "" };
  return { categories: chosen, state: "coded", text: "" };
}

function chosenBy(value) {
  if (!value) return [];
  if (value.state !== "coded" || value.categories.length === 0) return [STATE + value.state];
  return value.categories;
}

function check(inputs, values) {
  for (const input of inputs) input.checked = values.includes(input.value);
}

function describe(dimension, value) {
  if (!value) return "";
  if (value.text) return value.text;
  const chosen = chosenBy(value);
  const labels = inputsOf(dimension)
    .filter((input) => chosen.includes(input.value))
    .map((input) => input.dataset.label);
  return labels.join(", ");
}

function summarise(dimension, words) {
  const value = dimension.querySelector(".dimension__value");
  value.classList.toggle("dimension__value--none", !words);
  const summary = value.querySelector("[data-summary]");
  summary.textContent = words || summary.dataset.empty;
  const mark = value.querySelector(".dimension__check");
  if (mark) mark.hidden = !words;
}

function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value || null);
  return JSON.stringify([[...(value.categories ?? [])].sort(), value.state ?? "coded", value.text ?? ""]);
}
