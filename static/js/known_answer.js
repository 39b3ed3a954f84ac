// The form of a known answer: what it asks follows from what was chosen, as on the coding page. It is sent as a form.

import { Answers } from "./coding/answers.js";

const form = document.getElementById("codes");
const answers = new Answers(form, null);

answers.refresh();
answers.openNext();
form.addEventListener("input", ({ target }) => {
  answers.keepExclusive(target);
  answers.refresh();
});
