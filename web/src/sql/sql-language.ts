import type { Completion } from '@codemirror/autocomplete'
import { sql, SQLDialect } from '@codemirror/lang-sql'
import type { Extension } from '@codemirror/state'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { quoteName, SQL_FUNCTIONS, SQL_KEYWORDS } from './sql-words.ts'

/**
 * SQLite as the server takes it: what lang-sql has for it highlights words such as `language` and `month` as keywords, and
 * offers statements that are refused.
 */
const DIALECT = SQLDialect.define({
  keywords: SQL_KEYWORDS,
  types: 'integer real text blob numeric',
  builtin: Object.keys(SQL_FUNCTIONS).join(' '),
  operatorChars: '*+-%<>!=&|/~',
  identifierQuotes: '"`',
  specialVar: '@:?$',
  caseInsensitiveIdentifiers: true,
})

/** Highlighting, and completion of `records`, its fields, functions and keywords. */
export function sqlLanguage({ fields, name }: SheetContract): Extension {
  return sql({
    dialect: DIALECT,
    upperCaseKeywords: true,
    keywordCompletion: toWordCompletion,
    schema: {
      records: {
        self: { label: 'records', type: 'type', detail: name },
        children: fields.map(toFieldCompletion),
      },
    },
    defaultTable: 'records',
  })
}

function toFieldCompletion({ name, type, title, description, derived }: SheetField): Completion {
  const info = [title === name ? null : title, description, derived && `Derived by ${derived.derivation}`]
  return {
    label: name,
    apply: quoteName(name),
    type: 'property',
    detail: type,
    info: info.filter((each) => each !== null && each !== '').join('\n'),
    boost: 10,
  }
}

function toWordCompletion(label: string, kind: string): Completion {
  // The third kind of word of a dialect is what is built in.
  if (kind !== 'variable') return { label, type: 'keyword', boost: -10 }
  const name = label.toLowerCase()
  return { label: name, type: 'function', detail: `(${SQL_FUNCTIONS[name] ?? ''})`, apply: `${name}(` }
}
