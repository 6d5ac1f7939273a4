/**
 * Matches the start of a text that a spreadsheet program would execute as a formula when it opens a CSV file (OWASP,
 * "CSV Injection"), including the full-width characters. Apostrophes before them are those of guarded texts.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/

/** Returns a text that no program executes: one that starts like a formula gets an apostrophe in front. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Reverses {@link guardFormula} exactly. */
export function unguardFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text
}
