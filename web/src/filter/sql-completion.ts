import type { SqlDialect } from '../../../src/wire/schema/dialect.ts'
import { quotedName, quoteName } from '../sql/editor/sql-words.ts'

/** The options for the word before the caret. */
export interface Completion {
  /** The start of the word; it ends at the caret. */
  readonly from: number
  readonly options: readonly CompletionOption[]
}

export interface CompletionOption {
  /** The SQL text. */
  readonly insert: string
  readonly label: string
  /** The title of a field; null for keywords. */
  readonly title: string | null
}

const WORDS = [
  'AND',
  'OR',
  'NOT',
  'IS NULL',
  'IS NOT NULL',
  'IN (',
  'BETWEEN',
  'LIKE',
  'EXISTS',
  'CASE',
  'lower(',
  'length(',
  'abs(',
]

const WORDS_OF: Readonly<Record<SqlDialect, readonly string[]>> = {
  sqlite: [...WORDS, 'date(', 'json_each('],
  postgres: [...WORDS, 'ILIKE', 'date_trunc(', 'jsonb_exists('],
}

const MAX = 8

/** Returns the completions at a position; null within strings and where no word is being typed. */
export function completionAt(
  text: string,
  caret: number,
  {
    fields,
    dialect,
  }: {
    readonly fields: readonly { readonly name: string; readonly title: string }[]
    readonly dialect: SqlDialect
  },
): Completion | null {
  const before = text.slice(0, caret)
  const open = openQuote(before)
  if (open !== null && open.mark !== '"') return null
  const from = open?.at ?? /(?<!\w)[A-Za-z_]\w*$/.exec(before)?.index
  if (from === undefined || /\w/.test(text.charAt(caret))) return null
  const typed = before.slice(open === null ? from : from + 1).toLowerCase()
  const names = fields.map(({ name, title }) => ({
    option: { insert: open === null ? quoteName(name) : quotedName(name), label: name, title },
    keys: [name.toLowerCase(), title.toLowerCase()],
  }))
  const words =
    open === null
      ? WORDS_OF[dialect].map((word) => ({
          option: { insert: word, label: word, title: null },
          keys: [word.toLowerCase()],
        }))
      : []
  const all = [...names, ...words]
  const starting = all.filter(({ keys }) => keys.some((key) => key.startsWith(typed)))
  const within = names.filter(
    (each) => !starting.includes(each) && each.keys.some((key) => key.includes(typed)),
  )
  const options = [...starting, ...within].map(({ option }) => option).slice(0, MAX)
  // A complete word needs no menu.
  const isWhole = options.length === 0 || (options.length === 1 && options[0]?.insert === before.slice(from))
  return isWhole ? null : { from, options }
}

/** Returns the open quote at the end of a text. A doubled quote closes and reopens, with the same result. */
function openQuote(text: string): { readonly mark: string; readonly at: number } | null {
  let open: { mark: string; at: number } | null = null
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (open === null && (letter === "'" || letter === '"')) open = { mark: letter, at }
    else if (letter === open?.mark) open = null
  }
  return open
}

/** Returns the text with an option inserted, and the caret position. */
export function complete(
  text: string,
  caret: number,
  { from }: Completion,
  { insert }: CompletionOption,
): { readonly text: string; readonly caret: number } {
  const end = insert.startsWith('"') && text.charAt(caret) === '"' ? caret + 1 : caret
  return { text: text.slice(0, from) + insert + text.slice(end), caret: from + insert.length }
}
