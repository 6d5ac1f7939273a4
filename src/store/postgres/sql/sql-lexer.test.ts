import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Client } from 'pg'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { seededRandom } from '../../suite/support/random.ts'
import { Database } from '../database/database.ts'
import { parseStoreUrl } from '../database/store-url.ts'
import { isSignificant, nameOf, sqlTokens } from './sql-lexer.ts'
import { ParseStatement } from './wire-query.ts'

function kinds(text: string): string {
  return sqlTokens(text)
    .filter(({ kind }) => kind !== 'space')
    .map(({ kind, text: written }) => `${kind} ${written}`)
    .join(' | ')
}

const TOKENS: readonly (readonly [string, string])[] = [
  [`'a''b' "a""b"`, `string 'a''b' | quoted-name "a""b"`],
  [`'--' '/*' ';' "?"`, `string '--' | string '/*' | string ';' | quoted-name "?"`],
  [`'a\\' b`, `string 'a\\' | word b`],
  [`E'a\\'b' c`, `string E'a\\'b' | word c`],
  [`e'\\\\' c`, `string e'\\\\' | word c`],
  [`E'a''b' c`, `string E'a''b' | word c`],
  [`E'a'\n'\\'' c`, `string E'a'\n'\\'' | word c`],
  [`E'a' -- x\n -- y\r'\\'' c`, `string E'a' -- x\n -- y\r'\\'' | word c`],
  [`E'a' '\\' c`, `string E'a' | string '\\' | word c`],
  [`xe'\\' c`, `word xe | string '\\' | word c`],
  [`b'1' x'ff' n'a'`, `word b | string '1' | word x | string 'ff' | word n | string 'a'`],
  [`u&'a'`, `illegal u&'a'`],
  [`U&"a"`, `illegal U&"a"`],
  [`u & 'a'`, `word u | operator & | string 'a'`],
  [`xu&'a'`, `word xu | operator & | string 'a'`],
  ['$$a$$', 'illegal $$a$$'],
  ['$a$b$a$', 'illegal $a$b$a$'],
  ['a$b$c', 'word a$b$c'],
  ['$1 ?1 ?', 'placeholder $1 | placeholder ?1 | placeholder ?'],
  ['a--b\nc', 'word a | comment --b | word c'],
  ['a--b\rc', 'word a | comment --b | word c'],
  ['a--b\u2028c', 'word a | comment --b\u2028c'],
  ['a/*b/*c*/d*/e', 'word a | comment /*b/*c*/d*/ | word e'],
  ['a/*/b*/c', 'word a | comment /*/b*/ | word c'],
  ['a/*/*/b', 'word a | unterminated /*/*/b'],
  ['a*/b', 'word a | operator * | operator / | word b'],
  ['a+/*b*/-c', 'word a | operator + | comment /*b*/ | operator - | word c'],
  ['a+--b', 'word a | operator + | comment --b'],
  ['1 1.5 .5 1e9 1.e-9 0xFf 0o7 0b1 1_000', 'number 1 | number 1.5 | number .5 | number 1e9 | number 1.e-9 | number 0xFf | number 0o7 | number 0b1 | number 1_000'], // prettier-ignore
  ['1..2', 'number 1 | operator . | number .2'],
  ['12ab', 'illegal 12ab'],
  ['1_', 'illegal 1_'],
  ['0xg', 'illegal 0xg'],
  ["1e'a'", "illegal 1e'a'"],
  ['a[1:2]::b', 'word a | operator [ | number 1 | operator : | number 2 | operator ] | operator : | operator : | word b'],
  ['é_1$ "É"', 'word é_1$ | quoted-name "É"'],
  ["a 'b", "word a | unterminated 'b"],
  ['a "b', 'word a | unterminated "b'],
  [`E'a\\'`, `unterminated E'a\\'`],
  ['a \0 b', 'word a | illegal \0 b'],
  ["'a\0'", "illegal 'a\0'"],
  ['a \\ {', 'word a | illegal \\ {'],
] // prettier-ignore

for (const [text, expected] of TOKENS) {
  test(`the lexer splits ${JSON.stringify(text)} as PostgreSQL does`, () => {
    assert.equal(kinds(text), expected)
    const tokens = sqlTokens(text)
    assert.equal(tokens.map((token) => token.text).join(''), text)
    assert.ok(tokens.every(({ start, text: written }) => text.startsWith(written, start)))
  })
}

test('names follow the rules of PostgreSQL: lower case unless quoted', () => {
  assert.deepEqual(sqlTokens('AbÉ "A""b" \'c\' 1').map(nameOf), ['abÉ', null, 'A"b', null, null, null, null])
})

test('a text of a megabyte is split in linear time', () => {
  for (const piece of ["'", '"', "E'\\", '/*', '--', '\n', "'a'\n", '(', '1e', 'a.', '?', "''"]) {
    sqlTokens(piece.repeat(1_000_000 / piece.length))
  }
})

suite('the lexer and PostgreSQL', () => {
  let database: Database
  let client: Client

  before(async () => {
    database = new Database(parseStoreUrl((await startPostgres()).freshUrl()))
    client = await database.dedicated()
  })

  after(async () => {
    await client.end()
    await database.close()
  })

  /** The message with which PostgreSQL refuses a text, or null. */
  async function refusal(text: string): Promise<string | null> {
    try {
      await client.query(new ParseStatement(text, [])).done
      return null
    } catch (error) {
      return (error as Error).message
    }
  }

  test('they agree on the ends of quotes and comments in random texts, and on the number of statements', async () => {
    const random = seededRandom(7)
    const tally = { accepted: 0, unterminated: 0, several: 0 }
    for (let number = 0; number < 8000; number += 1) {
      const text = `SELECT ${Array.from({ length: 1 + random.below(8) }, () => random.pick(ATOMS)).join('')}`
      const tokens = sqlTokens(text)
      const significant = tokens.filter(isSignificant)
      if (significant.some(({ kind }) => kind === 'illegal')) continue
      if (significant.some(({ kind }) => kind === 'unterminated')) {
        tally.unterminated += 1
        assert.notEqual(await refusal(text), null, JSON.stringify(text))
        continue
      }
      const said = await refusal(text)
      assert.doesNotMatch(said ?? '', /unterminated/, JSON.stringify(text))
      const semicolon = significant.findIndex(({ kind }) => kind === 'semicolon')
      const several = semicolon >= 0 && significant.slice(semicolon).some(({ kind }) => kind !== 'semicolon')
      if (several) {
        tally.several += 1
        assert.notEqual(said, null, JSON.stringify(text))
      }
      if (said !== null) continue
      tally.accepted += 1
      // Text after it is a second statement: no quote and no comment of the first is still open.
      assert.notEqual(await refusal(`${text}\n; SELECT 2`), null, JSON.stringify(text))
      // White space and comments are exactly where the lexer finds them.
      const plain = tokens.map((token) => (isSignificant(token) ? token.text : ' ')).join('')
      assert.equal(await refusal(plain), null, JSON.stringify([text, plain]))
    }
    assert.ok(tally.accepted > 500 && tally.unterminated > 500 && tally.several > 100, JSON.stringify(tally))
  })
})

const ATOMS = [
  '1', "'", "'", "''", '"', 'E', 'e', "E'", '\\', "\\'", 'a', ' ', ' ', '\n', '\r', '\t', '--', '/*', '*/', ';', '(', ')', '+', '-', '/',
  '*', ',', "'x'", '"y"', '1.5', '.', 'U', 'u&', 'b', 'x', 'n', '||', '<', '@', '_', '$', '::text', "E'\\''", "'\\'", '/**/', '\f', '\v',
  " '1'", ' AS z', ' ', ',1', '+1', '--\n', '/*/**/*/', 'é',
] // prettier-ignore
