import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

/** Matches the first words of a docstring that is a clause, where CONTRIBUTING asks for a verb or a noun phrase. */
const CLAUSE = /\/\*\*[\s*]*(?:What|Whoever|Who|How|Why|When|Where|Of|As)\b[^\n]*/g

test('docstrings begin with a verb or a noun phrase', () => {
  const files = globSync(['{src,campaign}/**/*.ts', 'web/src/**/*.{ts,tsx}'], { cwd: ROOT })
  assert.ok(files.length > 1000, `${files.length} files`)
  const clauses = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(CLAUSE)].map(([text]) => `${file}: ${text}`),
  )
  assert.deepEqual(clauses, [])
})

test('a docstring that is a clause is found', () => {
  for (const code of ['/** What the run did. */', '/**\n * How cells fail. */', '/** As in {@link Page}. */'])
    assert.match(code, new RegExp(CLAUSE))
  for (const code of ['/** Whether it ran. */', '/** Asks again. */', '// What the run did.'])
    assert.doesNotMatch(code, new RegExp(CLAUSE))
})
