/** Formats JSON as readable YAML, which parses to the same JSON. */
export function toYaml(value: unknown): string {
  return `${blockOf(value, 0)}\n`
}

const PAD = '  '
/** The maximum length of a list of plain values on one line. */
const LINE = 80

function blockOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : listOf(value, depth)
  if (typeof value !== 'object' || value === null) return scalarOf(value)
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  if (entries.length === 0) return '{}'
  return entries
    .map(([key, each]) => `${scalarOf(key)}:${afterKey(each, depth)}`)
    .join(`\n${PAD.repeat(depth)}`)
}

function afterKey(value: unknown, depth: number): string {
  const line = onOneLine(value)
  return line === null ? `\n${PAD.repeat(depth + 1)}${blockOf(value, depth + 1)}` : ` ${line}`
}

function listOf(items: readonly unknown[], depth: number): string {
  return items
    .map((item) => `- ${onOneLine(item) ?? blockOf(item, depth + 1)}`)
    .join(`\n${PAD.repeat(depth)}`)
}

/** Returns null for a value that needs several lines. */
function onOneLine(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return scalarOf(value)
  if (!Array.isArray(value)) return Object.keys(value).length === 0 ? '{}' : null
  if (value.some((item) => typeof item === 'object' && item !== null)) return null
  const line = `[${value.map((item) => (typeof item === 'string' ? textOf(item, /[[\]{},]/) : String(item))).join(', ')}]`
  return line.length <= LINE || value.length === 0 ? line : null
}

function scalarOf(value: unknown): string {
  return typeof value === 'string' ? textOf(value, /^$/) : String(value)
}

/** Matches texts that YAML would not read as the same string unless quoted. */
const NOT_PLAIN =
  /^$|^[\s\-?:,[\]{}#&*!|>'"%@`]|\s$|: |:$| #|[\p{Cc}\u2028\u2029\ufeff]|^(?:null|true|false|~|[-+]?\.?(?:\d|inf|nan).*|---.*|\.\.\..*)$/iu

function textOf(text: string, alsoQuoted: RegExp): string {
  if (!NOT_PLAIN.test(text) && !(text !== '' && alsoQuoted.test(text))) return text
  return /[\p{Cc}\p{Cs}\u2028\u2029\ufeff]/u.test(text)
    ? JSON.stringify(text)
    : `'${text.replaceAll("'", "''")}'`
}
