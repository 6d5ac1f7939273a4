/** Digits in groups of three, with commas or apostrophes between them, and perhaps a fraction. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+|(?:['’]\d{3})+)(?:\.\d+)?$/

/** One comma, which may be the decimal point of some countries. */
const ONE_COMMA = /^[+-]?\d{1,3},\d{3}$/

/** Whether a text is a number with separators between its thousands; perhaps with a decimal comma instead. */
export function isGrouped(text: string): boolean {
  return GROUPED.test(text)
}

/** Whether a number of {@link isGrouped} could have a decimal comma instead: `1,234`. */
export function isAmbiguousGroup(text: string): boolean {
  return ONE_COMMA.test(text)
}

/** A number of {@link isGrouped} without its separators. */
export function withoutGroups(text: string): string {
  return text.replace(/[,'’]/g, '')
}

/** A decimal comma, perhaps with points between thousands; not {@link ONE_COMMA}. */
const DECIMAL_COMMA = /^[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+$/

/** Whether a text is a number with a decimal comma, and nothing else. */
export function isDecimalComma(text: string): boolean {
  return DECIMAL_COMMA.test(text) && !ONE_COMMA.test(text)
}

const ONE_POINT = /^[+-]?[1-9]\d{0,2}\.\d{3}$/

/** Whether a number with a point may have it between thousands, where files have decimal commas: `1.000`. */
export function isPointGroup(text: string): boolean {
  return ONE_POINT.test(text)
}

const WITH_UNIT = /^(?:[$€£¥₹]\s?[+-]?|[+-][$€£¥₹])?\d[\d.,'’\s]*(?:\s?(?:%|[$€£¥₹]|CHF|EUR|USD|GBP))?$/

/** Whether a text is a number with a sign of a currency or of percent: `$1,234.50`, `12%`. */
export function hasUnit(text: string): boolean {
  return WITH_UNIT.test(text) && /[$€£¥₹%A-Z]/.test(text)
}

/** What programs write for no value where they have a number, a date or a truth value otherwise; in small letters. */
const MISSING: ReadonlySet<string> = new Set([
  'na',
  'n/a',
  '#n/a',
  '<na>',
  'nan',
  '-nan',
  'nat',
  'null',
  'none',
  '\\n',
])

/** Whether a text is what programs write for no value. A column of texts may have it as a value. */
export function isMissingText(text: string): boolean {
  return text.length <= 4 && MISSING.has(text.toLowerCase())
}

const INFINITE = /^[+-]?(?:inf(?:inity)?|∞|1\.#inf)$/i

/** Whether a text is an infinity, which numbers of JSON lack. */
export function isInfinite(text: string): boolean {
  return INFINITE.test(text)
}
