// A dialog that opens under somebody's hands takes what they type: it waits until they leave the field.

const TEXT = "textarea, input:not([type=radio], [type=checkbox], [type=button], [type=submit])";

export function endOfTyping() {
  const field = document.activeElement;
  if (!field?.matches(TEXT)) return Promise.resolve();
  return new Promise((resolve) => {
    field.addEventListener("blur", resolve, { once: true });
    document.addEventListener("submit", resolve, { once: true, capture: true });
  });
}
