/** Matches digits in groups of three, separated by commas or apostrophes, with an optional fraction. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+|(?:['’]\d{3})+)(?:\.\d+)?$/

/** Matches one comma, which is the decimal separator of some countries. */
const ONE_COMMA = /^[+-]?\d{1,3},\d{3}$/

/** Whether a text is a number with thousands separators, possibly a decimal comma instead. */
export function isGrouped(text: string): boolean {
  return GROUPED.test(text)
}

/** Whether a number of {@link isGrouped} may have a decimal comma instead: `1,234`. */
export function isAmbiguousGroup(text: string): boolean {
  return ONE_COMMA.test(text)
}

/** Returns a number of {@link isGrouped} without its separators. */
export function withoutGroups(text: string): string {
  return text.replace(/[,'’]/g, '')
}

/** Matches a decimal comma, optionally with points between thousands; not {@link ONE_COMMA}. */
const DECIMAL_COMMA = /^[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+$/

/** Whether a text can only be a number with a decimal comma. */
export function isDecimalComma(text: string): boolean {
  return DECIMAL_COMMA.test(text) && !ONE_COMMA.test(text)
}

const ONE_POINT = /^[+-]?[1-9]\d{0,2}\.\d{3}$/

/** Whether the point of a number may separate thousands in files with decimal commas: `1.000`. */
export function isPointGroup(text: string): boolean {
  return ONE_POINT.test(text)
}

const WITH_UNIT = /^(?:[$€£¥₹]\s?[+-]?|[+-][$€£¥₹])?\d[\d.,'’\s]*(?:\s?(?:%|[$€£¥₹]|CHF|EUR|USD|GBP))?$/

/** Whether a text is a number with a currency sign or a percent sign: `$1,234.50`, `12%`. */
export function hasUnit(text: string): boolean {
  return WITH_UNIT.test(text) && /[$€£¥₹%A-Z]/.test(text)
}

/** Words of programs for no value among numbers, dates or booleans, in lower case. */
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

/** Whether a text is such a word for no value. In a column of texts it may be a value. */
export function isMissingText(text: string): boolean {
  return text.length <= 4 && MISSING.has(text.toLowerCase())
}

const INFINITE = /^[+-]?(?:inf(?:inity)?|∞|1\.#inf)$/i

/** Whether a text is an infinity, which JSON numbers cannot represent. */
export function isInfinite(text: string): boolean {
  return INFINITE.test(text)
}
