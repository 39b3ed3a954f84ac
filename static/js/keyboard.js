// Single keys. A control names its keys in data-keys, as in aria-keyshortcuts ("Shift+S", "?", "Enter"; alternatives
// after a space); letters without "+" are typed one after another ("xa"). The page is the map: a key acts on the first
// visible control that names it, unless somebody prevents the event "key" that the control gets first. Never while
// typing in a field; the switch in the overview, or in the account, turns single keys off.

const SETTING = "intercoder.single-keys";
const PREFIX_TIMEOUT = 1500;
const NAMED_KEYS = new Set(["Enter", "Escape", "ArrowUp", "ArrowDown"]);
const TEXT_INPUTS = new Set(["checkbox", "radio", "button", "submit", "file", "range", "color"]);

const toggle = document.getElementById("single-keys");
let typed = "";
let forgetting = 0;

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const combination = combinationOf(event);
  if (event.target.matches("[data-key-field]")) return record(event, combination);
  if (event.key === "Escape") return leave(event);
  const modified = event.ctrlKey || event.metaKey;
  if (isTyping(event.target) && combination !== "Control+Enter") return;
  if (!modified && !singleKeysAreOn()) return;
  if (combination === "Enter" && keepsEnter(event.target)) return;
  const control = controlFor(combination);
  if (!control) return;
  event.preventDefault();
  // A key that is held down hands in one unit and not all that follow.
  if (event.repeat && (combination === "Enter" || combination === "Control+Enter")) return;
  if (control !== "prefix") use(control);
});

function combinationOf(event) {
  const control = event.ctrlKey || event.metaKey ? "Control+" : "";
  const isLetter = event.key.length === 1 && event.key.toLowerCase() !== event.key.toUpperCase();
  if (!isLetter) return control + event.key;
  const shift = event.shiftKey ? "Shift+" : "";
  if (control) return control + shift + event.key.toUpperCase();
  return shift ? shift + event.key.toUpperCase() : event.key;
}

function isTyping(element) {
  if (element.isContentEditable || element.tagName === "TEXTAREA" || element.tagName === "SELECT") return true;
  return element.tagName === "INPUT" && !TEXT_INPUTS.has(element.type);
}

// On these Enter already does what their user expects.
function keepsEnter(element) {
  return element.closest("a[href], button, summary") !== null;
}

// The switch of this browser; while it was not touched, what the account says.
function singleKeysAreOn() {
  return (localStorage.getItem(SETTING) ?? (toggle?.defaultChecked === false ? "off" : "on")) !== "off";
}

// A field of the account takes the key that is pressed in it; those that move through a form keep doing that.
function record(event, combination) {
  const isModifier = event.key === "Shift" || event.key === "Control" || event.key === "Meta";
  if (isModifier || ["Tab", "Enter", "Escape", "Backspace", "Delete"].includes(event.key)) return;
  event.preventDefault();
  event.target.value = combination;
}

function leave(event) {
  typed = "";
  if (isTyping(event.target) && !event.target.closest("dialog, [popover]")) event.target.blur();
}

// An open overlay takes the keys: what lies under it is out of reach.
function reach() {
  const overlays = document.querySelectorAll("dialog[open], [popover]:popover-open");
  return overlays.length ? overlays[overlays.length - 1] : document;
}

function controlFor(combination) {
  const controls = [...reach().querySelectorAll("[data-keys]")].filter(
    (control) => control.checkVisibility({ visibilityProperty: true }) && !control.disabled,
  );
  const wanted = typed + combination;
  forgetPrefix();
  const exact = controls.find((control) => keysOf(control).includes(wanted));
  if (exact) return exact;
  const begins = controls.some((control) =>
    keysOf(control).some((keys) => isSequence(keys) && keys.startsWith(wanted)),
  );
  if (!begins) return null;
  typed = wanted;
  forgetting = setTimeout(forgetPrefix, PREFIX_TIMEOUT);
  return "prefix";
}

function keysOf(control) {
  return control.dataset.keys.split(" ");
}

function isSequence(keys) {
  return keys.length > 1 && !keys.includes("+") && !NAMED_KEYS.has(keys);
}

function forgetPrefix() {
  clearTimeout(forgetting);
  typed = "";
}

function use(control) {
  if (!control.dispatchEvent(new CustomEvent("key", { bubbles: true, cancelable: true }))) return;
  if (control.tagName === "SUMMARY") return openDetails(control.parentElement);
  if (isTyping(control)) {
    control.focus();
    if (control.type === "search") control.select();
    else control.setSelectionRange?.(control.value.length, control.value.length);
    return;
  }
  if (control.type === "radio" && control.checked) return clear(control);
  if (control.matches("input, label")) control.focus({ preventScroll: true });
  control.click();
}

function openDetails(details) {
  details.open = true;
  const first = details.querySelector("input:checked, textarea") ?? details.querySelector("input:not([disabled])");
  first?.focus({ preventScroll: true, focusVisible: true });
  details.scrollIntoView({ block: "nearest" });
}

// A radio button chosen twice is taken back, as a checkbox is.
function clear(radio) {
  radio.checked = false;
  radio.focus({ preventScroll: true });
  radio.dispatchEvent(new Event("input", { bubbles: true }));
  radio.dispatchEvent(new Event("change", { bubbles: true }));
}

if (toggle) {
  toggle.checked = singleKeysAreOn();
  toggle.addEventListener("change", () => localStorage.setItem(SETTING, toggle.checked ? "on" : "off"));
}
// What is saved in the account counts from then on, here as well.
document.getElementById("key-map")?.addEventListener("submit", () => localStorage.removeItem(SETTING));
