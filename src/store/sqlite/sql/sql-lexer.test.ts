import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { scanSql, sqlTokens } from './sql-lexer.ts'

function kinds(text: string): string {
  return sqlTokens(text)
    .filter(({ kind }) => kind !== 'space')
    .map(({ kind, text: written }) => `${kind} ${written}`)
    .join(' | ')
}

const TOKENS: readonly (readonly [string, string])[] = [
  [
    `'a''b' "a""b" \`a\`\`b\` [a]`,
    `string 'a''b' | quoted-name "a""b" | quoted-name \`a\`\`b\` | quoted-name [a]`,
  ],
  [`'--' '/*' ';' "?"`, `string '--' | string '/*' | string ';' | quoted-name "?"`],
  ["x'00fF' X''", "blob x'00fF' | blob X''"],
  ["xx'00'", "word xx | string '00'"],
  ["x'0'", "illegal x'0'"],
  ['a--b\nc', 'word a | comment --b | word c'],
  ['a-- b', 'word a | comment -- b'],
  ['a/*b*/c', 'word a | comment /*b*/ | word c'],
  ['a/*/b*/c', 'word a | comment /*/b*/ | word c'],
  ['a/**/c', 'word a | comment /**/ | word c'],
  ['a/*b', 'word a | comment /*b'],
  ['a/*', 'word a | operator / | operator *'],
  [
    'a->b->>c - -1',
    'word a | operator -> | word b | operator ->> | word c | operator - | operator - | number 1',
  ],
  [
    '1 1.5 .5 1e9 1.e-9 0xFf 1_000 12ab',
    'number 1 | number 1.5 | number .5 | number 1e9 | number 1.e-9 | number 0xFf | number 1_000 | number 12ab',
  ],
  ['a.b.1', 'word a | operator . | word b | number .1'],
  ['1.b', 'number 1.b'],
  [
    '? ?12 :a @b #c $d',
    'placeholder ? | placeholder ?12 | placeholder :a | placeholder @b | placeholder #c | placeholder $d',
  ],
  [
    '$a::b(c d) ??',
    'placeholder $a::b | operator ( | word c | word d | operator ) | placeholder ? | placeholder ?',
  ],
  ['$a::b(c)', 'placeholder $a::b(c)'],
  ['a$b é_1', 'word a$b | word é_1'],
  [
    'a<>b<=c!=d==e||f',
    'word a | operator <> | word b | operator <= | word c | operator != | word d | operator == | word e | operator || | word f',
  ],
  ['\uFEFFselect', 'word select'],
  ["a 'b", "word a | unterminated 'b"],
  ['a "b', 'word a | unterminated "b'],
  ['a [b', 'word a | unterminated [b'],
  ['a \0 b', 'word a | illegal \0 b'],
  ['a ! b', 'word a | illegal ! b'],
  ['a \\ b', 'word a | illegal \\ b'],
]

for (const [text, expected] of TOKENS) {
  test(`the lexer splits ${JSON.stringify(text)} as SQLite does`, () => {
    assert.equal(kinds(text), expected)
    const tokens = sqlTokens(text)
    assert.equal(tokens.map((token) => token.text).join(''), text)
    assert.ok(tokens.every(({ start, text: written }) => text.startsWith(written, start)))
  })
}

test('the scan returns the first word, after white space and comments', () => {
  assert.equal(scanSql('/* x */ -- y\n \uFEFF seLect 1').first, 'SELECT')
  assert.equal(scanSql('-- nothing').first, '')
  assert.equal(scanSql('(SELECT 1)').first, '(')
})

test('the scan distinguishes a trailing semicolon from one with something after it', () => {
  assert.equal(scanSql("SELECT ';'").semicolon, 'none')
  assert.equal(scanSql('SELECT 1; -- done\n').semicolon, 'trailing')
  assert.equal(scanSql('SELECT 1; -- done\n').statement, 'SELECT 1')
  assert.equal(scanSql('SELECT 1;;').semicolon, 'inside')
  assert.equal(scanSql('SELECT 1; SELECT 2').semicolon, 'inside')
})

test('the scan counts placeholders outside quotes and comments only', () => {
  const scan = scanSql(`SELECT ?, '?', "?", [?], ? -- ?\n/* ? */, ?2, :a`)
  assert.equal(scan.plainPlaceholders, 2)
  assert.equal(scan.otherPlaceholder, '?2')
})

test('the scan detects a comment that would extend beyond the text', () => {
  for (const text of ['1 --', '1 -- x', '1 /*', '1 /* x', '1 /*/', '1 /* x *']) {
    assert.equal(scanSql(text).endsInComment, true, text)
  }
  for (const text of ['1', '1 -- x\n', '1 /* x */', '1 /**/', "'--'", "'/*'", '1 / 2', '1 * /* x */']) {
    assert.equal(scanSql(text).endsInComment, false, text)
  }
})

test('the scan collects names in every spelling that SQLite allows', () => {
  const { names } = scanSql('a."B""x", [C], `d`, \'E\', "$Data"')
  assert.deepEqual([...names], ['a', 'b"x', 'c', 'd', 'e', '$data'])
})

/** The same texts in every run. */
function* randomStatements(count: number): Generator<string> {
  const atoms = [
    '?', '1', "'?'", "'a''?'", '"?"', '[?]', '`?`', "x'3f'", '?', '-1', '->', '->>', '-', '--?\n', '/*?*/', '/*/?*/', '/**/',
    ' ', '\n', ',', '||', "''", "';'", '";"', '[;]', '(', ')', '*', '/', '1.5e3', '.5', '0x1F', ';', ';', '+', 'AS a', "'",
  ] // prettier-ignore
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let index = 0; index < count; index += 1) {
    const length = 1 + random(7)
    yield `SELECT ${Array.from({ length }, () => atoms[random(atoms.length)]).join('')}`
  }
}

/** Returns the number of parameters of a statement: one more is out of range. */
function countParameters(database: DatabaseSync, sql: string): number {
  for (let count = 0; ; count += 1) {
    try {
      database.prepare(sql).get(...Array.from({ length: count + 1 }, () => '{}'))
    } catch (error) {
      if ((error as Error).message === 'column index out of range') return count
      // Running it failed, so all were bound.
    }
  }
}

test('the scan agrees with SQLite on the end of the statement and the number of its placeholders', () => {
  const database = new DatabaseSync(':memory:')
  let compiled = 0
  for (const text of randomStatements(20_000)) {
    let source
    try {
      source = database.prepare(text).sourceSQL
    } catch {
      continue
    }
    compiled += 1
    const scan = scanSql(text)
    assert.ok(scan.illegal === null || scan.illegal.start >= source.length, text)
    assert.equal(source, scan.semicolon === 'none' ? text : `${scan.statement};`, text)
    if (scan.otherPlaceholder !== null) continue
    assert.equal(scanSql(source).plainPlaceholders, countParameters(database, source), text)
  }
  assert.ok(compiled > 500, `only ${compiled} compiled`)
  database.close()
})
