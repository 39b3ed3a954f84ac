// Changes on their way to the server. They are in localStorage from the moment they are made until the server has
// confirmed them, so a dead network, a closed window or a restarted server loses nothing.

const PREFIX = "intercoder.unsaved";
const CLICKED = 150;
const TYPED = 800;
const FIRST_RETRY = 2000;
const LAST_RETRY = 30000;
const KEEPALIVE_LIMIT = 60000;

export class Drafts extends EventTarget {
  constructor({ url, owner, unit, token, version, settle, signal }) {
    super();
    Object.assign(this, { url, owner, unit, token, version, settle });
    this.pending = {};
    this.held = {}; // what the server will not take as it is, and why, by field: the others go without it
    this.status = null;
    this.isTakenBack = false; // a hand-in was, because its coder went on answering before it was through
    this.timer = 0;
    this.wait = FIRST_RETRY;
    this.sending = null;
    window.addEventListener("online", () => this.#send(), { signal });
  }

  change(field, value, isTyping) {
    if (this.status) {
      this.#takeBack();
      this.isTakenBack = true;
    }
    this.status = null; // who goes on answering has not handed in yet
    this.pending[field] = value;
    this.#store();
    this.#release(field);
    this.#status("saving", "Saving…");
    this.#schedule(isTyping ? TYPED : CLICKED);
  }

  // Send what is left; true when the server has everything that it takes.
  async flush() {
    clearTimeout(this.timer);
    while (Object.keys(this.#sendable()).length) {
      if (!(await this.#send())) return false;
    }
    return true;
  }

  // Send what is left together with what is to become of the unit, until "handed-in" or "refused" says how it ended.
  async handIn(status, changes) {
    const ended = Object.keys(changes).filter((field) => changes[field] === null);
    this.before ??= Object.fromEntries(ended.map((field) => [field, this.pending[field]]));
    Object.assign(this.pending, changes);
    this.#store();
    if (this.status && this.sending) return;
    this.status = status;
    this.isTakenBack = false;
    this.#status("saving", "Saving…");
    await this.sending;
    this.#send();
  }

  // Take a unit that was put off back into work.
  async resume() {
    const response = await this.#patch(this.url, this.version, {}, "draft").catch(() => null);
    if (response?.ok) this.#adopt(await response.json());
  }

  // Somebody signed in again: the new session has a new token.
  goOn(token) {
    this.token = token;
    this.#status("saving", "Saving…");
    this.#send();
  }

  // What an earlier visit could not send, to be shown and sent again.
  restore() {
    const record = read(this.#key());
    if (!record) {
      this.#sayWhen(document.getElementById("save-state").dataset.at);
      return null;
    }
    this.pending = record.changes;
    this.version = record.version;
    this.#status("saving", "Saving…");
    this.#schedule(0);
    return record.changes;
  }

  // Units that were left while the network was down.
  async replayOthers() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}.${this.owner}.`));
    for (const key of keys.filter((each) => each !== this.#key())) {
      await this.#replay(key, read(key));
    }
  }

  async #replay(key, record) {
    const response = await this.#patch(record.url, record.version, record.changes).catch(() => null);
    if (response?.ok || response?.status === 404) return localStorage.removeItem(key);
    if (response?.status === 409)
      return this.#status("failed", `${record.unit} was changed in two places: open it to settle that`);
    if (response?.status !== 422) return null;
    const { detail, errors = {} } = await response.json().catch(() => ({}));
    this.#status("failed", `${record.unit} is not saved, open it to mend that: ${detail}`);
    const [taken, refused] = parted(record.changes, errors);
    if (Object.keys(refused).length === 0 || Object.keys(taken).length === 0) return null;
    const rest = await this.#patch(record.url, record.version, taken).catch(() => null);
    if (!rest?.ok) return null;
    const { version } = await rest.json();
    localStorage.setItem(key, JSON.stringify({ ...record, version, changes: refused }));
    return null;
  }

  #schedule(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#send(), delay);
  }

  #send() {
    this.sending ??= this.#sendPending().finally(() => (this.sending = null));
    return this.sending;
  }

  async #sendPending() {
    clearTimeout(this.timer);
    const { status } = this;
    const sent = status ? { ...this.pending } : this.#sendable();
    if (Object.keys(sent).length === 0 && !status) return true;
    let response;
    try {
      response = await this.#patch(this.url, this.version, sent, status);
    } catch {
      return this.#retry("no connection, retrying");
    }
    if (response.ok) return this.#accept(await response.json(), sent, status);
    return this.#refused(response, sent);
  }

  #patch(url, version, changes, status) {
    const body = JSON.stringify({ version, ...asBody(changes), ...(status && { status }) });
    const headers = { "Content-Type": "application/json", "X-CSRFToken": this.token };
    return fetch(url, { method: "PATCH", headers, body, keepalive: body.length < KEEPALIVE_LIMIT });
  }

  #accept(state, sent, status) {
    this.version = state.version;
    this.wait = FIRST_RETRY;
    for (const [field, value] of Object.entries(sent)) {
      if (this.pending[field] === value) this.#drop(field);
    }
    this.#store();
    this.#adopt(state);
    if (Object.keys(this.#sendable()).length) this.#schedule(CLICKED);
    else this.#sayHow();
    if (status && this.status === status) {
      this.status = this.before = null;
      this.dispatchEvent(new CustomEvent("handed-in", { detail: state }));
    }
    return true;
  }

  // What another window saved in the meantime appears here as well.
  #adopt(state) {
    const values = asValues(state);
    for (const field of Object.keys(this.pending)) delete values[field];
    this.dispatchEvent(new CustomEvent("state", { detail: { values } }));
  }

  async #refused(response, sent) {
    if (response.status >= 500 || response.status === 429) {
      return this.#retry(
        "the server does not answer, retrying",
        Number(response.headers.get("Retry-After")) * 1000,
      );
    }
    const problem = await response.json().catch(() => ({}));
    if (response.status === 409 && problem.conflicts) return this.#conflict(problem.conflicts);
    if (response.status === 401 || response.status === 403) {
      this.#status("failed", `${this.#not()}: you are signed out`);
      this.dispatchEvent(new Event("signed-out"));
      return false;
    }
    if (this.status) {
      this.status = null;
      this.#takeBack();
      this.dispatchEvent(new Event("refused"));
      return false;
    }
    if (response.status === 404 || response.status === 409) this.#forget(sent);
    if (response.status === 422 && this.#hold(sent, problem.errors ?? {})) return this.#sendPending();
    this.#status("failed", `Not saved: ${problem.detail ?? "the server refused it"}`);
    return false;
  }

  // Keep in the page what the server refuses, with its reason; true when something was.
  #hold(sent, errors) {
    const [, refused] = parted(sent, errors);
    for (const field of Object.keys(refused)) {
      this.held[field] = errors[field].join(" ");
      this.dispatchEvent(new CustomEvent("held", { detail: { field, why: this.held[field] } }));
    }
    if (Object.keys(refused).length === 0) return false;
    this.#sayHow();
    return true;
  }

  // Nothing of a field is left to be sent.
  #drop(field) {
    delete this.pending[field];
    this.#release(field);
  }

  #release(field) {
    if (!(field in this.held)) return;
    delete this.held[field];
    this.dispatchEvent(new CustomEvent("held", { detail: { field, why: "" } }));
  }

  #sendable() {
    return Object.fromEntries(Object.entries(this.pending).filter(([field]) => !(field in this.held)));
  }

  // How far it came: all is saved, or all but what the server does not take.
  #sayHow() {
    const why = Object.values(this.held).join(" ");
    if (why) this.#status("failed", `Not all is saved: ${why}`);
    else this.#sayWhen(new Date());
  }

  async #conflict(conflicts) {
    this.#status("failed", "Changed in two places: choose what stays");
    const choices = await this.settle(conflicts);
    const state = await fetch(this.url).then(
      (response) => response.json(),
      () => null,
    );
    if (!state) return this.#retry("no connection, retrying");
    for (const [field, choice] of Object.entries(choices)) {
      if (choice === "theirs") this.#drop(field);
    }
    this.version = state.version;
    this.#store();
    this.#adopt(state);
    if (Object.keys(this.#sendable()).length || this.status) return this.#sendPending();
    this.#sayHow();
    return true;
  }

  #not() {
    return this.status || this.isTakenBack ? "Not handed in" : "Not saved";
  }

  #retry(why, after = 0) {
    this.#status("failed", `${this.#not()}: ${why}`);
    this.#schedule(after || this.wait);
    this.wait = Math.min(this.wait * 2, LAST_RETRY);
    return false;
  }

  // What was not handed in ends no exclusion.
  #takeBack() {
    for (const [field, value] of Object.entries(this.before ?? {})) {
      if (value === undefined) this.#drop(field);
      else this.pending[field] = value;
    }
    this.before = null;
    this.#store();
  }

  #forget(sent) {
    for (const field of Object.keys(sent)) this.#drop(field);
    this.#store();
  }

  #store() {
    const { url, unit, version, pending: changes } = this;
    if (Object.keys(changes).length) localStorage.setItem(this.#key(), JSON.stringify({ url, unit, version, changes }));
    else localStorage.removeItem(this.#key());
  }

  #key() {
    return `${PREFIX}.${this.owner}.${this.url}`;
  }

  #sayWhen(moment) {
    if (!moment) return;
    const timeZone = document.documentElement.dataset.zone || undefined;
    const time = new Date(moment).toLocaleTimeString("en-GB", { timeStyle: "short", timeZone });
    if (this.isTakenBack) this.#status("failed", `Saved ${time}, but not handed in: you went on. Submit again`);
    else this.#status("saved", `Saved ${time}`);
  }

  #status(state, text) {
    this.dispatchEvent(new CustomEvent("status", { detail: { state, text } }));
  }
}

function read(key) {
  return JSON.parse(localStorage.getItem(key) ?? "null");
}

// Changes in two: what the errors of an answer do not name, and what they do.
function parted(changes, errors) {
  const parts = [{}, {}];
  for (const [field, value] of Object.entries(changes)) parts[field in errors ? 1 : 0][field] = value;
  return parts;
}

function asBody(changes) {
  const body = {};
  for (const [field, value] of Object.entries(changes)) {
    if (!field.startsWith("annotations.")) body[field] = value;
    else (body.annotations ??= {})[field.slice("annotations.".length)] = value;
  }
  return body;
}

function asValues(state) {
  const values = {
    memo: state.memo ?? "",
    confidence: state.confidence || null,
    evidence: state.evidence ?? [],
  };
  for (const fieldset of document.querySelectorAll("#codes [data-dimension]")) {
    const key = fieldset.dataset.dimension;
    values[`annotations.${key}`] = state.annotations[key] ?? null;
  }
  return values;
}
