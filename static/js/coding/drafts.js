// Changes on their way to the server. They are in localStorage from the moment they are made until the server has
// confirmed them, so a dead network, a closed window or a restarted server loses nothing.

const PREFIX = "intercoder.unsaved";
const CLICKED = 150;
const TYPED = 800;
const FIRST_RETRY = 2000;
const LAST_RETRY = 30000;
const KEEPALIVE_LIMIT = 60000;

export class Drafts extends EventTarget {
  constructor({ url, owner, unit, token, version, settle }) {
    super();
    Object.assign(this, { url, owner, unit, token, version, settle });
    this.pending = {};
    this.timer = 0;
    this.wait = FIRST_RETRY;
    this.sending = null;
    window.addEventListener("online", () => this.#send());
  }

  change(field, value, isTyping) {
    this.pending[field] = value;
    this.#store();
    this.#status("saving", "Saving…");
    this.#schedule(isTyping ? TYPED : CLICKED);
  }

  // Send what is left; true when the server has everything.
  async flush() {
    clearTimeout(this.timer);
    while (Object.keys(this.pending).length) {
      if (!(await this.#send())) return false;
    }
    return true;
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
      const record = read(key);
      const response = await this.#patch(record.url, record.version, record.changes).catch(() => null);
      if (response?.ok || response?.status === 404) localStorage.removeItem(key);
      else if (response?.status === 409)
        this.#status("failed", `${record.unit} was changed in two places: open it to settle that`);
    }
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
    const sent = { ...this.pending };
    if (Object.keys(sent).length === 0) return true;
    let response;
    try {
      response = await this.#patch(this.url, this.version, sent);
    } catch {
      return this.#retry("Not saved: no connection, retrying");
    }
    if (response.ok) return this.#accept(await response.json(), sent);
    return this.#refused(response, sent);
  }

  #patch(url, version, changes) {
    const body = JSON.stringify({ version, ...asBody(changes) });
    const headers = { "Content-Type": "application/json", "X-CSRFToken": this.token };
    return fetch(url, { method: "PATCH", headers, body, keepalive: body.length < KEEPALIVE_LIMIT });
  }

  #accept(state, sent) {
    this.version = state.version;
    this.wait = FIRST_RETRY;
    for (const [field, value] of Object.entries(sent)) {
      if (this.pending[field] === value) delete this.pending[field];
    }
    this.#store();
    this.#adopt(state);
    if (Object.keys(this.pending).length) this.#schedule(CLICKED);
    else this.#sayWhen(new Date());
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
        "Not saved: the server does not answer, retrying",
        Number(response.headers.get("Retry-After")) * 1000,
      );
    }
    const problem = await response.json().catch(() => ({}));
    if (response.status === 409 && problem.conflicts) return this.#conflict(problem.conflicts);
    if (response.status === 401 || response.status === 403) {
      this.#status("failed", "Not saved: sign in again, then reload this page");
      return false;
    }
    if (response.status === 404 || response.status === 409) this.#forget(sent);
    this.#status("failed", `Not saved: ${problem.detail ?? "the server refused it"}`);
    return false;
  }

  async #conflict(conflicts) {
    const choices = await this.settle(conflicts);
    const state = await fetch(this.url).then(
      (response) => response.json(),
      () => null,
    );
    if (!state) return this.#retry("Not saved: no connection, retrying");
    for (const [field, choice] of Object.entries(choices)) {
      if (choice === "theirs") delete this.pending[field];
    }
    this.version = state.version;
    this.#store();
    this.#adopt(state);
    if (Object.keys(this.pending).length) return this.#sendPending();
    this.#sayWhen(new Date());
    return true;
  }

  #retry(text, after = 0) {
    this.#status("failed", text);
    this.#schedule(after || this.wait);
    this.wait = Math.min(this.wait * 2, LAST_RETRY);
    return false;
  }

  #forget(sent) {
    for (const field of Object.keys(sent)) delete this.pending[field];
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
    const time = new Date(moment).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    this.#status("saved", `Saved ${time}`);
  }

  #status(state, text) {
    this.dispatchEvent(new CustomEvent("status", { detail: { state, text } }));
  }
}

function read(key) {
  return JSON.parse(localStorage.getItem(key) ?? "null");
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
  const values = { memo: state.memo ?? "", confidence: state.confidence ?? null };
  for (const fieldset of document.querySelectorAll("#codes [data-dimension]")) {
    const key = fieldset.dataset.dimension;
    values[`annotations.${key}`] = state.annotations[key] ?? null;
  }
  return values;
}
