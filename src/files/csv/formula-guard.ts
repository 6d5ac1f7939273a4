/**
 * How a text starts that a spreadsheet program would take for a formula when it opens a CSV file (OWASP, "CSV
 * Injection"): with these, the full-width ones too. A text with apostrophes before them is one that was guarded.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/

/** A text so that no program takes it for a formula: those that start as one get an apostrophe in front. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Undoes {@link guardFormula}: what it made is what it was, whatever that was. */
export function unguardFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text
}
