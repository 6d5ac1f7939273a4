import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryError } from '../../../errors/service-error.ts'
import { boundFilter } from './bound-filter.ts'
import { sqlTokens as postgresTokens } from '../../postgres/sql/sql-lexer.ts'
import type { SqlParam } from '../../sheet-store.ts'
import { sqlTokens as sqliteTokens } from '../../sqlite/sql/sql-lexer.ts'

for (const [name, tokens] of [
  ['SQLite', sqliteTokens],
  ['PostgreSQL', postgresTokens],
] as const) {
  const bound = (filter: string, ...params: readonly SqlParam[]): string =>
    boundFilter(tokens(filter), params)

  test(`${name}: values replace plain placeholders, as literals`, () => {
    assert.equal(bound('a=?AND b > ?', "O'Hara -- '", -1.5), "a= 'O''Hara -- ''' AND b >  (-1.5) ")
    assert.equal(bound('a = ? OR b IS ?', true, null), 'a =  TRUE  OR b IS  NULL ')
    assert.equal(bound('5-?', -1), '5- (-1) ', 'no comment begins')
    assert.equal(bound('a = \'?\' /* ? */ AND "?" = ?', 1), 'a = \'?\' /* ? */ AND "?" =  (1) ')
  })

  test(`${name}: the number of values equals that of placeholders`, () => {
    const refused = (message: RegExp, ...call: Parameters<typeof bound>): void => {
      assert.throws(
        () => bound(...call),
        (error) => error instanceof QueryError && message.test(error.message),
      )
    }
    refused(/^placeholders in the filter: 2, values in params: 1$/, 'a = ? AND b = ?', 1)
    refused(/^placeholders in the filter: 0, values in params: 1$/, "a = '?'", 1)
    refused(/U\+0000/, 'a = ?', 'x\0')
  })
}
