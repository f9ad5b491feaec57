// The question that is being typed: kept in this tab until it is asked, whatever happens to the page meanwhile.

const KEY = "ask.draft";

export function recallDraft() {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    // Storage may be blocked altogether.
    return "";
  }
}

export function rememberDraft(text) {
  try {
    if (text) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
  } catch {
    // The draft then lasts as long as the page.
  }
}
