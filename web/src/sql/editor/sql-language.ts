import type { Completion } from '@codemirror/autocomplete'
import { sql, SQLDialect } from '@codemirror/lang-sql'
import type { Extension } from '@codemirror/state'
import type { SheetContract, SheetField } from '../../api/contract.ts'
import type { SqlDialect } from '../../../../src/wire/schema/dialect.ts'
import { quoteName, SQL_FUNCTIONS, sqlKeywords } from './sql-words.ts'

/**
 * The dialects as the server accepts them: those of lang-sql highlight words such as `language` and `month` as
 * keywords, and complete statements that the server refuses.
 */
const DIALECTS: Readonly<Record<SqlDialect, SQLDialect>> = {
  sqlite: SQLDialect.define({
    keywords: sqlKeywords('sqlite'),
    types: 'integer real text blob numeric',
    builtin: Object.keys(SQL_FUNCTIONS.sqlite).join(' '),
    operatorChars: '*+-%<>!=&|/~',
    identifierQuotes: '"`',
    specialVar: '@:?$',
    caseInsensitiveIdentifiers: true,
  }),
  postgres: SQLDialect.define({
    keywords: sqlKeywords('postgres'),
    types: 'integer bigint numeric real double precision text boolean date timestamptz interval jsonb',
    builtin: Object.keys(SQL_FUNCTIONS.postgres).join(' '),
    operatorChars: '+-*/<>=~!@#%^&|`?',
    doubleDollarQuotedStrings: false,
    specialVar: '',
    caseInsensitiveIdentifiers: true,
  }),
}

/** Highlighting, and completion of `records`, its fields, functions and keywords. */
export function sqlLanguage({ dialect, fields, name }: SheetContract): Extension {
  return sql({
    dialect: DIALECTS[dialect],
    upperCaseKeywords: true,
    keywordCompletion: (label, kind) => toWordCompletion(label, kind, SQL_FUNCTIONS[dialect]),
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

function toWordCompletion(
  label: string,
  kind: string,
  functions: Readonly<Record<string, string>>,
): Completion {
  // Words of the third kind are built-in names.
  if (kind !== 'variable') return { label, type: 'keyword', boost: -10 }
  const name = label.toLowerCase()
  return { label: name, type: 'function', detail: `(${functions[name] ?? ''})`, apply: `${name}(` }
}
